// K-Linear, M-Linear and Q-Linear of a layer (paper, section 3.2): one matrix product for each type
// and table, all of them at once (product_sums.h), with a backward pass written by hand.
//
// Vectors are rows. With K, M, Q [d, d] and k, m, q [d] the weights and biases of a node's type,
// for a source s, a target t and the temporal encoding RTE(g) of gap g at sources of the type:
//   sources[s]          = H[s] K^T + k   |  H[s] M^T + m          [2d], the left half and the right
//   sources[(type, g)]  = RTE(g) K^T     |  RTE(g) M^T            [2d], without the biases, which
//                                                                 an edge has from sources[s]
//   queries[t]          = H[t] Q^T + q                            [d]
//   own[t]              = H[t]                                    [d]
// K, M and Q lie one below the other in one tensor P [3d, d], k, m and q in one p [3d]: keys and
// messages together are one product with the first 2d rows of P.
//
// Inputs of a first layer may be given as they were before a linear adaptation layer, which makes
// H[s] = x A^T + a of features x of any width. Then
//   H[s] P^T + p = x (P A)^T + (a P^T + p)
// is computed from x, which is narrower, and no gradient of H[s] is ever made. Exact, to rounding.
//
// Gradients, dX being that of the loss by X. P_KM: the first 2d rows of P, P_Q: the last d. Sums
// run over the rows of a type, those of P and p over all types of a set:
//   dH[s]   = dsources[s] P_KM, and for a target also + dqueries[t] P_Q + dO[t]
//   dRTE(g) = dsources[(type, g)] P_KM
//   dP_KM   = sum of dsources[s]^T H[s] + sum of dsources[(type, g)]^T RTE(g)
//   dP_Q    = sum of dqueries[t]^T H[t]
//   dp      = sum of dsources[s] | sum of dqueries[t]
// and for a type that is given by features, with C = P A [3d, width] and c = a P^T + p [3d]:
//   dC_KM = sum of dsources[s]^T x_s      dC_Q = sum of dqueries[t]^T x_t      dc = dp as above
//   dP    = dC A^T + dc^T a, and what (type, gap) rows give as above
//   dA    = P^T dC + sum of dO[t]^T x_t
//   da    = dc P + sum of dO[t]
// (O is the table `own`.) Features get no gradient.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hgt/message/attention_plan.h"
#include "hgt/message/layer_graph.h"
#include "hgt/model/torch.h"

namespace hgt {

// The d rows of P, and numbers of p, that belong to one of the three maps.
enum class ProjectionPart : int64_t { key, message, query };
inline int64_t first_row(ProjectionPart part, int64_t hidden) {
  return static_cast<int64_t>(part) * hidden;
}

// T: sets of weights, of which each type uses one (type_sets).
struct ProjectionWeights {
  const at::Tensor& weight;  // [T, 3d, d] P: K, M, Q
  const at::Tensor& bias;    // [T, 3d] p: k, m, q
};

// Types whose inputs are x A^T + a of their features x, given as these. Empty: no type.
struct AdaptedFeatures {
  std::vector<at::Tensor> features;  // [types] [sources of the type, width]; undefined: vectors
  at::Tensor weight;                 // [d, all widths] A of each of these types, side by side
  at::Tensor bias;                   // [these types, d] a
};

// The inputs of a layer: vectors of the types without features lie by type.
struct ProjectionInputs {
  at::Tensor vectors;  // [sources of types without features, d]
  AdaptedFeatures adapted;
  at::Tensor time_vectors;  // [(type, gap) rows of the plan, d] RTE
};

struct ProjectionTables {
  at::Tensor sources;  // [plan.source_rows, 2d] keys, messages: of inputs, then of (type, gap) rows
  at::Tensor queries;  // [targets, d]
  at::Tensor own;      // [targets, d] the inputs of the targets: the first of each type
};

// All three tables. The rows of pairs in `sources` are left to attention_forward(); in the backward
// pass their gradients are not read.
ProjectionTables project_all(const LayerGraph& graph, const std::vector<uint32_t>& type_sets,
                             const AttentionPlan& plan, const ProjectionInputs& inputs,
                             const ProjectionWeights& weights);

// --- the parts alone and without gradients, for whole graphs ---

// Keys and messages of vectors that lie by type: [rows, d] -> [rows, 2d].
void project_key_messages(const std::vector<uint32_t>& type_offsets,
                          const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                          const at::Tensor& vectors, const at::Tensor& result);
// Keys and messages of the (type, gap) rows, which have no bias, into their rows of `sources`.
void project_times(const AttentionPlan& plan, const std::vector<uint32_t>& type_sets,
                   const at::Tensor& weight, const at::Tensor& time_vectors,
                   const at::Tensor& sources);
// Queries of vectors that lie by type: [targets, d] -> [targets, d].
void project_queries(const std::vector<uint32_t>& target_offsets,
                     const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                     const at::Tensor& vectors, const at::Tensor& result);

}  // namespace hgt
