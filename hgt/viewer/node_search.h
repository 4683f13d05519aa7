// Finds nodes by what a person types: an id, or a part of a name.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "hgt/graph/hetero_graph.h"

namespace hgt {

struct FoundNode {
  NodeType type{};
  NodeId node = 0;
  bool operator==(const FoundNode&) const = default;
};

struct FoundNodes {
  std::vector<FoundNode> nodes;
  bool stopped_early = false;  // the deadline came first: there may be more, and better ones
};

// Reads every name of the graph for each search, tens of millions in a second; nothing is kept in
// memory. Safe to use from any number of threads.
class NodeSearch {
 public:
  explicit NodeSearch(HeteroGraph graph) : graph_(std::move(graph)) {}

  // At most `limit` nodes, of one type or (no value) of all, the best first:
  //   1. the text is the node's id, or its whole name
  //   2. the name begins with the text
  //   3. a word of the name does (words.h)
  //   4. the name contains it
  // and of equals, those with lower numbers, then of earlier types. Without text: the first nodes.
  // Upper and lower case are the same in names (Unicode case folding) but not in ids.
  FoundNodes find(std::optional<NodeType> type, std::string_view text, size_t limit,
                  std::chrono::steady_clock::time_point deadline) const;

 private:
  HeteroGraph graph_;
};

}  // namespace hgt
