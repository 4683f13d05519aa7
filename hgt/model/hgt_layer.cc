#include "hgt/model/hgt_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hgt/error.h"
#include "hgt/model/dropout.h"
#include "hgt/model/fused_attention.h"
#include "hgt/model/layer_makers.h"
#include "hgt/model/reference_attention.h"
#include "hgt/model/typed_linear.h"

namespace hgt {

namespace {

at::Tensor uniform(at::IntArrayRef sizes, double bound) {
  return torch::empty(sizes).uniform_(-bound, bound);
}

at::Tensor index_of(const std::vector<int64_t>& values, const at::Tensor& like) {
  return at::tensor(values, at::kLong).to(like.device());
}

// Multiplications of both passes from the features x [sources, width], against those by way of the
// rows H = x A^T + a. What is saved: gradients of rows, and width instead of d numbers each; what
// it costs: products of maps (typed_projection.h). With S sources and T targets:
//   from features, forward    rows of keys, messages, queries, own   width d (2 S + 2 T)
//                  backward   dC, and own's part of dA               width d (2 S + 2 T)
//                  maps       P A, dC A^T, P^T dC                    3 times 3 d d width
//   by rows        adaptation x A^T and dA                           2 times width d S
//                  forward, backward by inputs, backward by P        3 times d d (2 S + T)
bool is_less_work_from_features(const LinearInputs::OfType& given, const LayerGraph& graph,
                                uint32_t type) {
  const auto width = static_cast<double>(given.features.size(1));
  const auto d = static_cast<double>(given.weight.size(0));
  const double sources = graph.num_sources(type);
  const double targets = graph.num_targets(type);
  const double from_features = 4 * width * d * (sources + targets) + 9 * d * d * width;
  const double by_rows = 2 * width * d * sources + 3 * d * d * (2 * sources + targets);
  return from_features < by_rows;
}

std::vector<int64_t> target_counts(const LayerGraph& graph) {
  std::vector<int64_t> counts;
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    counts.push_back(graph.num_targets(type));
  }
  return counts;
}

}  // namespace

HgtLayerImpl::HgtLayerImpl(const ModelOptions& options, const ModelSchema& schema)
    : options_(options), relations_(schema.relations) {
  check(options);
  if (options.heter) {
    type_sets_.resize(schema.node_types.size());
    relation_sets_.resize(schema.relations.size());
    std::iota(type_sets_.begin(), type_sets_.end(), 0U);
    std::iota(relation_sets_.begin(), relation_sets_.end(), 0U);
    // A set for each meta relation; W belongs to its edge type, mu to itself or to its edge type.
    for (size_t relation = 0; relation < schema.relations.size(); ++relation) {
      const auto edge = static_cast<int64_t>(schema.relations[relation].edge);
      set_edges_.push_back(edge);
      set_priors_.push_back(
          options.prior == Prior::edge_type_and_head ? edge : static_cast<int64_t>(relation));
    }
    make_parameters(static_cast<int64_t>(schema.node_types.size()),
                    static_cast<int64_t>(schema.edge_types.size()),
                    static_cast<int64_t>(schema.relations.size()));
  } else {  // -Heter: one set of everything
    type_sets_.assign(schema.node_types.size(), 0);
    relation_sets_.assign(schema.relations.size(), 0);
    set_edges_ = {0};
    set_priors_ = {0};
    make_parameters(1, 1, 1);
  }
}

void HgtLayerImpl::make_parameters(int64_t types, int64_t edge_types, int64_t relations) {
  const int64_t hidden = options_.hidden;
  if (options_.matrix_per_relation) {
    make_relation_parameters(types, relations);
  } else {
    make_decomposed_parameters(types, edge_types, relations);
  }
  if (options_.gated_skip) skip = register_parameter("skip", torch::ones({types}));
  if (options_.norm) {
    norm_weight = register_parameter("norm_weight", torch::ones({types, hidden}));
    norm_bias = register_parameter("norm_bias", torch::zeros({types, hidden}));
  }
  if (options_.rte) {
    temporal_encoding = register_module("temporal_encoding", RelativeTemporalEncoding(options_));
  }
}

