// The attention of GAT and of HAN's paths: see gat.cc.
#pragma once

#include <cmath>
#include <utility>

#include "hgt/model/edge_operations.h"
#include "hgt/model/torch.h"

namespace hgt {

class GraphAttention : public torch::nn::Module {
 public:
  GraphAttention(int64_t hidden, int64_t heads) : heads_(heads) {
    const int64_t width = hidden / heads;
    const double bound = std::sqrt(6.0 / static_cast<double>(hidden + width));
    const auto uniform = [&](at::IntArrayRef sizes) {
      return torch::empty(sizes).uniform_(-bound, bound);
    };
    weight_ = register_parameter("weight", uniform({hidden, hidden}));
    bias_ = register_parameter("bias", torch::zeros({hidden}));
    at_sources_ = register_parameter("at_sources", uniform({hidden}));
    at_targets_ = register_parameter("at_targets", uniform({hidden}));
  }

  // The weighted sums, before any activation, and the weights: [rows, d] and [edges, heads].
  // rows_of(projected sources): those of the rows that the lists lead to.
  template <typename RowsOf>
  std::pair<at::Tensor, at::Tensor> forward(const at::Tensor& sources, const RowsOf& rows_of,
                                            const SharedLists& lists) const {
    const at::Tensor projected = at::mm(sources, weight_.t());
    const auto per_head = [&](const at::Tensor& vectors, const at::Tensor& by) {
      return (vectors * by).view({vectors.size(0), heads_, vectors.size(1) / heads_}).sum(2);
    };
    const at::Tensor scores =
        at::leaky_relu(end_sums(per_head(projected, at_sources_),
                                per_head(rows_of(projected), at_targets_), lists),
                       0.2);
    const at::Tensor weights = edge_softmax(scores, lists);
    return {weighted_sum(projected, weights, lists) + bias_, weights};
  }

 private:
  int64_t heads_;
  at::Tensor weight_, bias_;            // [d, d], [d]
  at::Tensor at_sources_, at_targets_;  // [d], heads side by side
};

}  // namespace hgt
