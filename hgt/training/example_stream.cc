#include "hgt/training/example_stream.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

namespace hgt {

namespace {

StreamRange on_compute_threads(StreamRange range) {
  if (range.workers == 0) {
    range.together = std::min(static_cast<unsigned>(at::get_num_threads()), range.queue);
  }
  return range;
}

BatchStream<ReadyBatch>::Finish graphs_of_layers(const BatchMaking& making) {
  const uint32_t layers =
      making.layers > 0 ? making.layers : static_cast<uint32_t>(making.encoder->layers().size());
  return [layers, graph = making.graph, encoder = making.encoder](ReadyBatch& batch) {
    batch.graph = encoder->make_batch(graph, batch.subgraph, layers);
  };
}

}  // namespace

ExampleStream::ExampleStream(const BatchMaking& making, Planner planner, const StreamRange& range)
    : BatchStream(
          {.graph = making.graph, .sampling = making.sampling, .range = on_compute_threads(range)},
          std::move(planner), graphs_of_layers(making)) {}

}  // namespace hgt
