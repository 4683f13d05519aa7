#include "hgt/insight/neighbor_removal.h"

#include <algorithm>

namespace hgt {

Subgraph without_edges_between(const Subgraph& subgraph, uint32_t row,
                               std::span<const uint32_t> others) {
  const auto is_other = [&](uint32_t which) {
    return std::find(others.begin(), others.end(), which) != others.end();
  };
  const auto goes = [&](uint32_t target, uint64_t edge) {
    const uint32_t source = subgraph.sources[edge];
    if (subgraph.positions[edge] == kSelfEdge) return false;
    return (target == row && is_other(source)) || (source == row && is_other(target));
  };
  Subgraph result = subgraph;
  uint64_t kept = 0;
  for (uint32_t target = 0; target < subgraph.num_rows(); ++target) {
    for (const uint64_t edge : subgraph.incoming(target)) {
      if (goes(target, edge)) continue;
      result.sources[kept] = subgraph.sources[edge];
      result.relations[kept] = subgraph.relations[edge];
      result.gaps[kept] = subgraph.gaps[edge];
      result.positions[kept] = subgraph.positions[edge];
      ++kept;
    }
    result.edge_offsets[target + size_t{1}] = kept;
  }
  result.sources.resize(kept);
  result.relations.resize(kept);
  result.gaps.resize(kept);
  result.positions.resize(kept);
  return result;
}

}  // namespace hgt
