#include "hgt/model/graph_batch.h"

#include <algorithm>

namespace hgt {

namespace {

// The rows of one type that the field needs, out of the features of all its rows.
at::Tensor select_features(const Subgraph& subgraph, const ReceptiveField& field, uint32_t type,
                           const std::vector<float>& features) {
  const uint32_t all = subgraph.num_rows(NodeType(type));
  if (features.empty() || all == 0) return {};
  const size_t width = features.size() / all;
  const uint32_t first = field.type_offsets[type];
  const uint32_t rows = field.type_offsets[type + size_t{1}] - first;
  at::Tensor selected = at::empty({rows, static_cast<int64_t>(width)}, at::kFloat);
  auto* to = selected.data_ptr<float>();
  for (uint32_t i = 0; i < rows; ++i) {
    const uint32_t row = field.rows[first + i] - subgraph.type_offsets[type];
    std::copy_n(features.data() + row * width, width, to + i * width);
  }
  return selected;
}

at::Tensor read_features(const HeteroGraph& graph, const Subgraph& subgraph,
                         const ReceptiveField& field, uint32_t type) {
  const uint64_t width = graph.features(NodeType(type)).width;
  const uint32_t first = field.type_offsets[type];
  const uint32_t rows = field.type_offsets[type + size_t{1}] - first;
  if (width == 0 || rows == 0) return {};
  at::Tensor features = at::empty({rows, static_cast<int64_t>(width)}, at::kFloat);
  auto* to = features.data_ptr<float>();
  for (uint32_t i = 0; i < rows; ++i) {
    graph.copy_features(NodeType(type), subgraph.nodes[field.rows[first + i]],
                        {to + i * width, width});
  }
  return features;
}

at::Tensor read_nodes(const Subgraph& subgraph, const ReceptiveField& field, uint32_t type) {
  const uint32_t first = field.type_offsets[type];
  const uint32_t rows = field.type_offsets[type + size_t{1}] - first;
  at::Tensor nodes = at::empty({rows}, at::kLong);
  auto* to = nodes.data_ptr<int64_t>();
  for (uint32_t i = 0; i < rows; ++i) to[i] = subgraph.nodes[field.rows[first + i]];
  return nodes;
}

// `features` are those of the field's rows.
GraphBatch make_batch(ReceptiveField field, std::vector<at::Tensor> features) {
  GraphBatch batch;
  batch.features = std::move(features);
  batch.type_offsets = std::move(field.type_offsets);
  batch.layers = std::move(field.layers);
  const std::vector<int64_t> rows(field.seed_rows.begin(), field.seed_rows.end());
  batch.seed_rows = at::tensor(rows, at::kLong);
  return batch;
}

}  // namespace

GraphBatch graph_batch(const Subgraph& subgraph, const std::vector<std::vector<float>>& features,
                       uint32_t layers, Trim trim) {
  ReceptiveField field = receptive_field(subgraph, layers, trim);
  std::vector<at::Tensor> selected;
  for (uint32_t type = 0; type < features.size(); ++type) {
    selected.push_back(select_features(subgraph, field, type, features[type]));
  }
  return make_batch(std::move(field), std::move(selected));
}

GraphBatch graph_batch(const HeteroGraph& graph, const Subgraph& subgraph, uint32_t layers,
                       Trim trim) {
  ReceptiveField field = receptive_field(subgraph, layers, trim);
  std::vector<at::Tensor> features;
  std::vector<at::Tensor> nodes;
  for (uint32_t type = 0; type < graph.schema().node_types().size(); ++type) {
    features.push_back(read_features(graph, subgraph, field, type));
    const bool plain = graph.features(NodeType(type)).width == 0;
    nodes.push_back(plain ? read_nodes(subgraph, field, type) : at::Tensor());
  }
  GraphBatch batch = make_batch(std::move(field), std::move(features));
  batch.nodes = std::move(nodes);
  return batch;
}

}  // namespace hgt
