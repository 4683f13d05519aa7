// The words of the titles of a type, and in how many titles of the training period each occurs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/progress.h"

namespace hgt {

class Vocabulary {
 public:
  // All names of the type; those of nodes later than `until` add words but count in no frequency.
  Vocabulary(const HeteroGraph& graph, NodeType type, Time until, const ProgressSink& progress);

  uint32_t size() const { return static_cast<uint32_t>(words_.size()); }
  const std::string& word(uint32_t number) const { return *words_[number]; }
  std::optional<uint32_t> find(std::string_view word) const;
  uint64_t titles() const { return titles_; }  // of the training period, with a word at least

  // Smoothed inverse document frequency, ln((1 + titles) / (1 + titles with the word)) + 1: at
  // least 1, and defined for words that only later titles have.
  float idf(uint32_t number) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
  };

  uint32_t number_of(std::string_view word);  // a new one gets the next number

  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> words_;  // keys of numbers_
  std::vector<uint32_t> documents_;        // titles of the training period that have the word
  uint64_t titles_ = 0;
};

// Neither the node nor anything without a time is later.
bool is_later(const HeteroGraph& graph, NodeType type, NodeId node, Time until);

}  // namespace hgt
