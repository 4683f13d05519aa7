// Mutual attention and message passing on the CPU without a tensor of [edges, d]: one matrix
// product per node type, then hgt/message/attention.h, with a backward pass written by hand.
// Equal to reference_attention.h to rounding, values and gradients.
#pragma once

#include "hgt/model/reference_attention.h"

namespace hgt {

// Requires float or double on the CPU.
AttentionOutputs fused_attention(const AttentionInputs& inputs, bool with_weights);

// --- the same in two parts and without gradients, for whole graphs: each row is projected once,
// however many targets read it ---

struct ProjectionWeights {
  const at::Tensor& weight;  // [T, 3d, d] K, M, Q
  const at::Tensor& bias;    // [T, 3d]
};

// Keys and messages of vectors that lie by type: [rows, d] -> [rows, 2d].
void project_key_messages(const std::vector<uint32_t>& type_offsets,
                          const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                          const at::Tensor& node_vectors, const at::Tensor& key_messages);

// H~ of the targets. inputs.node_vectors: those of the targets only, [targets, d]. `sources`:
// [plan.source_rows, 2d], of which the caller filled the inputs' rows.
at::Tensor attend_projected(const AttentionInputs& inputs, const at::Tensor& sources);

}  // namespace hgt
