// Mutual attention and message passing on the CPU without a tensor of [edges, d]: one matrix
// product per node type, then hgt/message/attention.h, with a backward pass written by hand.
// Equal to reference_attention.h to rounding, values and gradients.
#pragma once

#include "hgt/model/reference_attention.h"

namespace hgt {

// Requires float or double on the CPU.
AttentionOutputs fused_attention(const AttentionInputs& inputs, bool with_weights);

// H~ of the targets without gradients, for whole graphs: each row is projected once
// (project_key_messages), however many targets read it. inputs.node_vectors: those of the targets
// only, [targets, d]. `sources`: [plan.source_rows, 2d], of which the caller filled the inputs'
// rows.
at::Tensor attend_projected(const AttentionInputs& inputs, const at::Tensor& sources);

}  // namespace hgt
