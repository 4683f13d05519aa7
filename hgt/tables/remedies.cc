#include "hgt/tables/remedies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hgt/graph/time_pattern.h"
#include "hgt/tables/row_source.h"

namespace hgt {

namespace {

constexpr size_t kLongestNull = 12;  // "N/A", "unknown", "\N": longer ones are text

// Without a digit: a word that stands for a missing number or time.
bool stands_for_nothing(std::string_view cell) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return cell.size() <= kLongestNull && std::none_of(cell.begin(), cell.end(), is_digit) &&
         cell.find('\'') == std::string_view::npos;
}

}  // namespace

std::string delimiter_remedy(std::string_view text, size_t cells) {
  for (const char delimiter : {';', '\t', ',', '|'}) {
    const auto count = static_cast<size_t>(std::count(text.begin(), text.end(), delimiter));
    const bool fits = cells == 0 ? count > 0 : count + 1 == cells && count > 0;
    if (!fits) continue;
    return fmt::format("did you mean delimiter = \"{}\"?",
                       delimiter == '\t' ? "\\t" : std::string(1, delimiter));
  }
  return "";
}

std::string number_remedy(std::string_view cell, std::string_view key) {
  if (cell.empty()) return fmt::format("{} keeps rows with an empty cell", key);
  if (stands_for_nothing(cell)) {
    return fmt::format("null = ['{}'] makes such a cell an empty one, and {} keeps the row", cell,
                       key);
  }
  return "write numbers with a decimal point and nothing else in the cell";
}

std::string time_remedy(std::string_view cell, const TimeColumn& spec, TimeUnit unit) {
  if (cell.empty()) return "missing_time = \"keep\" keeps the row, without a time";
  const auto likely = likely_time_formats(cell, unit);
  if (!likely.empty()) {
    return fmt::format("time_format = \"{}\" reads it", fmt::join(likely, "\" or \""));
  }
  if (stands_for_nothing(cell)) {
    return fmt::format(
        "null = ['{}'] makes such a cell an empty one, and missing_time = \"keep\" keeps the row",
        cell);
  }
  return fmt::format("column {} needs another time_format: {}", spec.column, time_formats_text());
}

std::string unknown_remedy(std::string_view id, const std::string& type, const std::string& known,
                           bool edge) {
  if (id.empty() && edge) return "empty_ids = \"ignore\" leaves out rows without an id";
  if (known.empty()) return fmt::format("there is no node of type {} at all", type);
  return fmt::format(
      "ids of type {} look like '{}'; where the others are meant to be left out, write unknown_ids "
      "= \"ignore\"",
      type, known);
}

}  // namespace hgt
