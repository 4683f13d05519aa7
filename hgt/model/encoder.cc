#include "hgt/model/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hgt/error.h"
#include "hgt/model/dropout.h"
#include "hgt/model/layer_makers.h"

namespace hgt {

namespace {

// LibTorch allows no dot in the name of a parameter; the name of a type may have one, but no slash.
std::string adaptation_name(std::string type, const char* what) {
  std::replace(type.begin(), type.end(), '.', '/');
  return fmt::format("adaptation_{}_{}", type, what);
}

}  // namespace

EncoderImpl::EncoderImpl(const ModelOptions& options, const ModelSchema& schema)
    : options_(options), schema_(schema) {
  check(options);
  const ModelRow& row = row_of(options.kind);
  if (row.follows_meta_paths) {
    if (options.meta_paths.empty()) options_.meta_paths = propose_meta_paths(schema);
    meta_paths_ = meta_paths(options_.meta_paths, schema);
    if (meta_paths_.empty()) {
      throw Error(fmt::format("{} needs a meta path, and the schema has none", row.name));
    }
  }
  for (const auto& [name, features, vectors] : schema.node_types) {
    if (!row.reads_features) break;
    const auto width = static_cast<int64_t>(features);
    const double bound = 1 / std::sqrt(static_cast<double>(width > 0 ? width : options.hidden));
    const auto uniform = [&](at::IntArrayRef sizes) {
      return torch::empty(sizes).uniform_(-bound, bound);
    };
    adaptation_weights_.emplace_back();
    if (width > 0) {
      adaptation_weights_.back() =
          register_parameter(adaptation_name(name, "weight"), uniform({options.hidden, width}));
    } else if (vectors > 0) {
      adaptation_weights_.back() =
          register_parameter(adaptation_name(name, "vectors"),
                             torch::randn({static_cast<int64_t>(vectors), options.hidden}));
    }
    adaptation_biases_.push_back(
        register_parameter(adaptation_name(name, "bias"), uniform({options.hidden})));
  }
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    const Place place = layer + 1 == options.layers ? Place::last : Place::inner;
    layers_.push_back(register_module(fmt::format("layer_{}", layer),
                                      make_layer({options_, schema_, meta_paths_, place})));
  }
}

LinearInputs::OfType EncoderImpl::linear_input(size_t type, const at::Tensor& input,
                                               int64_t rows) const {
  const auto& [name, features, vectors] = schema_.node_types[type];
  if (!row_of(options_.kind).reads_features) {
    return {.features = at::zeros({rows, options_.hidden}), .weight = {}, .bias = {}};
  }
  const at::Tensor& bias = adaptation_biases_[type];
  const auto width = static_cast<int64_t>(features);
  const bool fits = input.defined() && input.size(0) == rows &&
                    (width > 0 ? input.dim() == 2 && input.size(1) == width
                               : input.dim() == 1 && input.scalar_type() == at::kLong);
  if (rows > 0 && !fits && width > 0) {
    throw Error(
        fmt::format("the model expects {} features for each of {} instances of '{}', but the batch "
                    "has a tensor of another shape",
                    width, rows, name));
  }
  if (rows > 0 && !fits && vectors > 0) {
    throw Error(fmt::format(
        "the model has a vector for each node of type '{}', but the batch does not say which nodes "
        "its {} instances are; make it from the graph",
        name, rows));
  }
  if (rows > 0 && width > 0) {
    return {
        .features = input.to(bias.options()), .weight = adaptation_weights_[type], .bias = bias};
  }
  if (rows > 0 && vectors > 0) {
    return {.features = adaptation_weights_[type].index_select(0, input) + bias,
            .weight = {},
            .bias = {}};
  }
  return {.features = at::empty({rows, 0}, bias.options()),
          .weight = at::empty({options_.hidden, 0}, bias.options()),
          .bias = bias};
}

