// A sub-graph as an encoder reads it: what each layer computes, and the input features.
//
//   const GraphBatch batch = graph_batch(graph, subgraph, 3);
//   const at::Tensor vectors = encoder->forward(batch);        // [outputs of the last layer, d]
//   const at::Tensor seeds = vectors.index_select(0, batch.seed_rows);
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/message/layer_graph.h"
#include "hgt/model/torch.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

struct GraphBatch {
  std::vector<uint32_t> type_offsets;  // [types + 1] rows that the first layer reads
  std::vector<at::Tensor> features;    // by type: [rows, width]; undefined: the type has none
  std::vector<at::Tensor> nodes;       // by type without features: [rows], int64; or empty
  std::vector<std::shared_ptr<const LayerGraph>> layers;
  at::Tensor seed_rows;  // [seeds as asked], int64: in the output of the last layer
  // [layers] or empty: what Encoder::prepare made ahead of the forward pass.
  std::vector<std::shared_ptr<const LayerPlan>> plans;
};

// Reads the features of the rows that the first layer needs from the graph, means among them
// without what is hidden from the sub-graph (visible_features.h).
GraphBatch graph_batch(const HeteroGraph& graph, const Subgraph& subgraph, uint32_t layers,
                       Trim trim = Trim::on);

}  // namespace hgt
