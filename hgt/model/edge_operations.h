// Sums and softmax over the edges of a row, with gradients: what the baselines are made of.
//
// On the CPU, in float or double, neighbors are gathered row by row, forward and backward, and no
// tensor of [edges, d] is made. Elsewhere, and as oracle, the same in plain tensor operations.
#pragma once

#include <memory>

#include "hgt/message/edge_lists.h"
#include "hgt/model/torch.h"

namespace hgt {

using SharedLists = std::shared_ptr<const EdgeLists>;

// [rows, d]: row r is the sum over its edges e of weights[e, i] values[source(e)], head i by head.
// values: [sources, d], weights: [edges, heads].
at::Tensor weighted_sum(const at::Tensor& values, const at::Tensor& weights,
                        const SharedLists& lists);
at::Tensor reference_weighted_sum(const at::Tensor& values, const at::Tensor& weights,
                                  const EdgeLists& lists);

// The mean over the edges of a row; of none: zero. [sources, d] -> [rows, d].
at::Tensor edge_mean(const at::Tensor& values, const SharedLists& lists);

// [edges, h]: at the source of each edge, plus at its row.
at::Tensor end_sums(const at::Tensor& at_sources, const at::Tensor& at_rows,
                    const SharedLists& lists);
at::Tensor reference_end_sums(const at::Tensor& at_sources, const at::Tensor& at_rows,
                              const EdgeLists& lists);

// Scores become weights that sum to one over the edges of each row: [edges, h] -> [edges, h].
at::Tensor edge_softmax(const at::Tensor& scores, const SharedLists& lists);
at::Tensor reference_edge_softmax(const at::Tensor& scores, const EdgeLists& lists);

}  // namespace hgt
