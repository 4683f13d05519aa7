// For tests of the model: random schemas, layer graphs, sub-graphs and weights, and the layer
// worked out edge by edge.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "hgt/message/layer_graph.h"
#include "hgt/message/model_schema.h"
#include "hgt/model/graph_batch.h"
#include "hgt/model/hgt_layer.h"
#include "hgt/model/torch.h"
#include "hgt/random.h"
#include "hgt/run/model_options.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

// Different relations, of which several share an edge type.
inline ModelSchema random_schema(Draws& draws, uint64_t types, uint64_t relations) {
  ModelSchema schema;
  for (uint64_t type = 0; type < types; ++type) {
    schema.node_types.push_back({"type_" + std::to_string(type), draws.below(6)});
  }
  const uint64_t edge_types = types == 1 ? relations : std::max<uint64_t>(1, relations / 2);
  for (uint64_t edge = 0; edge < edge_types; ++edge) {
    schema.edge_types.push_back("edge_" + std::to_string(edge));
  }
  while (schema.relations.size() < relations) {
    const ModelSchema::MetaRelation relation{static_cast<uint32_t>(draws.below(types)),
                                             static_cast<uint32_t>(draws.below(edge_types)),
                                             static_cast<uint32_t>(draws.below(types))};
    const auto& known = schema.relations;
    if (std::find(known.begin(), known.end(), relation) == known.end()) {
      schema.relations.push_back(relation);
    }
  }
  return schema;
}

// The edges of one target: any order of relations, some of them repeated, perhaps none.
inline void add_random_edges(LayerGraph& graph, const ModelSchema& schema, uint32_t type,
                             Draws& draws, uint64_t most) {
  std::vector<uint32_t> usable;
  for (uint32_t relation = 0; relation < schema.relations.size(); ++relation) {
    const auto& [source, edge, target] = schema.relations[relation];
    const bool left_out = relation % 5 == 4;  // relations without edges
    if (target == type && graph.num_sources(source) > 0 && !left_out) usable.push_back(relation);
  }
  const uint64_t count = usable.empty() || draws.chance(0.15) ? 0 : draws.below(most);
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0 && draws.chance(0.1)) {
      graph.sources.push_back(graph.sources.back());
      graph.relations.push_back(graph.relations.back());
      graph.gaps.push_back(graph.gaps.back());
    } else {
      const uint32_t relation = usable[draws.below(usable.size())];
      const uint32_t source = schema.relations[relation].source;
      graph.sources.push_back(graph.source_offsets[source] +
                              static_cast<uint32_t>(draws.below(graph.num_sources(source))));
      graph.relations.push_back(Relation(relation));
      graph.gaps.push_back(static_cast<uint32_t>(draws.below(graph.gap_values.size())));
    }
  }
  graph.edge_offsets.push_back(graph.sources.size());
}

// Some types have no instance, most have fewer outputs than inputs.
inline LayerGraph random_layer_graph(const ModelSchema& schema, Draws& draws,
                                     uint64_t most_rows = 12, uint64_t most_edges = 12) {
  LayerGraph graph;
  graph.source_offsets = {0};
  graph.target_offsets = {0};
  graph.edge_offsets = {0};
  const bool trimmed = draws.chance(0.7);
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    const uint64_t inputs = draws.chance(0.15) ? 0 : 1 + draws.below(most_rows);
    const uint64_t outputs = trimmed ? draws.below(inputs + 1) : inputs;
    graph.source_offsets.push_back(graph.source_offsets.back() + static_cast<uint32_t>(inputs));
    graph.target_offsets.push_back(graph.target_offsets.back() + static_cast<uint32_t>(outputs));
  }
  graph.gap_values = {0.0, -3.0, 0.5, 17.25, -120.0, 1e6, 1.0};
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    for (uint32_t i = 0; i < graph.num_targets(type); ++i) {
      add_random_edges(graph, schema, type, draws, most_edges);
    }
  }
  for (uint64_t edge = 0; edge < graph.num_edges(); ++edge) graph.edge_ids.push_back(1000 + edge);
  return graph;
}

