#include "hgt/features/vocabulary.h"

#include <algorithm>
#include <cmath>

#include "hgt/graph/words.h"

namespace hgt {

namespace {
constexpr uint64_t kTitlesBetweenReports = 1U << 14U;
}

bool is_later(const HeteroGraph& graph, NodeType type, NodeId node, Time until) {
  return graph.time(type, node) > until;  // kNoTime is the smallest
}

Vocabulary::Vocabulary(const HeteroGraph& graph, NodeType type, Time until,
                       const ProgressSink& progress) {
  const uint64_t nodes = graph.num_nodes(type);
  std::vector<uint32_t> seen;  // words of one title
  for (uint64_t n = 0; n < nodes; ++n) {
    const auto node = static_cast<NodeId>(n);
    seen.clear();
    for_each_word(graph.name(type, node),
                  [&](std::string_view word) { seen.push_back(number_of(word)); });
    if (n % kTitlesBetweenReports == 0) {
      progress({.stage = "counting words",
                .unit = "titles",
                .count = n,
                .fraction = static_cast<double>(n) / static_cast<double>(nodes)});
    }
    if (seen.empty() || is_later(graph, type, node, until)) continue;
    ++titles_;
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const uint32_t number : seen) ++documents_[number];
  }
  progress({.stage = "counting words",
            .unit = "titles",
            .count = nodes,
            .fraction = 1,
            .finished = true});
}

uint32_t Vocabulary::number_of(std::string_view word) {
  const auto found = numbers_.find(word);
  if (found != numbers_.end()) return found->second;
  const auto added = numbers_.emplace(word, size()).first;
  words_.push_back(&added->first);
  documents_.push_back(0);
  return added->second;
}

std::optional<uint32_t> Vocabulary::find(std::string_view word) const {
  const auto found = numbers_.find(word);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

float Vocabulary::idf(uint32_t number) const {
  return static_cast<float>(
      std::log((1.0 + static_cast<double>(titles_)) / (1.0 + documents_[number])) + 1.0);
}

}  // namespace hgt
