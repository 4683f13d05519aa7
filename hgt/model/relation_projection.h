// Keys and messages with a full matrix for each set of relations, instead of K-Linear W_ATT and
// M-Linear W_MSG (paper, section 5.3: "a unique weight matrix for each relation").
//
// For a pair (s, r) of a source and a set of relations that it sends edges of, with K_r, M_r [d, d]
// and k_r, m_r [d] one below the other in the weights of r:
//   sources[(s, r)]  = H[s] K_r^T + k_r  |  H[s] M_r^T + m_r      [2d]
//   sources[(r, g)]  = RTE(g) K_r^T      |  RTE(g) M_r^T          [2d], for each gap g on edges of
//   r queries[t]       = H[t] Q^T + q of the type of t              [d] own[t]           = H[t] [d]
// In plain tensor operations, which LibTorch differentiates. There are 3d numbers of each pair in
// memory, where typed_projection.h has 2d of each source.
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/message/layer_graph.h"
#include "hgt/message/relation_plan.h"
#include "hgt/model/torch.h"
#include "hgt/model/typed_projection.h"

namespace hgt {

struct RelationWeights {
  const at::Tensor& weight;        // [sets, 2d, d] K_r, M_r
  const at::Tensor& bias;          // [sets, 2d]
  const at::Tensor& query_weight;  // [T, d, d] Q-Linear
  const at::Tensor& query_bias;    // [T, d]
};

// vectors: [sources, d]; time_vectors: [(set, gap) rows of the attention plan, d].
ProjectionTables project_pairs(const LayerGraph& graph, const std::vector<uint32_t>& type_sets,
                               const RelationPlan& plan, const at::Tensor& vectors,
                               const at::Tensor& time_vectors, const RelationWeights& weights);

}  // namespace hgt
