#include "hgt/training/example_stream.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

namespace hgt {

ExampleStream::ExampleStream(const BatchMaking& making, QuestionPlanner planner,
                             StreamRange range) {
  if (range.workers == 0) {
    range.together = std::min(static_cast<unsigned>(at::get_num_threads()), range.queue);
  }
  const uint32_t layers =
      making.layers > 0 ? making.layers : static_cast<uint32_t>(making.encoder->layers().size());
  for (unsigned i = 0; i < range.makers(); ++i) {
    samplers_.emplace_back(making.graph, making.sampling);
  }
  stream_ = std::make_unique<OrderedStream<ReadyBatch>>(
      range, [this, layers, graph = making.graph, encoder = making.encoder,
              plan = std::move(planner)](unsigned worker, uint64_t i, ReadyBatch& batch) {
        BatchPlan planned = plan(i);
        batch.graph = {};  // what is replaced need not be there beside what replaces it
        batch.question = std::move(planned.question);
        samplers_[worker].sample(batch.question.request, planned.random_seed, batch.subgraph);
        batch.graph = encoder->make_batch(graph, batch.subgraph, layers);
      });
}

}  // namespace hgt
