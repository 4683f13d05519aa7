// HAN by hand, and its two levels against GAT and plain operations.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hgt/model/baselines/layer_values_test.h"
#include "hgt/model/layer_makers.h"
#include "hgt/model/random_batch_test.h"

namespace hgt {
namespace {

std::vector<MetaPath> paths_of(const std::vector<uint32_t>& types) {
  std::vector<MetaPath> paths;
  for (const uint32_t type : types) paths.push_back({.name = "", .type = type, .steps = {}});
  return paths;
}

std::shared_ptr<Layer> double_layer(const ModelOptions& options, size_t types,
                                    const std::vector<MetaPath>& paths) {
  torch::manual_seed(hash(options.heads));
  ModelSchema schema;
  for (size_t type = 0; type < types; ++type) {
    schema.node_types.push_back({"type_" + std::to_string(type)});
  }
  const auto layer = make_han_layer({.options = options, .schema = schema, .paths = paths});
  const torch::NoGradGuard no_gradient;
  for (at::Tensor& weight : layer->parameters()) weight.add_(torch::randn(weight.sizes()), 0.2);
  layer->to(at::kDouble);
  return layer;
}

// Two paths of type 0; type 1 has no rows, type 2 no path. Target 0 reaches input 1 by path 0 and
// input 2 by path 1, target 1 nothing; target 2 is input 3.
LayerGraph han_graph() {
  return {.source_offsets = {0, 3, 3, 4},
          .target_offsets = {0, 2, 2, 3},
          .edge_offsets = {0, 3, 4, 5},
          .sources = {1, 2, 0, 1, 3},
          .relations = {Relation(0), Relation(1), Relation(2), Relation(2), Relation(4)},
          .gaps = {0, 0, 0, 0, 0},
          .gap_values = {0},
          .edge_ids = {0, 1, 2, 3, 4}};
}

// Node level, W the identity and no scores, so plain means with the node itself; path 1 adds 1/2 to
// the second number:
//   Z_0 = elu((2, 3)), elu((3, 4));  Z_1 = elu((-1, 1.5)) = (1/e - 1, 1.5), elu((3, 4.5)).
// Semantic level, W reads the first number only, b = (1/2, 0), q = (2, 7):
//   w_0 = tanh(2.5) + tanh(3.5);  w_1 = tanh(1/e - 1/2) + tanh(3.5).
TEST(Han, GivesTheNumbersOfASmallExample) {
  const auto layer = double_layer({.hidden = 2, .heads = 1}, 3, paths_of({0, 0}));
  EXPECT_EQ(layer->named_parameters().size(), 2 * 4 + 3U);
  for (const std::string path : {"path_0", "path_1"}) {
    set(*layer, path + ".weight", {1, 0, 0, 1});
    set(*layer, path + ".at_sources", {0, 0});
    set(*layer, path + ".at_targets", {0, 0});
    set(*layer, path + ".bias", {0, path == "path_1" ? 0.5 : 0.0});
  }
  set(*layer, "semantic_0.linear.weight", {1, 0, 0, 0});
  set(*layer, "semantic_0.linear.bias", {0.5, 0});
  set(*layer, "semantic_0.query", {2, 7});
  const at::Tensor input =
      at::tensor({1.0, 2.0, 3.0, 4.0, -3.0, 0.0, -8.0, 9.0}, at::kDouble).view({4, 2});
  const at::Tensor output = layer->forward(input, han_graph(), nullptr, nullptr).detach();
  const double e = std::exp(1.0);
  const double share_0 = 1 / (1 + std::exp(std::tanh(1 / e - 0.5) - std::tanh(2.5)));
  const double share_1 = 1 - share_0;
  EXPECT_NEAR(output[0][0].item<double>(), share_0 * 2 + share_1 * (1 / e - 1), 1e-12);
  EXPECT_NEAR(output[0][1].item<double>(), share_0 * 3 + share_1 * 1.5, 1e-12);
  EXPECT_NEAR(output[1][0].item<double>(), 3, 1e-12);
  EXPECT_NEAR(output[1][1].item<double>(), share_0 * 4 + share_1 * 4.5, 1e-12);
  EXPECT_TRUE(at::equal(output[2], input[3])) << "a type without a path keeps its vectors";
}

TEST(Han, HasWeightsForPathsAndForTypesThatHaveSome) {
  const auto layer = double_layer({.hidden = 4, .heads = 2}, 3, paths_of({2, 0, 2}));
  const auto parameters = layer->named_parameters();
  for (const char* name : {"path_0.weight", "path_1.weight", "path_2.weight", "semantic_0.query",
                           "semantic_2.linear.weight"}) {
    EXPECT_TRUE(parameters.contains(name)) << name;
  }
  EXPECT_FALSE(parameters.contains("semantic_1.query"));
}

// --- against GAT ---

// Rows of all types, targets fewer than sources; edges of paths, then `self` as the last.
LayerGraph random_paths(const std::vector<MetaPath>& paths, Draws& draws) {
  LayerGraph graph{.source_offsets = {0, 8, 8, 14, 17},
                   .target_offsets = {0, 6, 6, 11, 13},
                   .edge_offsets = {0},
                   .sources = {},
                   .relations = {},
                   .gaps = {},
                   .gap_values = {0},
                   .edge_ids = {}};
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    for (uint32_t i = 0; i < graph.num_targets(type); ++i) {
      for (uint32_t path = 0; path < paths.size(); ++path) {
        if (paths[path].type != type) continue;
        for (uint64_t count = draws.below(4); count > 0; --count) {
          graph.sources.push_back(graph.source_offsets[type] +
                                  static_cast<uint32_t>(draws.below(graph.num_sources(type))));
          graph.relations.push_back(Relation(path));
        }
      }
      graph.sources.push_back(graph.source_offsets[type] + i);
      graph.relations.push_back(Relation(paths.size() + type));
      graph.edge_offsets.push_back(graph.sources.size());
    }
  }
  graph.gaps.assign(graph.num_edges(), 0);
  graph.edge_ids.assign(graph.num_edges(), 0);
  return graph;
}

// The edges of one path, and `self`, among the rows of its type.
LayerGraph graph_of_path(const LayerGraph& graph, uint32_t path, uint32_t type, size_t num_paths) {
  LayerGraph own;
  own.source_offsets = {0, graph.num_sources(type)};
  own.target_offsets = {0, graph.num_targets(type)};
  own.edge_offsets = {0};
  for (uint32_t i = 0; i < graph.num_targets(type); ++i) {
    for (const uint64_t edge : graph.incoming(graph.target_offsets[type] + i)) {
      const uint32_t relation = index(graph.relations[edge]);
      if (relation != path && relation != num_paths + type) continue;
      own.sources.push_back(graph.sources[edge] - graph.source_offsets[type]);
    }
    own.edge_offsets.push_back(own.sources.size());
  }
  return own;
}

// Both levels, of one type: GAT on the graph of each path, then the shares.
at::Tensor by_type(Layer& layer, const ModelOptions& options, const std::vector<MetaPath>& paths,
                   const LayerGraph& graph, uint32_t type, const at::Tensor& input) {
  const auto weights = layer.named_parameters();
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> powers;
  for (uint32_t path = 0; path < paths.size(); ++path) {
    if (paths[path].type != type) continue;
    const auto gat = make_gat_layer({.options = options, .place = Place::inner});
    gat->to(at::kDouble);
    for (const auto& own : gat->named_parameters()) {
      const std::string part = own.key().substr(std::string("attention.").size());
      const torch::NoGradGuard no_gradient;
      at::Tensor to = own.value();
      to.copy_(weights["path_" + std::to_string(path) + "." + part]);
    }
    outputs.push_back(
        gat->forward(input, graph_of_path(graph, path, type, paths.size()), nullptr, nullptr));
    const std::string semantic = "semantic_" + std::to_string(type);
    double sum = 0;
    for (int64_t row = 0; row < outputs.back().size(0); ++row) {
      const at::Tensor hidden = at::mv(weights[semantic + ".linear.weight"], outputs.back()[row]) +
                                weights[semantic + ".linear.bias"];
      sum += at::dot(weights[semantic + ".query"], hidden.tanh()).item<double>();
    }
    powers.push_back(
        at::tensor(sum / static_cast<double>(outputs.back().size(0)), at::kDouble).exp());
  }
  at::Tensor result = at::zeros_like(outputs[0]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    result += outputs[i] * powers[i] / at::stack(powers).sum();
  }
  return result;
}

TEST(Han, IsGatOnThePathsOfATypeMixedByTheirShares) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const torch::NoGradGuard no_gradient;
    const ModelOptions options{.hidden = 6, .heads = 1 + static_cast<int64_t>(seed % 3)};
    const std::vector<MetaPath> paths = paths_of({2, 0, 2, 0, 1, 2});
    const auto layer = double_layer(options, 4, paths);
    Draws draws(hash(seed));
    const LayerGraph graph = random_paths(paths, draws);
    const at::Tensor input = random_rows(seed, graph.num_sources(), 6, at::kDouble);
    const at::Tensor output = layer->forward(input, graph, nullptr, nullptr);
    ASSERT_EQ(output.size(0), 13);
    for (const uint32_t type : {0U, 2U}) {
      const at::Tensor rows =
          input.slice(0, graph.source_offsets[type], graph.source_offsets[type + 1]);
      EXPECT_LE(
          distance(output.slice(0, graph.target_offsets[type], graph.target_offsets[type + 1]),
                   by_type(*layer, options, paths, graph, type, rows)),
          1e-12)
          << "seed " << seed << " type " << type;
    }
    EXPECT_TRUE(at::equal(output.slice(0, 11, 13), input.slice(0, 14, 16)));
  }
}

// Nobody is a neighbor: each path says elu(W h + b) of the node itself.
TEST(Han, GivesIsolatedTargetsWhatThePathsSayOfTheirOwnVectors) {
  const auto layer = double_layer({.hidden = 4, .heads = 2}, 1, paths_of({0}));
  const LayerGraph graph{.source_offsets = {0, 3},
                         .target_offsets = {0, 2},
                         .edge_offsets = {0, 1, 2},
                         .sources = {0, 1},
                         .relations = {Relation(1), Relation(1)},
                         .gaps = {0, 0},
                         .gap_values = {0},
                         .edge_ids = {0, 1}};
  const at::Tensor input = random_rows(2, 3, 4, at::kDouble);
  const auto weights = layer->named_parameters();
  const at::Tensor expected =
      at::elu(at::mm(input.slice(0, 0, 2), weights["path_0.weight"].t()) + weights["path_0.bias"]);
  EXPECT_LE(distance(layer->forward(input, graph, nullptr, nullptr), expected), 1e-12);
}

}  // namespace
}  // namespace hgt
