#include "hgt/model/graph_batch.h"

#include <span>
#include <utility>

#include "hgt/sampling/visible_features.h"

namespace hgt {

namespace {

at::Tensor int64_tensor(std::span<const uint32_t> numbers) {
  return at::tensor(std::vector<int64_t>(numbers.begin(), numbers.end()), at::kLong);
}

// Of the field's rows of one type.
std::vector<NodeId> nodes_of(const Subgraph& subgraph, const ReceptiveField& field, uint32_t type) {
  std::vector<NodeId> nodes;
  nodes.reserve(field.type_offsets[type + size_t{1}] - field.type_offsets[type]);
  for (uint32_t i = field.type_offsets[type]; i < field.type_offsets[type + size_t{1}]; ++i) {
    nodes.push_back(subgraph.nodes[field.rows[i]]);
  }
  return nodes;
}

// [nodes, width]; undefined: there are no nodes, or they have no features.
at::Tensor read_features(const HeteroGraph& graph, const Subgraph& subgraph, NodeType type,
                         std::span<const NodeId> nodes) {
  const uint64_t width = graph.features(type).width;
  if (width == 0 || nodes.empty()) return {};
  at::Tensor features =
      at::empty({static_cast<int64_t>(nodes.size()), static_cast<int64_t>(width)}, at::kFloat);
  copy_visible_features(graph, subgraph, type, nodes,
                        {features.data_ptr<float>(), nodes.size() * width});
  return features;
}

}  // namespace

GraphBatch graph_batch(const HeteroGraph& graph, const Subgraph& subgraph, uint32_t layers,
                       Trim trim) {
  ReceptiveField field = receptive_field(subgraph, layers, trim);
  GraphBatch batch;
  for (uint32_t i = 0; i < graph.schema().node_types().size(); ++i) {
    const auto type = NodeType(i);
    const std::vector<NodeId> nodes = nodes_of(subgraph, field, i);
    batch.features.push_back(read_features(graph, subgraph, type, nodes));
    const bool plain = graph.features(type).width == 0;
    batch.nodes.push_back(plain ? int64_tensor(nodes) : at::Tensor());
  }
  batch.type_offsets = std::move(field.type_offsets);
  batch.layers = std::move(field.layers);
  batch.seed_rows = int64_tensor(field.seed_rows);
  return batch;
}

}  // namespace hgt