// That many of K-, M- and Q-Linear, one below the other, and A-Linear.
void HgtLayerImpl::make_linear_maps(int64_t types, int64_t projections) {
  const int64_t hidden = options_.hidden;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  projection_weight = register_parameter("projection_weight",
                                         uniform({types, projections * hidden, hidden}, bound));
  projection_bias =
      register_parameter("projection_bias", uniform({types, projections * hidden}, bound));
  output_weight = register_parameter("output_weight", uniform({types, hidden, hidden}, bound));
  output_bias = register_parameter("output_bias", uniform({types, hidden}, bound));
}

void HgtLayerImpl::make_relation_parameters(int64_t types, int64_t relations) {
  const int64_t hidden = options_.hidden;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  make_linear_maps(types, 1);
  relation_weight =
      register_parameter("relation_weight", uniform({relations, 2 * hidden, hidden}, bound));
  relation_bias = register_parameter("relation_bias", uniform({relations, 2 * hidden}, bound));
}

void HgtLayerImpl::make_decomposed_parameters(int64_t types, int64_t edge_types,
                                              int64_t relations) {
  const int64_t width = options_.hidden / options_.heads;
  const double matrix_bound = std::sqrt(3.0 / static_cast<double>(width));  // variance 1 / k
  const int64_t matrices = options_.matrix_per_head ? options_.heads : 1;
  make_linear_maps(types, 3);
  attention_weight = register_parameter(
      "attention_weight", uniform({edge_types, matrices, width, width}, matrix_bound));
  message_weight = register_parameter("message_weight",
                                      uniform({edge_types, matrices, width, width}, matrix_bound));
  const int64_t priors = options_.prior == Prior::edge_type_and_head ? edge_types : relations;
  relation_prior =
      register_parameter("relation_prior", options_.prior == Prior::meta_relation
                                               ? torch::ones({priors})
                                               : torch::ones({priors, options_.heads}));
}

bool HgtLayerImpl::takes_fused_path(const at::Tensor& node_vectors) const {
  const bool can = node_vectors.device().is_cpu() && (node_vectors.scalar_type() == at::kFloat ||
                                                      node_vectors.scalar_type() == at::kDouble);
  if (options_.path == LayerPath::fused && !can) {
    throw Error(
        fmt::format("the fused path computes in float or double on the CPU, not in {} on {}; "
                    "choose LayerPath::automatic",
                    at::toString(node_vectors.scalar_type()), node_vectors.device().str()));
  }
  return can && options_.path != LayerPath::reference;
}

int64_t HgtLayerImpl::matrices() const {
  return options_.matrix_per_head || relation_prior.dim() > 1 ? options_.heads : 1;
}

double HgtLayerImpl::divisor() const {
  const auto hidden = static_cast<double>(options_.hidden);
  return std::sqrt(options_.divide_by_head_width ? hidden / static_cast<double>(options_.heads)
                                                 : hidden);
}

// One set of one matrix: [1, 1, k, k].
at::Tensor HgtLayerImpl::identity() const {
  return at::eye(options_.hidden / options_.heads, projection_weight.options().requires_grad(false))
      .unsqueeze(0)
      .unsqueeze(0);
}

at::Tensor HgtLayerImpl::scaled_attention() const {
  if (options_.matrix_per_relation) return identity() / divisor();
  const at::Tensor priors = relation_prior.index_select(0, index_of(set_priors_, relation_prior));
  const at::Tensor scale =
      priors.view({priors.size(0), -1, 1, 1}) / divisor();  // [sets, h or 1, 1, 1]
  const at::Tensor scaled =
      attention_weight.index_select(0, index_of(set_edges_, attention_weight)) * scale;
  return scaled.expand({-1, matrices(), -1, -1});
}

