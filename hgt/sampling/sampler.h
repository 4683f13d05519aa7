// HGSampling with inductive timestamps (paper, section 4), and two plainer strategies.
//
//   const Subgraph subgraph = sample(graph, std::vector<Seed>{{paper, 17}, {venue, 3, 2010}},
//                                    {.width = 128, .depth = 6, .split_end = 2014});
//
// Seeds may be of any types and times, and the same one may be asked for twice. An event node
// keeps its own time. Any other node inherits the time of the instance through which it was met,
// so it may be in a sub-graph at several times, each time with the same neighbors.
//
// The result holds every edge of the graph among its instances, and `self`. It depends on the
// arguments only: not on threads, earlier calls or the clock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/sampling_options.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

// What HGSampling drew from: the budget of a type right before each draw.
struct SamplingTrace {
  struct Candidate {
    NodeId node = 0;
    Time time = kNoTime;
    double weight = 0;       // accumulated normalized degree
    double probability = 0;  // of being the first one drawn: Algorithm 1, line 9
    bool drawn = false;
  };
  struct Draw {
    uint32_t component = 0;
    uint32_t step = 0;  // from 1
    NodeType type{};
    std::vector<Candidate> candidates = {};
  };
  std::vector<Draw> draws;
};

// Samples one batch after the other and keeps its memory between them. One thread at a time; make
// one sampler per thread.
class Sampler {
 public:
  // Throws Error: options that make no sense for the graph.
  Sampler(HeteroGraph graph, SamplingOptions options);
  // As if there were that many bytes of memory: of a graph that does not fit, pages are asked for
  // before they are needed (page_requests.h).
  Sampler(HeteroGraph graph, SamplingOptions options, uint64_t memory);
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;
  ~Sampler();

  // `random_seed` takes the place of options.seed; request.hidden comes on top of options.hidden.
  // The storage of `result` is reused. `trace`, if given, receives the budgets.
  // Throws Error: a seed that is not a node, contradicts its event node's time or is later than the
  // bound; a damaged graph.
  void sample(const Request& request, uint64_t random_seed, Subgraph& result,
              SamplingTrace* trace = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Subgraph sample(const HeteroGraph& graph, std::span<const Seed> seeds,
                const SamplingOptions& options = {}, SamplingTrace* trace = nullptr);

}  // namespace hgt
