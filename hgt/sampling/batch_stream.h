// Batches made by worker threads ahead of their use: the question, its sub-graph, and what a
// final step derives from them. Everything that trains, scores or shows a model gets its sub-graphs
// here.
//
//   struct PaperBatch {
//     Request question;
//     Subgraph subgraph;
//     std::vector<float> features;
//   };
//   BatchStream<PaperBatch> stream(
//       {.graph = graph, .sampling = {.width = 128}, .range = {.count = 100, .workers = 2}},
//       [&](uint64_t i) {
//         return PlannedBatch<Request>{.question = {.seeds = seeds_of(i)}, .random_seed = i};
//       },
//       [&](PaperBatch& batch) { ... });  // reads features, say
//   for (PaperBatch batch; stream.next(batch);) use(batch);
//
// Batches leave in the order of their numbers. What is in batch i is a function of the graph, the
// sampling options and the plan of i: the number of workers, the length of the queue and where the
// stream began make no difference.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/ordered_stream.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/sampling_options.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

// What a batch asks for, and what its sub-graph is drawn with.
// Question: a Request, or a larger type with one as its member `request`.
template <typename Question>
struct PlannedBatch {
  Question question = {};
  uint64_t random_seed = 0;
};

inline const Request& request_of(const Request& request) { return request; }
template <typename Question>
const Request& request_of(const Question& question) {
  return question.request;
}

struct BatchStreamOptions {
  HeteroGraph graph;
  SamplingOptions sampling = {};
  StreamRange range = {};
};

// Batch: a type with the members `question` (as in PlannedBatch) and `subgraph`. Its storage is
// reused for later batches. If it has a member function release(), that is called before the next
// sub-graph is drawn, to free what need not be kept meanwhile.
template <typename Batch>
class BatchStream {
 public:
  // Both are called by several threads at once. A planner must depend on i only.
  using Planner = std::function<PlannedBatch<decltype(Batch::question)>(uint64_t i)>;
  // Right after the sub-graph was drawn, on the same thread.
  using Finish = std::function<void(Batch& batch)>;

  // Throws Error: sampling options that make no sense for the graph.
  BatchStream(const BatchStreamOptions& options, Planner planner, Finish finish = {})
      : planner_(std::move(planner)),
        finish_(std::move(finish)),
        samplers_(samplers_for(options)),
        stream_(options.range, [this](unsigned worker, uint64_t i, Batch& batch) {
          make(samplers_[worker], i, batch);
        }) {}

  // The next batch; false: there is none. What `batch` held before is reused for later ones. Throws
  // what making this batch threw; the stream then has ended.
  bool next(Batch& batch) { return stream_.next(batch); }

  double seconds_waited() const { return stream_.seconds_waited(); }  // that next() spent waiting

 private:
  static std::vector<Sampler> samplers_for(const BatchStreamOptions& options) {
    std::vector<Sampler> samplers;
    for (unsigned i = 0; i < options.range.makers(); ++i) {
      samplers.emplace_back(options.graph, options.sampling);
    }
    return samplers;
  }

  void make(Sampler& sampler, uint64_t i, Batch& batch) const {
    auto planned = planner_(i);
    if constexpr (requires { batch.release(); }) batch.release();
    batch.question = std::move(planned.question);
    sampler.sample(request_of(batch.question), planned.random_seed, batch.subgraph);
    if (finish_) finish_(batch);
  }

  const Planner planner_;
  const Finish finish_;
  std::vector<Sampler> samplers_;  // one per worker
  OrderedStream<Batch> stream_;    // last: its threads use the others
};

}  // namespace hgt