// A sub-graph as a sampler could have made it; the last of its types has no instance. `seeds` of
// its rows are seeds, one of them asked for twice.
inline Subgraph random_subgraph(const ModelSchema& schema, Draws& draws, uint32_t seeds) {
  LayerGraph all;
  all.source_offsets = {0};
  all.edge_offsets = {0};
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    const bool empty = type > 0 && type + 1 == schema.node_types.size();
    all.source_offsets.push_back(all.source_offsets.back() +
                                 (empty ? 0 : 8 + static_cast<uint32_t>(draws.below(8))));
  }
  all.target_offsets = all.source_offsets;
  all.gap_values = {-7, -1, 0, 2, 30};
  Subgraph subgraph;
  subgraph.type_offsets = all.source_offsets;
  for (uint32_t type = 0; type < all.num_types(); ++type) {
    for (uint32_t i = 0; i < all.num_sources(type); ++i) {
      add_random_edges(all, schema, type, draws, 4);
      subgraph.nodes.push_back(i);
    }
  }
  subgraph.edge_offsets = all.edge_offsets;
  subgraph.sources = all.sources;
  subgraph.relations = all.relations;
  for (const uint32_t gap : all.gaps) {
    subgraph.gaps.push_back(static_cast<int64_t>(all.gap_values[gap]));
  }
  for (uint32_t i = 0; i < seeds; ++i) {
    subgraph.seed_rows.push_back(static_cast<uint32_t>(draws.below(subgraph.num_rows())));
  }
  subgraph.seed_rows.push_back(subgraph.seed_rows.front());
  return subgraph;
}

// As graph_batch() makes it of a graph: `features` are those of all rows, by type [rows, width];
// undefined: the type has none.
inline GraphBatch batch_with_features(const Subgraph& subgraph,
                                      const std::vector<at::Tensor>& features, uint32_t layers,
                                      Trim trim = Trim::on) {
  const ReceptiveField field = receptive_field(subgraph, layers, trim);
  const auto tensor = [](const std::vector<uint32_t>& numbers) {
    return at::tensor(std::vector<int64_t>(numbers.begin(), numbers.end()), at::kLong);
  };
  const at::Tensor rows = tensor(field.rows);
  GraphBatch batch{.type_offsets = field.type_offsets,
                   .features = {},
                   .nodes = {},
                   .layers = field.layers,
                   .seed_rows = tensor(field.seed_rows),
                   .plans = {}};
  for (size_t type = 0; type < features.size(); ++type) {
    at::Tensor& selected = batch.features.emplace_back();
    const int64_t first = field.type_offsets[type];
    const int64_t last = field.type_offsets[type + 1];
    if (!features[type].defined() || first == last) continue;
    const auto offset = static_cast<int64_t>(subgraph.type_offsets[type]);
    selected = features[type].index_select(0, rows.slice(0, first, last) - offset);
  }
  return batch;
}

// --- a layer with all that it reads ---

struct RandomCase {
  uint64_t seed = 0;
  ModelOptions options = {};
  ModelSchema schema = {};
  LayerGraph graph = {};
};

// 48 seeds are every pair of sizes with both presets, -Heter and -RTE; what else can vary does so
// at random.
constexpr uint64_t kCases = 48;

inline RandomCase random_case(uint64_t seed) {
  constexpr int64_t kSizes[][2] = {{8, 1}, {8, 2}, {24, 3}, {32, 4}, {64, 8}, {256, 8}};
  Draws draws(hash(seed, 1));
  ModelOptions options = seed % 2 == 0 ? paper_preset() : release_preset();
  options.heter = seed / 2 % 2 == 0;
  options.rte = seed / 4 % 2 == 0;
  options.hidden = kSizes[seed / 8 % 6][0];
  options.heads = kSizes[seed / 8 % 6][1];
  for (bool* option :
       {&options.norm, &options.gated_skip, &options.matrix_per_head, &options.divide_by_head_width,
        &options.scaled_sinusoids, &options.paired_sinusoids}) {
    if (draws.chance(0.3)) *option = !*option;
  }
  if (draws.chance(0.4)) options.prior = Prior(draws.below(3));
  options.matrix_per_relation = Draws(hash(seed, 8)).chance(0.25);
  RandomCase made{.seed = seed, .options = options};
  made.schema = random_schema(draws, 1 + draws.below(8), 1 + draws.below(30));
  made.graph = random_layer_graph(made.schema, draws);
  return made;
}

