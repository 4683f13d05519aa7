// For tests of the sampler: the instances of a sub-graph as a set, to be compared with others.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "hgt/sampling/subgraph.h"
#include "reference/hgsampling_reference.h"

namespace hgt {

inline NodeType type_of_row(const Subgraph& subgraph, uint32_t row) {
  uint16_t type = 0;
  while (row >= subgraph.type_offsets[type + size_t{1}]) ++type;
  return NodeType(type);
}

inline SampledInstance sampled_instance(const Subgraph& subgraph, uint32_t row) {
  return {.type = type_of_row(subgraph, row),
          .node = subgraph.nodes[row],
          .time = subgraph.times[row],
          .hop = subgraph.hops[row]};
}

inline std::set<SampledInstance> sampled_instances(const Subgraph& subgraph) {
  std::set<SampledInstance> instances;
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    instances.insert(sampled_instance(subgraph, row));
  }
  return instances;
}

// The rows of a node, at whatever times.
inline std::vector<uint32_t> rows_of_node(const Subgraph& subgraph, NodeType type, NodeId node) {
  std::vector<uint32_t> rows;
  for (const uint32_t row : subgraph.rows(type)) {
    if (subgraph.nodes[row] == node) rows.push_back(row);
  }
  return rows;
}

}  // namespace hgt
