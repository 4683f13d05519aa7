// Mutual attention and message passing edge by edge, in plain tensor operations, as the paper
// prints them: any device, any precision. The oracle of fused_attention.h.
//
// For an edge e = (s, t) of relation r at gap g, tau = tau(s), head i:
//   H^[s]  = H[s] + RTE(g)
//   score  = K-Linear^i_tau(H^[s]) W_r Q-Linear^i_tau(t)(H[t])^T      W_r = W_ATT mu / divisor
//   a      = exp(score - highest) / sum of exp(score - highest)       over all edges into t
//   H~[t]  = sum over e into t of a M-Linear^i_tau(H^[s]) W_MSG       heads side by side
// or, with relation_weight, K_r and M_r of it instead of K- and M-Linear, and the identity for W.
// LibTorch differentiates it; `highest`, the largest score of t, is taken as a constant, which
// changes nothing as a does not depend on it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hgt/message/attention_plan.h"
#include "hgt/message/layer_graph.h"
#include "hgt/message/relation_plan.h"
#include "hgt/model/torch.h"
#include "hgt/model/typed_projection.h"

namespace hgt {

// What both ways of computing attention need of a layer.
struct AttentionInputs {
  const LayerGraph& graph;
  const std::vector<uint32_t>& type_sets;      // [types] slice of the projections
  const std::vector<uint32_t>& relation_sets;  // [relations] slice of the matrices
  at::Tensor node_vectors;                     // [sources, d] H, by type
  at::Tensor time_vectors;                     // [gap values, d] RTE; undefined: -RTE
  at::Tensor projection_weight;                // [T, 3d, d] K, M, Q (ProjectionPart)
  at::Tensor projection_bias;                  // [T, 3d]
  // Undefined, or keys and messages for each set of relations (relation_projection.h): then the
  // projections are Q alone, [T, d, d] and [T, d], and there is one set of matrices.
  at::Tensor relation_weight = {};  // [sets, 2d, d]
  at::Tensor relation_bias = {};    // [sets, 2d]
  at::Tensor attention_matrices;    // [sets, h or 1, k, k] W_ATT mu / divisor
  at::Tensor message_matrices;      // [sets, h or 1, k, k] W_MSG, as many
  // For the fused way only.
  std::shared_ptr<const AttentionPlan> plan = {};
  std::shared_ptr<const RelationPlan> relation_plan = {};  // with relation_weight; `plan` is of it
  AdaptedFeatures adapted = {};  // of types whose rows are then not among node_vectors
};

struct AttentionOutputs {
  at::Tensor aggregated;  // [targets, d] H~; zero where no edge comes in
  at::Tensor weights;     // [edges, h], in the order of the graph; undefined unless asked for
  at::Tensor own;         // [targets, d] the inputs of the targets
};

AttentionOutputs reference_attention(const AttentionInputs& inputs, bool with_weights);

}  // namespace hgt
