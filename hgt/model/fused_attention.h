// Mutual attention and message passing on the CPU without a tensor of [edges, d]: one matrix
// product per node type, then hgt/message/attention.h, with a backward pass written by hand.
// Equal to reference_attention.h to rounding, values and gradients.
//
// Two functions of autograd, one behind the other; each has its equations and gradients in its
// header:
//   typed_projection.h   (relation_projection.h with a matrix for each meta relation)
//                        H [sources, d], RTE [(type, gap) rows, d], P, p
//                        -> sources [plan.source_rows, 2d], queries [targets, d], own [targets, d]
//   attention.h          sources, queries, W_ATT mu / divisor, W_MSG [sets, h or 1, k, k]
//                        -> H~ [targets, d], a [edges, h]
// Between them `sources` is complete but for the rows of pairs, which the second fills in place.
// Its backward pass leaves something in the gradients of these rows; the first's does not read it.
#pragma once

#include "hgt/model/reference_attention.h"

namespace hgt {

// Requires float or double on the CPU.
// inputs.plan is set, inputs.relation_plan with relation_weight; inputs.node_vectors has no rows
// for types that inputs.adapted gives.
AttentionOutputs fused_attention(const AttentionInputs& inputs, bool with_weights);

// H~ of the targets without gradients, for whole graphs: each row is projected once, ahead
// (project_key_messages), however many targets read it. inputs.node_vectors: those of the targets
// only, [targets, d]. `sources`: [plan.source_rows, 2d], of which the caller filled the inputs'
// rows; the others are filled here.
at::Tensor fused_attention_prepared(const AttentionInputs& inputs, const at::Tensor& sources);

}  // namespace hgt
