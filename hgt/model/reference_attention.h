// Mutual attention and message passing edge by edge, in plain tensor operations, as the paper
// prints them: any device, any precision. The oracle of fused_attention.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hgt/message/attention_plan.h"
#include "hgt/message/layer_graph.h"
#include "hgt/model/torch.h"
#include "hgt/model/typed_projection.h"

namespace hgt {

// What both ways of computing attention need of a layer.
struct AttentionInputs {
  const LayerGraph& graph;
  const std::vector<uint32_t>& type_sets;      // [types] slice of the projections
  const std::vector<uint32_t>& relation_sets;  // [relations] slice of the matrices
  at::Tensor node_vectors;                     // [sources, d]
  at::Tensor time_vectors;                     // [gap values, d] RTE; undefined: -RTE
  at::Tensor projection_weight;                // [T, 3d, d] K, M, Q
  at::Tensor projection_bias;                  // [T, 3d]
  at::Tensor attention_matrices;               // [sets, h or 1, k, k] W_ATT mu / divisor
  at::Tensor message_matrices;                 // [sets, h or 1, k, k] W_MSG, as many
  // For the fused way only.
  std::shared_ptr<const AttentionPlan> plan = {};
  AdaptedFeatures adapted = {};  // of types whose rows are then not among node_vectors
};

struct AttentionOutputs {
  at::Tensor aggregated;  // [targets, d] H~; zero where no edge comes in
  at::Tensor weights;     // [edges, h], in the order of the graph; undefined unless asked for
  at::Tensor own;         // [targets, d] the inputs of the targets
};

AttentionOutputs reference_attention(const AttentionInputs& inputs, bool with_weights);

}  // namespace hgt
