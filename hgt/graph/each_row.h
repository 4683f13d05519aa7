// The features of many nodes, a row at a time for the caller and many at a time for the disk.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "hgt/graph/hetero_graph.h"

namespace hgt {

constexpr size_t kRowsReadAtOnce = 1024;

// Calls visit(std::span<const float> row) with the features of each node, in this order.
template <typename Visit>
void for_each_row(const HeteroGraph& graph, NodeType type, std::span<const NodeId> nodes,
                  const Visit& visit) {
  const uint64_t width = graph.features(type).width;
  std::vector<float> rows(std::min(kRowsReadAtOnce, nodes.size()) * width);
  while (!nodes.empty()) {
    const size_t count = std::min(kRowsReadAtOnce, nodes.size());
    const auto some = std::span<float>(rows).first(count * width);
    graph.copy_features(type, nodes.first(count), some);
    for (size_t i = 0; i < count; ++i) {
      visit(std::span<const float>(some.subspan(i * width, width)));
    }
    nodes = nodes.subspan(count);
  }
}

// The same with all nodes of the type.
template <typename Visit>
void for_every_row(const HeteroGraph& graph, NodeType type, const Visit& visit) {
  const uint64_t nodes = graph.num_nodes(type);
  std::vector<NodeId> some;
  for (uint64_t first = 0; first < nodes; first += some.size()) {
    some.resize(std::min<uint64_t>(kRowsReadAtOnce, nodes - first));
    std::iota(some.begin(), some.end(), static_cast<NodeId>(first));
    for_each_row(graph, type, some, visit);
  }
}

}  // namespace hgt
