#include "hgt/model/relation_projection.h"

#include "hgt/model/layer.h"

namespace hgt {

namespace {

// The rows of each block: [rows of all, d] -> one tensor for each pair of neighboring offsets.
std::vector<at::Tensor> blocks_of(const at::Tensor& rows, const std::vector<uint32_t>& offsets) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    sizes.push_back(int64_t{offsets[i + 1]} - offsets[i]);
  }
  return rows.split_with_sizes(sizes);
}

at::Tensor as_index(const std::vector<uint32_t>& rows) {
  return at::tensor(std::vector<int64_t>(rows.begin(), rows.end()), at::kLong);
}

at::Tensor queries_of(const at::Tensor& own, const std::vector<uint32_t>& target_offsets,
                      const std::vector<uint32_t>& type_sets, const RelationWeights& weights) {
  const std::vector<at::Tensor> maps = weights.query_weight.unbind(0);
  const std::vector<at::Tensor> shifts = weights.query_bias.unbind(0);
  std::vector<at::Tensor> blocks = blocks_of(own, target_offsets);
  for (size_t type = 0; type < blocks.size(); ++type) {
    const uint32_t set = type_sets[type];
    blocks[type] = at::addmm(shifts[set], blocks[type], maps[set].t());
  }
  return at::cat(blocks);
}

}  // namespace

ProjectionTables project_pairs(const LayerGraph& graph, const std::vector<uint32_t>& type_sets,
                               const RelationPlan& plan, const at::Tensor& vectors,
                               const at::Tensor& time_vectors, const RelationWeights& weights) {
  const std::vector<at::Tensor> maps = weights.weight.unbind(0);
  const std::vector<at::Tensor> shifts = weights.bias.unbind(0);
  std::vector<at::Tensor> blocks =
      blocks_of(vectors.index_select(0, as_index(plan.pair_sources)), plan.pair_offsets);
  for (size_t set = 0; set < maps.size(); ++set) {
    blocks[set] = at::addmm(shifts[set], blocks[set], maps[set].t());
  }
  if (plan.attention->temporal) {
    const std::vector<at::Tensor> times = blocks_of(time_vectors, plan.attention->time_offsets);
    for (size_t set = 0; set < maps.size(); ++set) {
      blocks.push_back(at::mm(times[set], maps[set].t()));
    }
  }
  // Attention writes the rows of its own pairs.
  blocks.push_back(
      at::empty({plan.attention->num_source_pairs(), weights.weight.size(1)}, vectors.options()));
  const at::Tensor own = own_vectors(vectors, graph);
  return {.sources = at::cat(blocks),
          .queries = queries_of(own, graph.target_offsets, type_sets, weights),
          .own = own};
}

}  // namespace hgt
