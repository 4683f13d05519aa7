#include "hgt/features/word_mean.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hgt/features/row_loop.h"
#include "hgt/graph/text_features.h"
#include "hgt/graph/words.h"

namespace hgt {

WordMean::WordMean(HeteroGraph graph, NodeType type, Vocabulary vocabulary, WordTable table,
                   Time until)
    : graph_(std::move(graph)),
      type_(type),
      vocabulary_(std::move(vocabulary)),
      table_(std::move(table)),
      weights_(vocabulary_.size(), 0.0F),
      common_(table_.width, 0.0F) {
  for (uint32_t word = 0; word < vocabulary_.size(); ++word) {
    if (!table_.known[word]) continue;
    weights_[word] = vocabulary_.idf(word);
    float* vector = table_.vectors.data() + word * width();
    for (size_t j = 0; j < width(); ++j) vector[j] *= weights_[word];
  }
  measure(until);
}

void WordMean::measure(Time until) {
  const uint64_t nodes = graph_.num_nodes(type_);
  // Every `stride`-th title of the training period: later titles must not decide which.
  const uint64_t stride = vocabulary_.titles() / kTitlesMeasured + 1;
  uint64_t met = 0;
  std::vector<float> row(width());
  std::vector<double> sums(width(), 0.0);
  double squares = 0;
  double titles = 0;
  for (uint64_t n = 0; n < nodes; ++n) {
    const auto node = static_cast<NodeId>(n);
    if (is_later(graph_, type_, node, until) || met++ % stride != 0) continue;
    if (!read_title(graph_.name(type_, node), row)) continue;
    ++titles;
    for (size_t j = 0; j < row.size(); ++j) {
      sums[j] += row[j];
      squares += static_cast<double>(row[j]) * row[j];
    }
  }
  if (titles == 0) return;
  double variance = squares / titles;
  for (size_t j = 0; j < sums.size(); ++j) {
    const double mean = sums[j] / titles;
    common_[j] = static_cast<float>(mean);
    variance -= mean * mean;
  }
  // All titles alike: nothing to scale.
  const bool differ = variance > 1e-9 * squares / titles;
  if (differ) scale_ = static_cast<float>(std::sqrt(static_cast<double>(width()) / variance));
}

void WordMean::read(NodeId first, std::span<float> rows, std::vector<bool>& missing) {
  make_rows(missing, [&](size_t i) {
    const auto row = rows.subspan(i * width(), width());
    if (!read_title(graph_.name(type_, first + static_cast<NodeId>(i)), row)) return false;
    for (size_t j = 0; j < row.size(); ++j) row[j] = (row[j] - common_[j]) * scale_;
    return true;
  });
}

bool WordMean::read_title(std::string_view title, std::span<float> row) const {
  std::fill(row.begin(), row.end(), 0.0F);
  float weights = 0;
  for_each_word(title, [&](std::string_view word) {
    const auto number = vocabulary_.find(word);
    if (!number || weights_[*number] == 0) return;
    const float* vector = table_.vectors.data() + *number * width();
    for (size_t j = 0; j < row.size(); ++j) row[j] += vector[j];
    weights += weights_[*number];
  });
  for (float& value : row) value /= std::max(weights, 1.0F);  // a weight is at least 1
  return weights > 0;
}

HashedWords::HashedWords(HeteroGraph graph, NodeType type, uint64_t width)
    : graph_(std::move(graph)), type_(type), width_(width) {}

void HashedWords::read(NodeId first, std::span<float> rows, std::vector<bool>& missing) {
  make_rows(missing, [&](size_t i) {
    const auto row = rows.subspan(i * width_, width_);
    hashed_words(graph_.name(type_, first + static_cast<NodeId>(i)), row);
    return std::any_of(row.begin(), row.end(), [](float value) { return value != 0; });
  });
}

}  // namespace hgt