at::Tensor HgtLayerImpl::expanded_messages() const {
  if (options_.matrix_per_relation) return identity();
  return message_weight.index_select(0, index_of(set_edges_, message_weight))
      .expand({-1, matrices(), -1, -1});
}

SharedPlan HgtLayerImpl::plan(const LayerGraph& graph) const {
  check_graph(graph, relations_, type_sets_.size());
  const auto sets = static_cast<uint32_t>(set_edges_.size());
  if (options_.matrix_per_relation) {
    return std::make_shared<RelationPlan>(graph, relation_sets_, sets, options_.rte);
  }
  return std::make_shared<AttentionPlan>(graph, relation_sets_, sets, options_.rte);
}

at::Tensor HgtLayerImpl::output(const at::Tensor& aggregated, const LayerGraph& graph) const {
  if (takes_fused_path(aggregated)) {
    return gelu_linear(aggregated, output_weight, output_bias, {graph.target_offsets, type_sets_});
  }
  std::vector<at::Tensor> blocks = at::gelu(aggregated).split_with_sizes(target_counts(graph));
  for (size_t type = 0; type < blocks.size(); ++type) {
    const int64_t set = type_sets_[type];
    blocks[type] = at::addmm(output_bias[set], blocks[type], output_weight[set].t());
  }
  return at::cat(blocks);
}

// A-Linear on gelu(H~), dropout, skip and norm.
at::Tensor HgtLayerImpl::update(const at::Tensor& before, const at::Tensor& aggregated,
                                const LayerGraph& graph) const {
  const at::Tensor updated = drop_out(output(aggregated, graph), options_.dropout, is_training());
  if (!options_.gated_skip && !options_.norm) return updated + before;
  const std::vector<int64_t> counts = target_counts(graph);
  // By type: gate and norm have weights for each.
  const std::vector<at::Tensor> old_blocks = before.split_with_sizes(counts);
  std::vector<at::Tensor> blocks = updated.split_with_sizes(counts);
  for (size_t type = 0; type < blocks.size(); ++type) {
    const int64_t set = type_sets_[type];
    at::Tensor& block = blocks[type];
    if (options_.gated_skip) {
      block = at::lerp(old_blocks[type], block, skip[set].sigmoid());
    } else {
      block = block + old_blocks[type];
    }
    if (options_.norm && block.size(0) > 0) {
      block = at::layer_norm(block, {options_.hidden}, norm_weight[set], norm_bias[set]);
    }
  }
  return at::cat(blocks);
}

AttentionInputs HgtLayerImpl::attention_inputs(const at::Tensor& node_vectors,
                                               const LayerGraph& graph) const {
  AttentionInputs inputs{.graph = graph,
                         .type_sets = type_sets_,
                         .relation_sets = relation_sets_,
                         .node_vectors = node_vectors,
                         .time_vectors = {},
                         .projection_weight = projection_weight,
                         .projection_bias = projection_bias,
                         .relation_weight = relation_weight,
                         .relation_bias = relation_bias,
                         .attention_matrices = scaled_attention(),
                         .message_matrices = expanded_messages()};
  if (options_.rte) inputs.time_vectors = temporal_encoding->forward(graph.gap_values);
  return inputs;
}

at::Tensor HgtLayerImpl::attend_and_update(AttentionInputs inputs, bool fused,
                                           const SharedPlan& ready, AttentionTrace* trace) const {
  const LayerGraph& graph = inputs.graph;
  if (fused) {
    const SharedPlan own = ready ? ready : plan(graph);
    inputs.relation_plan = std::dynamic_pointer_cast<const RelationPlan>(own);
    inputs.plan = inputs.relation_plan ? inputs.relation_plan->attention
                                       : std::dynamic_pointer_cast<const AttentionPlan>(own);
  }
  const AttentionOutputs attention = fused ? fused_attention(inputs, trace != nullptr)
                                           : reference_attention(inputs, trace != nullptr);
  if (trace != nullptr) trace->push_back({attention.weights, graph.edge_ids});
  return update(attention.own, attention.aggregated, graph);
}

