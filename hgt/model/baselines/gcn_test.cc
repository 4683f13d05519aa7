// GCN by hand, and against matrices.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hgt/error.h"
#include "hgt/model/layer_makers.h"
#include "hgt/model/random_batch_test.h"

namespace hgt {
namespace {

std::shared_ptr<Layer> double_layer(int64_t hidden, Place place,
                                    DegreeWeights weights = DegreeWeights::mean) {
  torch::manual_seed(hidden);
  const auto layer = make_gcn_layer(
      {.options = {.hidden = hidden, .heads = 1, .degree_weights = weights}, .place = place});
  layer->to(at::kDouble);
  return layer;
}

// Three types; the second has no rows. Target 0 reads 1, 2 and itself, target 1, which is input 2,
// only itself.
LayerGraph gcn_graph() {
  return {.source_offsets = {0, 2, 2, 3},
          .target_offsets = {0, 1, 1, 2},
          .edge_offsets = {0, 3, 4},
          .sources = {1, 2, 0, 2},
          .relations = {Relation(0), Relation(1), Relation(2), Relation(4)},
          .gaps = {0, 0, 0, 0},
          .gap_values = {0},
          .edge_ids = {0, 1, 2, 3}};
}

// Means: ((3, -2) + (5, 3) + (1, 2)) / 3 = (3, 1), and (5, 3).
// W . mean + b: (3 + 2 * 1 + 0.5, -1 - 0.5) = (5.5, -1.5), and (5 + 6 + 0.5, -3 - 0.5).
TEST(Gcn, GivesTheNumbersOfASmallExample) {
  const at::Tensor input = at::tensor({1.0, 2.0, 3.0, -2.0, 5.0, 3.0}, at::kDouble).view({3, 2});
  const at::Tensor expected = at::tensor({5.5, -1.5, 11.5, -3.5}, at::kDouble).view({2, 2});
  for (const Place place : {Place::inner, Place::last}) {
    const auto layer = double_layer(2, place);
    const torch::NoGradGuard no_gradient;
    auto parameters = layer->named_parameters();
    ASSERT_EQ(parameters.size(), 2U);
    parameters["linear.weight"].copy_(at::tensor({1.0, 2.0, 0.0, -1.0}).view({2, 2}));
    parameters["linear.bias"].copy_(at::tensor({0.5, -0.5}));
    const at::Tensor output = layer->forward(input, gcn_graph(), nullptr, nullptr);
    const at::Tensor active = place == Place::last ? expected : expected.clamp_min(0);
    EXPECT_LE(distance(output, active), 1e-12);
  }
}

// Degrees: 3 of target 0, 4 and 1 of inputs 1 and 2 (target 1).
// Sums: (1, 2) / 3 + (3, -2) / sqrt(12) + (5, 3) / sqrt(3), and (5, 3).
TEST(Gcn, WeighsSymmetricallyByTheDegreesOfTheSubGraph) {
  const at::Tensor input = at::tensor({1.0, 2.0, 3.0, -2.0, 5.0, 3.0}, at::kDouble).view({3, 2});
  LayerGraph graph = gcn_graph();
  graph.source_degrees = {3, 4, 1};
  const auto layer = double_layer(2, Place::last, DegreeWeights::symmetric);
  const torch::NoGradGuard no_gradient;
  auto parameters = layer->named_parameters();
  parameters["linear.weight"].copy_(at::tensor({1.0, 0.0, 0.0, 1.0}).view({2, 2}));
  parameters["linear.bias"].zero_();
  const at::Tensor output = layer->forward(input, graph, nullptr, nullptr);
  const at::Tensor expected =
      at::tensor({1.0 / 3 + 3 / std::sqrt(12.0) + 5 / std::sqrt(3.0),
                  2.0 / 3 - 2 / std::sqrt(12.0) + 3 / std::sqrt(3.0), 5.0, 3.0},
                 at::kDouble)
          .view({2, 2});
  EXPECT_LE(distance(output, expected), 1e-12);
  EXPECT_TRUE(layer->reads_degrees());
  EXPECT_THROW(layer->plan(gcn_graph()), Error) << "a graph that does not know its degrees";
}

TEST(Gcn, GivesATargetWithoutAnyEdgeItsBias) {
  LayerGraph graph = gcn_graph();
  graph.edge_offsets = {0, 4, 4};
  const auto layer = double_layer(2, Place::last);
  const at::Tensor output =
      layer->forward(torch::randn({3, 2}, at::kDouble), graph, nullptr, nullptr);
  EXPECT_TRUE(at::equal(output[1], layer->named_parameters()["linear.bias"]));
}

// relu(D^-1 A X W^T + b) or relu(D^-1/2 A D^-1/2 X W^T + b), with A the number of edges between two
// rows.
at::Tensor dense(Layer& layer, const LayerGraph& graph, const at::Tensor& input) {
  const at::Tensor adjacency = at::zeros({graph.num_targets(), graph.num_sources()}, at::kDouble);
  for (uint32_t target = 0; target < graph.num_targets(); ++target) {
    for (const uint64_t edge : graph.incoming(target)) adjacency[target][graph.sources[edge]] += 1;
  }
  const auto parameters = layer.named_parameters();
  const at::Tensor degrees = adjacency.sum(1, /*keepdim=*/true).clamp_min(1);
  at::Tensor weights = adjacency / degrees;
  if (layer.reads_degrees()) {
    const std::vector<double> of_sources(graph.source_degrees.begin(), graph.source_degrees.end());
    weights = adjacency / degrees.sqrt() / at::tensor(of_sources, at::kDouble).sqrt();
  }
  const at::Tensor means = at::mm(weights, input);
  return at::relu(at::mm(means, parameters["linear.weight"].t()) + parameters["linear.bias"]);
}

TEST(Gcn, IsTheProductOfMatricesInOutputsAndGradients) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Draws draws(hash(seed, 1));
    const ModelSchema schema = random_schema(draws, 1 + draws.below(4), 1 + draws.below(9));
    LayerGraph graph = random_layer_graph(schema, draws);
    for (uint32_t i = 0; i < graph.num_sources(); ++i) {
      graph.source_degrees.push_back(1 + static_cast<uint32_t>(draws.below(9)));
    }
    const auto layer = double_layer(6, Place::inner,
                                    seed % 2 == 0 ? DegreeWeights::mean : DegreeWeights::symmetric);
    std::vector<std::vector<at::Tensor>> results;
    for (const bool plain : {true, false}) {
      layer->zero_grad();
      const at::Tensor input =
          random_rows(seed, graph.num_sources(), 6, at::kDouble).requires_grad_();
      const at::Tensor output =
          plain ? dense(*layer, graph, input) : layer->forward(input, graph, nullptr, nullptr);
      output.backward(random_rows(seed + 1, output.size(0), 6, at::kDouble));
      results.push_back({output.detach(), input.grad()});
      for (const at::Tensor& weight : layer->parameters()) {
        results.back().push_back(weight.grad().clone());
      }
    }
    for (size_t i = 0; i < results[0].size(); ++i) {
      EXPECT_LE(distance(results[1][i], results[0][i]), 1e-11) << "seed " << seed << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace hgt
