// RGCN by hand, and against matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "hgt/model/layer_makers.h"
#include "hgt/model/random_batch_test.h"

namespace hgt {
namespace {

std::shared_ptr<Layer> double_layer(int64_t hidden, const ModelSchema& schema, Place place) {
  torch::manual_seed(hash(hidden));
  const auto layer = make_rgcn_layer(
      {.options = {.hidden = hidden, .heads = 1}, .schema = schema, .place = place});
  const torch::NoGradGuard no_gradient;
  for (at::Tensor& weight : layer->parameters()) weight.add_(torch::randn(weight.sizes()), 0.2);
  layer->to(at::kDouble);
  return layer;
}

// a -e-> a and c -e-> a; b has no rows.
const ModelSchema kSmallSchema = {
    .node_types = {{"a"}, {"b"}, {"c"}},
    .edge_types = {"e", "self"},
    .relations = {{0, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 1}, {2, 1, 2}}};

// Inputs 0, 1, 2 are of type a, 3 of type c. Target 0 reads 1 and 2 by relation 0, 3 by relation 1,
// and itself; target 1, which is input 3, only itself.
LayerGraph rgcn_graph() {
  return {.source_offsets = {0, 3, 3, 4},
          .target_offsets = {0, 1, 1, 2},
          .edge_offsets = {0, 4, 5},
          .sources = {1, 3, 2, 0, 3},
          .relations = {Relation(0), Relation(1), Relation(0), Relation(2), Relation(4)},
          .gaps = {0, 0, 0, 0, 0},
          .gap_values = {0},
          .edge_ids = {0, 1, 2, 3, 4}};
}

// Relation 0, W the identity: mean of (3, -2) and (5, 4), which is (4, 1).
// Relation 1, W swaps: (1, 10) becomes (10, 1). W_0 = diag(2, -1): (1, 2) becomes (2, -2).
// Their sum with the bias (0.5, -0.5): (16.5, -0.5).
// Input 3 alone, by W_0: (2, -10), with the bias (2.5, -10.5).
TEST(Rgcn, GivesTheNumbersOfASmallExample) {
  const at::Tensor input =
      at::tensor({1.0, 2.0, 3.0, -2.0, 5.0, 4.0, 1.0, 10.0}, at::kDouble).view({4, 2});
  const at::Tensor expected = at::tensor({16.5, -0.5, 2.5, -10.5}, at::kDouble).view({2, 2});
  for (const Place place : {Place::inner, Place::last}) {
    const auto layer = double_layer(2, kSmallSchema, place);
    const torch::NoGradGuard no_gradient;
    auto parameters = layer->named_parameters();
    ASSERT_EQ(parameters.size(), 2U);
    ASSERT_EQ(parameters["weight"].sizes(), at::IntArrayRef({3, 2, 2}));
    parameters["weight"].copy_(
        at::tensor({1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 2.0, 0.0, 0.0, -1.0}).view({3, 2, 2}));
    parameters["bias"].copy_(at::tensor({0.5, -0.5}));
    const at::Tensor output = layer->forward(input, rgcn_graph(), nullptr, nullptr);
    const at::Tensor active = place == Place::last ? expected : expected.clamp_min(0);
    EXPECT_LE(distance(output, active), 1e-12);
  }
}

TEST(Rgcn, GivesATargetWithoutAnyEdgeItsBias) {
  LayerGraph graph = rgcn_graph();
  graph.edge_offsets = {0, 5, 5};
  graph.relations[4] = Relation(1);
  const auto layer = double_layer(2, kSmallSchema, Place::last);
  const at::Tensor output =
      layer->forward(torch::randn({4, 2}, at::kDouble), graph, nullptr, nullptr);
  EXPECT_TRUE(at::equal(output[1], layer->named_parameters()["bias"]));
}

// relu(sum over r of D_r^-1 A_r X W_r^T + b), with A_r the number of edges between two rows.
at::Tensor dense(Layer& layer, const ModelSchema& schema, const LayerGraph& graph,
                 const at::Tensor& input) {
  const size_t first_self = schema.relations.size() - schema.node_types.size();
  const auto parameters = layer.named_parameters();
  at::Tensor sum = at::zeros({graph.num_targets(), input.size(1)}, at::kDouble);
  for (size_t matrix = 0; matrix <= first_self; ++matrix) {
    const at::Tensor adjacency = at::zeros({graph.num_targets(), graph.num_sources()}, at::kDouble);
    for (uint32_t target = 0; target < graph.num_targets(); ++target) {
      for (const uint64_t edge : graph.incoming(target)) {
        const bool is_own = matrix == first_self ? index(graph.relations[edge]) >= first_self
                                                 : index(graph.relations[edge]) == matrix;
        if (is_own) adjacency[target][graph.sources[edge]] += 1;
      }
    }
    const at::Tensor shares = adjacency / adjacency.sum(1, /*keepdim=*/true).clamp_min(1);
    sum =
        sum + at::mm(at::mm(shares, input), parameters["weight"][static_cast<int64_t>(matrix)].t());
  }
  return at::relu(sum + parameters["bias"]);
}

TEST(Rgcn, IsTheProductOfMatricesInOutputsAndGradients) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Draws draws(hash(seed, 1));
    ModelSchema schema = random_schema(draws, 1 + draws.below(4), 1 + draws.below(9));
    const auto types = static_cast<uint32_t>(schema.node_types.size());
    const auto self = static_cast<uint32_t>(schema.edge_types.size());
    schema.edge_types.emplace_back("self");
    for (uint32_t type = 0; type < types; ++type) schema.relations.push_back({type, self, type});
    const LayerGraph graph = random_layer_graph(schema, draws);
    const auto layer = double_layer(5, schema, Place::inner);
    std::vector<std::vector<at::Tensor>> results;
    for (const bool plain : {true, false}) {
      layer->zero_grad();
      const at::Tensor input =
          random_rows(seed, graph.num_sources(), 5, at::kDouble).requires_grad_();
      const at::Tensor output = plain ? dense(*layer, schema, graph, input)
                                      : layer->forward(input, graph, nullptr, nullptr);
      output.backward(random_rows(seed + 1, output.size(0), 5, at::kDouble));
      results.push_back({output.detach(), input.grad()});
      for (const at::Tensor& weight : layer->parameters()) {
        const at::Tensor& gradient = weight.grad();
        results.back().push_back(gradient.defined() ? gradient.clone()
                                                    : at::zeros_like(weight).detach());
      }
    }
    for (size_t i = 0; i < results[0].size(); ++i) {
      EXPECT_LE(distance(results[1][i], results[0][i]),
                1e-11 * std::max(1.0, largest(results[0][i])))
          << "seed " << seed << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace hgt
