// Titles as means of the vectors of their words, weighted by tf-idf.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hgt/features/feature_source.h"
#include "hgt/features/vocabulary.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {

// A vector for each word of a vocabulary; a word may have none.
struct WordTable {
  uint64_t width = 0;
  std::vector<float> vectors = {};  // [words, width]
  std::vector<bool> known = {};     // [words]
};

// The vector of a title: sum of idf(w) v(w) over its words, each as often as it occurs, divided by
// the sum of the weights; words without a vector do not count. Missing: no word has one.
// Such means differ little from one another: what all have in common is taken off, the mean over
// the titles of the training period, and what remains is scaled to a mean square of 1 over them
// (of many titles, kTitlesMeasured evenly spread ones are measured).
class WordMean : public FeatureSource {
 public:
  static constexpr uint64_t kTitlesMeasured = uint64_t{1} << 17U;

  WordMean(HeteroGraph graph, NodeType type, Vocabulary vocabulary, WordTable table, Time until);

  uint64_t width() const override { return table_.width; }
  void read(NodeId first, std::span<float> rows, std::vector<bool>& missing) override;

 private:
  bool read_title(std::string_view title, std::span<float> row) const;
  void measure(Time until);

  HeteroGraph graph_;
  NodeType type_;
  Vocabulary vocabulary_;
  WordTable table_;             // each vector times the weight of its word
  std::vector<float> weights_;  // [words] idf; 0: the word has no vector
  std::vector<float> common_;   // [width]
  float scale_ = 1;
};

// The hashing trick: hgt/graph/text_features.h.
class HashedWords : public FeatureSource {
 public:
  HashedWords(HeteroGraph graph, NodeType type, uint64_t width);

  uint64_t width() const override { return width_; }
  void read(NodeId first, std::span<float> rows, std::vector<bool>& missing) override;

 private:
  HeteroGraph graph_;
  NodeType type_;
  uint64_t width_;
};

}  // namespace hgt
