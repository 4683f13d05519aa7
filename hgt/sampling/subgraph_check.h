// verify_subgraph: is a sub-graph what sample() promises? Slow and obvious, on purpose: it knows
// nothing of how sub-graphs are made. For tests, benchmarks and `hgt sample --verify`.
//
//  1. Rows are grouped by type; seeds come first, in order, each where seed_rows says; nothing
//     occurs twice. There is one component, or one for each time of a seed when that is the bound.
//  2. Event nodes have their own time. Every instance that is not a seed was reached from an
//     earlier one by a visible edge, and a node without a time of its own has that one's time.
//  3. No type has more than `width` instances of one step, nor has a seed time more than its share
//     or `seed_width`; no hop is beyond the depth. With Strategy::full no neighbor of an instance
//     that was followed is missing or of a later hop. With `recent` the latest entries of a list
//     are there, and no others came in through it.
//  4. Nothing is later than the bound: no node, no edge.
//  5. The edges are all those of the graph among the instances of a component, each once, without
//     the hidden ones, at their right positions, in order, with their gaps; and one `self` each.
//     With `same_time` those from nodes without a time of their own only where times agree.
#pragma once

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/sampling_options.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

// Throws Error: the first promise that does not hold, with the row or edge.
void verify_subgraph(const HeteroGraph& graph, const Request& request,
                     const SamplingOptions& options, const Subgraph& subgraph);

}  // namespace hgt