// Equal weights for every path and precision: drawn in float, none of them at a special value.
inline HgtLayer random_layer(const RandomCase& made, LayerPath path, at::ScalarType precision) {
  ModelOptions options = made.options;
  options.path = path;
  torch::manual_seed(hash(made.seed, 2));
  HgtLayer layer(options, made.schema);
  const torch::NoGradGuard no_gradient;
  for (at::Tensor& parameter : layer->parameters()) {
    parameter.add_(torch::randn(parameter.sizes()), 0.1);
  }
  layer->to(precision);
  return layer;
}

inline at::Tensor random_rows(uint64_t seed, int64_t rows, int64_t width,
                              at::ScalarType precision) {
  torch::manual_seed(seed);
  return torch::randn({rows, width}).to(precision);
}

inline at::Tensor random_input(const RandomCase& made, at::ScalarType precision) {
  return random_rows(hash(made.seed, 3), made.graph.num_sources(), made.options.hidden, precision);
}

// --- what comes out, to be compared ---

inline double largest(const at::Tensor& tensor) {
  return tensor.numel() == 0 ? 0 : tensor.abs().max().item<double>();
}

inline double distance(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return a.sizes() == b.sizes() ? largest(a - b) : 1e300;
}

// "output", and the gradients of "input" and of every weight by name; in double.
using Results = std::map<std::string, at::Tensor>;

inline Results results_of(HgtLayer& layer, const LayerGraph& graph, const at::Tensor& input,
                          uint64_t seed) {
  const at::Tensor read = input.detach().clone().requires_grad_();
  torch::manual_seed(hash(seed, 4));  // of the dropout
  const at::Tensor output = layer->forward(read, graph);
  output.backward(random_rows(hash(seed, 5), output.size(0), output.size(1), output.scalar_type()));
  Results results = {{"output", output.detach().to(at::kDouble)}};
  const auto gradient = [](const at::Tensor& of) {
    return (of.grad().defined() ? of.grad() : at::zeros_like(of)).to(at::kDouble);
  };
  results["input"] = gradient(read);
  for (const auto& parameter : layer->named_parameters()) {
    results[parameter.key()] = gradient(parameter.value()).detach();
  }
  return results;
}

// --- the layer as the paper prints it, edge by edge, in double ---

struct LayerByHand {
  const HgtLayerImpl& layer;
  const ModelOptions& options;
  const ModelSchema& schema;
  const LayerGraph& graph;
  at::Tensor input;

  int64_t slice(uint32_t number) const { return options.heter ? number : 0; }

  // Which of K-, M- and Q-Linear, as they lie one below the other.
  enum Part : int64_t { kKey, kMessage, kQuery };
  // One of them, as [h, k].
  at::Tensor linear(uint32_t type, Part part, const at::Tensor& vector) const {
    const bool alone = options.matrix_per_relation;  // Q-Linear
    return linear(layer.projection_weight[slice(type)], layer.projection_bias[slice(type)],
                  alone ? int64_t{0} : int64_t{part}, vector);
  }
  at::Tensor linear(const at::Tensor& weights, const at::Tensor& biases, int64_t part,
                    const at::Tensor& vector) const {
    const int64_t d = options.hidden;
    const at::Tensor weight = weights.slice(0, part * d, part * d + d);
    return (at::mv(weight, vector) + biases.slice(0, part * d, part * d + d))
        .view({options.heads, -1});
  }

  // K-Linear W_ATT mu or M-Linear W_MSG of a source, [h, k], or what stands for it.
  at::Tensor sent(uint32_t relation, Part part, const at::Tensor& vector) const {
    if (options.matrix_per_relation) {
      return linear(layer.relation_weight[slice(relation)], layer.relation_bias[slice(relation)],
                    part, vector);
    }
    const int64_t h = options.heads;
    const int64_t k = options.hidden / h;
    const auto& [source, edge_type, unused] = schema.relations[relation];
    const at::Tensor& all = part == kKey ? layer.attention_weight : layer.message_weight;
    const at::Tensor projected = linear(source, part, vector).unsqueeze(1);
    const at::Tensor result =
        at::bmm(projected, all[slice(edge_type)].expand({h, k, k})).view({h, k});
    return part == kKey ? result * prior(relation).view({-1, 1}) : result;
  }

