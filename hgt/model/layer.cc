#include "hgt/model/layer.h"

#include "hgt/error.h"

namespace hgt {

at::Tensor own_vectors(const at::Tensor& vectors, const LayerGraph& graph) {
  if (graph.source_offsets == graph.target_offsets) return vectors;
  std::vector<int64_t> sizes;
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    sizes.push_back(graph.num_targets(type));
    sizes.push_back(int64_t{graph.num_sources(type)} - graph.num_targets(type));
  }
  const std::vector<at::Tensor> parts = vectors.split_with_sizes(sizes);
  std::vector<at::Tensor> blocks;
  for (size_t i = 0; i < parts.size(); i += 2) blocks.push_back(parts[i]);
  return at::cat(blocks);
}

void refuse_trace(const AttentionTrace* trace, const char* model) {
  if (trace == nullptr) return;
  throw Error(std::string("a model of kind ") + model + " pays no attention that could be shown");
}

}  // namespace hgt