at::Tensor EncoderImpl::adapt_type(size_t type, const at::Tensor& input, int64_t rows) const {
  const at::Tensor adapted = linear_input(type, input, rows).rows(rows);
  return options_.tanh_adaptation ? adapted.tanh() : adapted;
}

LinearInputs EncoderImpl::linear_inputs(const GraphBatch& batch) const {
  LinearInputs inputs;
  for (size_t type = 0; type < schema_.node_types.size(); ++type) {
    const int64_t rows = int64_t{batch.type_offsets[type + 1]} - batch.type_offsets[type];
    const bool by_node = schema_.node_types[type].vectors > 0 && !batch.nodes.empty();
    inputs.types.push_back(
        linear_input(type, by_node ? batch.nodes[type] : batch.features[type], rows));
  }
  return inputs;
}

at::Tensor EncoderImpl::forward_layer_one(const GraphBatch& batch, AttentionTrace* trace) const {
  const LinearInputs inputs = linear_inputs(batch);
  const SharedPlan plan = batch.plans.empty() ? nullptr : batch.plans[0];
  const bool drops = options_.dropout > 0 && is_training();
  if (!options_.tanh_adaptation && !drops) {
    return layers_[0]->forward_linear(inputs, *batch.layers[0], trace, plan);
  }
  std::vector<at::Tensor> blocks;
  for (const LinearInputs::OfType& type : inputs.types) {
    const at::Tensor rows = type.rows(type.features.size(0));
    blocks.push_back(options_.tanh_adaptation ? rows.tanh() : rows);
  }
  const at::Tensor adapted = drop_out(at::cat(blocks), options_.dropout, is_training());
  return layers_[0]->forward(adapted, *batch.layers[0], trace, plan);
}

GraphBatch EncoderImpl::make_batch(const HeteroGraph& graph, const Subgraph& subgraph) const {
  return make_batch(graph, subgraph, static_cast<uint32_t>(layers_.size()));
}

GraphBatch EncoderImpl::make_batch(const HeteroGraph& graph, const Subgraph& subgraph,
                                   uint32_t layers) const {
  GraphBatch batch = reads_edges() ? graph_batch(graph, subgraph, layers)
                                   : graph_batch(graph, follow(meta_paths_, subgraph), layers);
  prepare(batch);
  return batch;
}

void EncoderImpl::prepare(GraphBatch& batch) const {
  batch.plans.clear();
  for (size_t layer = 0; layer < batch.layers.size(); ++layer) {
    const bool again = layer > 0 && batch.layers[layer] == batch.layers[layer - 1];
    batch.plans.push_back(again ? batch.plans.back() : layers_[0]->plan(*batch.layers[layer]));
  }
}

at::Tensor EncoderImpl::forward(const GraphBatch& batch, AttentionTrace* trace) const {
  if (batch.layers.size() != layers_.size()) report_misfit(batch);
  return forward_first(batch, trace);
}

at::Tensor EncoderImpl::forward_first(const GraphBatch& batch, AttentionTrace* trace) const {
  if (batch.layers.empty() || batch.layers.size() > layers_.size() ||
      batch.type_offsets.size() != schema_.node_types.size() + 1 ||
      batch.features.size() != schema_.node_types.size()) {
    report_misfit(batch);
  }
  if (trace != nullptr) trace->clear();
  at::Tensor vectors = forward_layer_one(batch, trace);
  for (size_t layer = 1; layer < batch.layers.size(); ++layer) {
    vectors = layers_[layer]->forward(vectors, *batch.layers[layer], trace,
                                      batch.plans.empty() ? nullptr : batch.plans[layer]);
  }
  return vectors;
}

void EncoderImpl::report_misfit(const GraphBatch& batch) const {
  throw Error(fmt::format(
      "the batch was made for {} layers and {} node types, but the model has {} and {}",
      batch.layers.size(), batch.features.size(), layers_.size(), schema_.node_types.size()));
}

int64_t num_parameters(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

}  // namespace hgt
