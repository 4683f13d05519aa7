#include "cli/nearest_word.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hgt::cli {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i: from the first i letters of a to the first j of b.
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

std::string nearest_word(std::string_view text, const std::vector<std::string>& words) {
  std::string nearest;
  size_t least = std::max<size_t>(1, text.size() / 3) + 1;  // farther is another word
  for (const std::string& word : words) {
    const size_t distance = edit_distance(text, word);
    if (distance < least) std::tie(least, nearest) = std::pair(distance, word);
  }
  return nearest;
}

}  // namespace hgt::cli
