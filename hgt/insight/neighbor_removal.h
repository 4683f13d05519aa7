// A sub-graph in which a row has lost some of its neighbors.
#pragma once

#include <cstdint>
#include <span>

#include "hgt/sampling/subgraph.h"

namespace hgt {

// Without the edges between `row` and `others`, in both directions. `self` edges stay, and so do
// all rows.
Subgraph without_edges_between(const Subgraph& subgraph, uint32_t row,
                               std::span<const uint32_t> others);

}  // namespace hgt