  at::Tensor source_vector(uint64_t edge) const {
    at::Tensor vector = input[graph.sources[edge]];
    if (!options.rte) return vector;
    const int64_t d = options.hidden;
    std::vector<double> base;
    for (int64_t j = 0; j < d; ++j) {
      const int64_t i = j / 2;
      const int64_t over = j % 2 == 0 || options.paired_sinusoids ? 2 * i : 2 * i + 1;
      const double angle = graph.gap_values[graph.gaps[edge]] /
                           std::pow(10000, static_cast<double>(over) / static_cast<double>(d));
      base.push_back(j % 2 == 0 ? std::sin(angle) : std::cos(angle));
      if (options.scaled_sinusoids) base.back() /= std::sqrt(static_cast<double>(d));
    }
    return vector + at::mv(layer.temporal_encoding->weight, at::tensor(base, at::kDouble)) +
           layer.temporal_encoding->bias;
  }

  at::Tensor prior(uint32_t relation) const {  // [h] or a number
    const bool by_edge = options.prior == Prior::edge_type_and_head;
    return layer.relation_prior[slice(by_edge ? schema.relations[relation].edge : relation)];
  }

  // H~ of one target; its attention goes to `weights` [edges, h].
  at::Tensor aggregate(uint32_t target, const at::Tensor& query, at::Tensor& weights) const {
    const int64_t h = options.heads;
    const int64_t k = options.hidden / h;
    const double divisor =
        std::sqrt(static_cast<double>(options.divide_by_head_width ? k : options.hidden));
    std::vector<at::Tensor> scores, messages;
    for (const uint64_t edge : graph.incoming(target)) {
      const uint32_t relation = index(graph.relations[edge]);
      const at::Tensor vector = source_vector(edge);
      scores.push_back((sent(relation, kKey, vector) * query).sum(1) / divisor);
      messages.push_back(sent(relation, kMessage, vector));
    }
    if (scores.empty()) return at::zeros({options.hidden}, at::kDouble);
    const at::Tensor powers = at::stack(scores).exp();  // [e, h]
    const at::Tensor attention = powers / powers.sum(0);
    const Numbers<uint64_t> edges = graph.incoming(target);
    weights.slice(0, static_cast<int64_t>(edges.first), static_cast<int64_t>(edges.last))
        .copy_(attention);
    return (at::stack(messages) * attention.unsqueeze(2)).sum(0).view({options.hidden});
  }

  // What becomes of a vector, given what it received.
  at::Tensor update(uint32_t type, const at::Tensor& before, const at::Tensor& received) const {
    const int64_t set = slice(type);
    const at::Tensor active = received * 0.5 * (1 + at::erf(received / std::numbers::sqrt2));
    at::Tensor vector = at::mv(layer.output_weight[set], active) + layer.output_bias[set];
    if (options.gated_skip) {
      const at::Tensor gate = 1 / (1 + at::exp(-layer.skip[set]));
      vector = gate * vector + (1 - gate) * before;
    } else {
      vector = vector + before;
    }
    if (!options.norm) return vector;
    const at::Tensor centered = vector - vector.mean();
    const at::Tensor unit = centered / at::sqrt(centered.square().mean() + 1e-5);
    return unit * layer.norm_weight[set] + layer.norm_bias[set];
  }

  at::Tensor forward(at::Tensor& weights) const {
    const torch::NoGradGuard no_gradient;
    weights = at::zeros({static_cast<int64_t>(graph.num_edges()), options.heads}, at::kDouble);
    at::Tensor outputs = at::zeros({graph.num_targets(), options.hidden}, at::kDouble);
    for (uint32_t type = 0; type < graph.num_types(); ++type) {
      for (uint32_t i = 0; i < graph.num_targets(type); ++i) {
        const uint32_t target = graph.target_offsets[type] + i;
        const at::Tensor before = input[graph.source_offsets[type] + i];
        const at::Tensor query = linear(type, kQuery, before);
        outputs[target] = update(type, before, aggregate(target, query, weights));
      }
    }
    return outputs;
  }
};

}  // namespace hgt
