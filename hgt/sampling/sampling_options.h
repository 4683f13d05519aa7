// What to sample, and what a sub-graph must not contain.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hgt/enum_words.h"
#include "hgt/graph/types.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

enum class Strategy {
  hgsampling,  // the paper's Algorithms 1 and 2: a balanced, dense sample
  neighbors,   // every instance draws a fan-out of each of its lists, hop by hop
  full,        // all neighbors of all instances, `depth` hops
};
constexpr auto words_of(Strategy) {
  return enum_words<Strategy>("sampling strategy", {{Strategy::hgsampling, "hgsampling"},
                                                    {Strategy::neighbors, "neighbors"},
                                                    {Strategy::full, "full"}});
}

// Nothing later than the bound enters a sub-graph, neither a node nor an edge.
enum class TimeBound {
  automatic,  // Task::time_bound() settles it; a sampler without a task takes it for split
  split,      // SamplingOptions::split_end, the end of the split that is being read
  seed,       // each seed's own time; seeds of different times share no instance (seed_width)
  none,
};
constexpr auto words_of(TimeBound) {
  return enum_words<TimeBound>("time bound", {{TimeBound::automatic, "automatic"},
                                              {TimeBound::split, "split"},
                                              {TimeBound::seed, "seed"},
                                              {TimeBound::none, "none"}});
}
constexpr bool ends_with_split(TimeBound bound) {
  return bound == TimeBound::split || bound == TimeBound::automatic;
}

// What the task predicts, and so must not be seen. Always in both directions.
struct HiddenEdges {
  std::vector<Relation> everywhere = {};  // all edges of these relations
  std::vector<Relation> at_seeds = {};    // their edges that end or begin at the node of a seed
  std::vector<HiddenEdge> edges = {};
};

struct SamplingOptions {
  Strategy strategy = Strategy::hgsampling;
  uint32_t width = 128;  // hgsampling: instances drawn per type and step
  // hgsampling with TimeBound::seed: the seeds of a time draw their share of the width, by their
  // number, but at least this many per type and step, or the width where that is less.
  uint32_t seed_width = 16;
  uint32_t depth = 6;  // hgsampling: steps; full: hops. Not the number of layers of a model
  // hgsampling: a list longer than this contributes neighbor_cap of its entries, drawn uniformly,
  // with the weight 1 / neighbor_cap each: in expectation the budget is the same as with all of
  // them (its square, which draws go by, is larger). 0: all of them.
  uint32_t neighbor_cap = 50;
  // neighbors: one number per hop, entries drawn of each list; 0: all.
  std::vector<uint32_t> fanout = {};
  bool recent = false;  // neighbors: the latest entries of each list instead of any
  // Instances of a node without a time of its own are read only by those of the same time, instead
  // of by all neighbors: a paper of 2010 reads its author of 2010, not the same author of 2005.
  bool same_time = false;
  TimeBound time_bound = TimeBound::automatic;
  Time split_end = std::numeric_limits<Time>::max();
  HiddenEdges hidden = {};
  uint64_t seed = 0;  // of the random draws
};

// What one batch asks for: the seeds, and edges to be hidden for them alone.
struct Request {
  std::vector<Seed> seeds = {};
  std::vector<HiddenEdge> hidden = {};
};

}  // namespace hgt
