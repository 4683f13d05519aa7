// Batches of a task's examples, made ready for the model by worker threads: the question, its
// sub-graph, the layers' graphs with features, and the attention plans.
#pragma once

#include <cstdint>

#include "hgt/model/encoder.h"
#include "hgt/model/graph_batch.h"
#include "hgt/sampling/batch_stream.h"
#include "hgt/task/batch_plan.h"
#include "hgt/task/task.h"

namespace hgt {

struct ReadyBatch {
  Question question = {};
  Subgraph subgraph = {};
  GraphBatch graph = {};

  void release() { graph = {}; }
};

// The graph, the options and the encoder (its options, not its weights) that batches are made for.
struct BatchMaking {
  HeteroGraph graph;
  SamplingOptions sampling = {};
  Encoder encoder{nullptr};
  uint32_t layers = 0;  // of the encoder, that batches are made for; 0: all
};

class ExampleStream : public BatchStream<ReadyBatch> {
 public:
  // Without workers, as many batches are made at once as threads compute, at most range.queue.
  ExampleStream(const BatchMaking& making, Planner planner, const StreamRange& range);
};

}  // namespace hgt
