// HGSampling in plain loops: Algorithms 1 and 2 of the paper, slow and to be read beside it; and
// neighbor sampling, hop by hop. The oracles of hgt/sampling: the same instances with the same
// probabilities, from other draws.
#pragma once

#include <cstdint>
#include <set>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/sampling_options.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

struct SampledInstance {
  NodeType type{};
  NodeId node = 0;
  Time time = kNoTime;
  uint32_t hop = 0;  // the step that drew it; 0: a seed
  friend auto operator<=>(const SampledInstance&, const SampledInstance&) = default;
};

// The sampled instances, seeds included; the edges among them follow from the graph (see
// verify_subgraph). Strategy and fan-outs are not looked at.
// Requires seeds that are nodes and not later than the bound; with TimeBound::seed all of one time.
std::set<SampledInstance> hgsampling_reference(const HeteroGraph& graph, const Request& request,
                                               const SamplingOptions& options,
                                               uint64_t random_seed);

// Likewise for Strategy::neighbors: fan-outs and `recent`.
std::set<SampledInstance> neighbors_reference(const HeteroGraph& graph, const Request& request,
                                              const SamplingOptions& options, uint64_t random_seed);

}  // namespace hgt
