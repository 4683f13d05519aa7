#include "hgt/model/layer.h"

#include <fmt/format.h>

#include "hgt/error.h"

namespace hgt {

namespace {

// [rows] the type of each.
std::vector<uint32_t> types_of(const std::vector<uint32_t>& offsets) {
  std::vector<uint32_t> types;
  for (uint32_t type = 0; type + 1 < offsets.size(); ++type) {
    types.insert(types.end(), offsets[type + 1] - offsets[type], type);
  }
  return types;
}

// An edge of the graph: where it is in the lists, and the types of its ends.
struct TypedEdge {
  uint64_t place;
  uint32_t relation, source_type, target_type;
};

void check_edge(const TypedEdge& edge, const ModelSchema::MetaRelation& relation) {
  if (relation.source == edge.source_type && relation.target == edge.target_type) return;
  throw Error(fmt::format("edge {} joins types {} and {}, but its relation {} joins {} and {}",
                          edge.place, edge.source_type, edge.target_type, edge.relation,
                          relation.source, relation.target));
}

}  // namespace

void check_graph(const LayerGraph& graph, const std::vector<ModelSchema::MetaRelation>& relations,
                 size_t types) {
  if (graph.source_offsets.size() != types + 1) {
    throw Error(fmt::format("the graph has {} node types, but the layer was made for {}",
                            graph.source_offsets.size() - 1, types));
  }
  check(graph, relations.size());
  const std::vector<uint32_t> source_types = types_of(graph.source_offsets);
  const std::vector<uint32_t> target_types = types_of(graph.target_offsets);
  for (uint32_t target = 0; target < graph.num_targets(); ++target) {
    for (const uint64_t edge : graph.incoming(target)) {
      const auto relation = static_cast<uint32_t>(index(graph.relations[edge]));
      check_edge({.place = edge,
                  .relation = relation,
                  .source_type = source_types[graph.sources[edge]],
                  .target_type = target_types[target]},
                 relations[relation]);
    }
  }
}

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

at::Tensor LinearInputs::OfType::rows(int64_t count) const {
  const at::Tensor first = features.narrow(0, 0, count);
  return weight.defined() ? at::addmm(bias, first, weight.t()) : first;
}

at::Tensor Layer::forward_linear(const LinearInputs& inputs, const LayerGraph& graph,
                                 AttentionTrace* trace, SharedPlan ready) const {
  std::vector<at::Tensor> blocks;
  for (const LinearInputs::OfType& type : inputs.types) {
    blocks.push_back(type.rows(type.features.size(0)));
  }
  return forward(at::cat(blocks), graph, trace, std::move(ready));
}

void refuse_trace(const AttentionTrace* trace, const char* model) {
  if (trace == nullptr) return;
  throw Error(std::string("a model of kind ") + model + " has no attention to show");
}

}  // namespace hgt