at::Tensor HgtLayerImpl::forward(const at::Tensor& node_vectors, const LayerGraph& graph,
                                 AttentionTrace* trace, SharedPlan ready) const {
  if (!ready) check_graph(graph, relations_, type_sets_.size());
  if (node_vectors.dim() != 2 || node_vectors.size(0) != graph.num_sources() ||
      node_vectors.size(1) != options_.hidden) {
    throw Error(
        fmt::format("the layer expects one vector of {} numbers for each of {} rows, but got a "
                    "tensor of another shape",
                    options_.hidden, graph.num_sources()));
  }
  if (node_vectors.scalar_type() != projection_weight.scalar_type()) {
    throw Error(fmt::format("the layer computes in {}, but the vectors are {}; convert one of them",
                            at::toString(projection_weight.scalar_type()),
                            at::toString(node_vectors.scalar_type())));
  }
  const bool fused = takes_fused_path(node_vectors);
  return attend_and_update(attention_inputs(node_vectors, graph), fused, ready, trace);
}

at::Tensor HgtLayerImpl::forward_linear(const LinearInputs& inputs, const LayerGraph& graph,
                                        AttentionTrace* trace, SharedPlan ready) const {
  if (options_.matrix_per_relation || !takes_fused_path(projection_weight)) {
    return Layer::forward_linear(inputs, graph, trace, std::move(ready));
  }
  std::vector<at::Tensor> vectors;  // of types whose rows are made
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  AdaptedFeatures adapted;
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    // Either its features or its rows, never both.
    const LinearInputs::OfType& given = inputs.types[type];
    if (given.weight.defined() && is_less_work_from_features(given, graph, type)) {
      adapted.features.push_back(given.features);
      weights.push_back(given.weight);
      biases.push_back(given.bias);
    } else {
      adapted.features.emplace_back();
      vectors.push_back(given.rows(graph.num_sources(type)));
    }
  }
  if (weights.empty()) return forward(at::cat(vectors), graph, trace, std::move(ready));
  adapted.weight = at::cat(weights, 1);
  adapted.bias = at::stack(biases);
  const at::Tensor none = at::empty({0, options_.hidden}, projection_weight.options());
  AttentionInputs attention = attention_inputs(vectors.empty() ? none : at::cat(vectors), graph);
  attention.adapted = std::move(adapted);
  return attend_and_update(std::move(attention), true, ready, trace);
}

void HgtLayerImpl::prepare_rows(const at::Tensor& node_vectors,
                                const std::vector<uint32_t>& type_offsets,
                                const at::Tensor& result) const {
  if (options_.matrix_per_relation) {
    Layer::prepare_rows(node_vectors, type_offsets, result);
    return;
  }
  project_key_messages(type_offsets, type_sets_, {projection_weight, projection_bias}, node_vectors,
                       result);
}

at::Tensor HgtLayerImpl::forward_prepared(const at::Tensor& target_vectors,
                                          const at::Tensor& sources, const LayerGraph& graph,
                                          const SharedPlan& ready) const {
  const torch::NoGradGuard no_gradient;
  if (options_.matrix_per_relation) return forward(sources, graph, nullptr, ready);
  AttentionInputs inputs = attention_inputs(target_vectors, graph);
  inputs.plan = std::dynamic_pointer_cast<const AttentionPlan>(ready);
  return update(target_vectors, fused_attention_prepared(inputs, sources), graph);
}

std::shared_ptr<Layer> make_hgt_layer(const LayerSetting& setting) {
  return std::make_shared<HgtLayerImpl>(setting.options, setting.schema);
}

}  // namespace hgt
