// One layer of the Heterogeneous Graph Transformer (paper, section 3.2-3.5).
//
// For every edge e = (s, t) and head i, with H^[s] = H[s] + RTE(T(t) - T(s)):
//   ATT-head^i = (K^i(s) W_ATT^phi(e) Q^i(t)^T) mu_<tau(s),phi(e),tau(t)> / divisor
//   Attention  = softmax of ATT-head over all edges into t, of all relations together
//   MSG-head^i = M-Linear^i_tau(s)(H^[s]) W_MSG^phi(e)
//   H~[t]      = sum over e of Attention * Message, heads side by side
//   H'[t]      = A-Linear_tau(t)(gelu(H~[t])) + H[t]
// with K = K-Linear_tau(s)(H^[s]), Q = Q-Linear_tau(t)(H[t]), divisor = sqrt(d). The variants of
// ModelOptions, with Y[t] = A-Linear_tau(t)(gelu(H~[t])) after dropout:
//   divide_by_head_width   divisor = sqrt(d / h)
//   matrix_per_head        W_ATT and W_MSG also depend on the head i
//   prior                  mu also depends on the head, or on phi(e) and the head alone
//   gated_skip             H'[t] = g Y[t] + (1 - g) H[t] with g = sigmoid(skip_tau(t))
//   norm                   H'[t] becomes its layer norm, with weight and bias of tau(t)
//   temporal off           H^[s] = H[s]
//   matrix_per_relation    K(s) W_ATT mu and M-Linear(H^[s]) W_MSG become K_r(s) and M_r(s), linear
//                          maps of H^[s] with a full matrix for each meta relation r (section 5.3)
//   heterogeneous off      one type, one edge type and one relation, as far as weights go
//
//   HgtLayer layer(options, schema);
//   at::Tensor next = layer->forward(vectors, graph);   // [sources, d] -> [targets, d]
//
// The weights of all types lie in one tensor each; a type, edge type or relation picks its slice.
// Attention sees sets of relations, one for each meta relation (or one for all). The matrices of
// set j, [h or 1, k, k], are
//   W_ATT mu / divisor = attention_weight[set_edges_[j]] relation_prior[set_priors_[j]] / divisor
//   W_MSG              = message_weight[set_edges_[j]]
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hgt/message/attention_plan.h"
#include "hgt/message/layer_graph.h"
#include "hgt/message/model_schema.h"
#include "hgt/model/layer.h"
#include "hgt/model/reference_attention.h"
#include "hgt/model/relative_temporal_encoding.h"
#include "hgt/model/torch.h"
#include "hgt/run/model_options.h"

namespace hgt {

class HgtLayerImpl : public Layer {
 public:
  // Initializes the weights from torch's generator (torch::manual_seed).
  HgtLayerImpl(const ModelOptions& options, const ModelSchema& schema);

  // Throws Error when the graph does not fit the schema or the vectors.
  at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph,
                     AttentionTrace* trace = nullptr, SharedPlan ready = nullptr) const override;
  // Where it is less work, keys, messages and queries are computed from the features themselves.
  at::Tensor forward_linear(const LinearInputs& inputs, const LayerGraph& graph,
                            AttentionTrace* trace, SharedPlan ready) const override;
  SharedPlan plan(const LayerGraph& graph) const override;

  // In two parts, on the CPU, in float or double: the first part makes keys and messages. With a
  // matrix for each relation a row has too many of them, so the first part makes nothing.
  int64_t prepared_width(int64_t hidden) const override {
    return options_.matrix_per_relation ? hidden : 2 * hidden;
  }
  void prepare_rows(const at::Tensor& node_vectors, const std::vector<uint32_t>& type_offsets,
                    const at::Tensor& result) const override;
  at::Tensor forward_prepared(const at::Tensor& target_vectors, const at::Tensor& sources,
                              const LayerGraph& graph, const SharedPlan& ready) const override;

  // T: node types, E: edge types, R: meta relations, k = d / h; all 1 but k for -Heter.
  // With a matrix for each relation, the projections are Q-Linear alone, [T, d, d] and [T, d], and
  // there are relation_weight and relation_bias instead of W_ATT, W_MSG and mu.
  at::Tensor projection_weight;  // [T, 3d, d] K-Linear, M-Linear, Q-Linear, one below the other
  at::Tensor projection_bias;    // [T, 3d]
  at::Tensor output_weight;      // [T, d, d] A-Linear
  at::Tensor output_bias;        // [T, d]
  at::Tensor attention_weight;   // [E, h or 1, k, k] W_ATT
  at::Tensor message_weight;     // [E, h or 1, k, k] W_MSG
  at::Tensor relation_prior;     // mu: [R], [R, h] or [E, h]
  at::Tensor relation_weight;    // [R, 2d, d] keys and messages, one below the other
  at::Tensor relation_bias;      // [R, 2d]
  at::Tensor skip;               // [T] gate, where options say so
  at::Tensor norm_weight;        // [T, d] layer norm, where options say so
  at::Tensor norm_bias;          // [T, d]
  RelativeTemporalEncoding temporal_encoding{nullptr};  // null: -RTE

 private:
  void make_parameters(int64_t types, int64_t edge_types, int64_t relations);
  void make_linear_maps(int64_t types, int64_t projections);
  void make_decomposed_parameters(int64_t types, int64_t edge_types, int64_t relations);
  void make_relation_parameters(int64_t types, int64_t relations);
  double divisor() const;
  bool takes_fused_path(const at::Tensor& node_vectors) const;
  // Matrices of a set of relations: one for each head where W or mu depends on it, or one for all.
  int64_t matrices() const;
  at::Tensor identity() const;
  // W_ATT mu / divisor and W_MSG for each set of relations: [sets, matrices, k, k].
  at::Tensor scaled_attention() const;
  at::Tensor expanded_messages() const;
  at::Tensor output(const at::Tensor& aggregated, const LayerGraph& graph) const;  // A-Linear
  AttentionInputs attention_inputs(const at::Tensor& node_vectors, const LayerGraph& graph) const;
  // All of the layer: attention, then update(). On the fused path the plan is made now unless it is
  // ready.
  at::Tensor attend_and_update(AttentionInputs inputs, bool fused, const SharedPlan& ready,
                               AttentionTrace* trace) const;
  // [targets, d] -> [targets, d]: what an output row held before, and what was sent to it.
  at::Tensor update(const at::Tensor& before, const at::Tensor& aggregated,
                    const LayerGraph& graph) const;

  ModelOptions options_;
  std::vector<ModelSchema::MetaRelation> relations_;
  std::vector<uint32_t> type_sets_;      // [types] slice of the per-type tensors
  std::vector<uint32_t> relation_sets_;  // [relations] set of weights
  // [sets] slices of attention_weight and relation_prior.
  std::vector<int64_t> set_edges_;
  std::vector<int64_t> set_priors_;
};
TORCH_MODULE(HgtLayer);

}  // namespace hgt
