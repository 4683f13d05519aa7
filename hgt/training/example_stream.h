// Batches of a task's examples, made ready for the model by worker threads: the question, its
// sub-graph, the layers' graphs with features, and the attention plans.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hgt/model/encoder.h"
#include "hgt/model/graph_batch.h"
#include "hgt/sampling/ordered_stream.h"
#include "hgt/sampling/sampler.h"
#include "hgt/task/task.h"

namespace hgt {

struct ReadyBatch {
  Question question = {};
  Subgraph subgraph = {};
  GraphBatch graph = {};
};

// What batch i is about, and what its sub-graph is drawn with.
struct BatchPlan {
  Question question = {};
  uint64_t random_seed = 0;
};
// Called by several threads at once; must depend on i only.
using QuestionPlanner = std::function<BatchPlan(uint64_t i)>;

// The graph, the options and the encoder (its options, not its weights) that batches are made for.
struct BatchMaking {
  HeteroGraph graph;
  SamplingOptions sampling = {};
  Encoder encoder{nullptr};
  uint32_t layers = 0;  // of the encoder, that batches are made for; 0: all
};

class ExampleStream {
 public:
  // Without workers, as many batches are made at once as threads compute, at most range.queue.
  ExampleStream(const BatchMaking& making, QuestionPlanner planner, StreamRange range);

  bool next(ReadyBatch& batch) { return stream_->next(batch); }
  double seconds_waited() const { return stream_->seconds_waited(); }

 private:
  std::vector<Sampler> samplers_;  // one per worker
  std::unique_ptr<OrderedStream<ReadyBatch>> stream_;
};

}  // namespace hgt
