// GAT by hand, and against matrices.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hgt/model/layer_makers.h"
#include "hgt/model/random_batch_test.h"

namespace hgt {
namespace {

std::shared_ptr<Layer> double_layer(int64_t hidden, int64_t heads, Place place) {
  torch::manual_seed(hash(hidden, heads));
  const auto layer =
      make_gat_layer({.options = {.hidden = hidden, .heads = heads}, .place = place});
  const torch::NoGradGuard no_gradient;
  for (at::Tensor& weight : layer->parameters()) weight.add_(torch::randn(weight.sizes()), 0.2);
  layer->to(at::kDouble);
  return layer;
}

// Three types; the second has no rows. Target 0 reads 1 and itself, target 1, which is input 2,
// only itself.
LayerGraph gat_graph() {
  return {.source_offsets = {0, 2, 2, 3},
          .target_offsets = {0, 1, 1, 2},
          .edge_offsets = {0, 2, 3},
          .sources = {1, 0, 2},
          .relations = {Relation(0), Relation(1), Relation(3)},
          .gaps = {0, 0, 0},
          .gap_values = {0},
          .edge_ids = {7, 8, 9}};
}

// Two heads of width 1. H W: (0, 2), (1, -2), (-1, 6).
// Head 0, a_source = ln 3, a_target = 0: scores ln 3 and 0 of edges 1 -> 0 and 0 -> 0, so weights
// 3/4 and 1/4, and the sum is 0.75.
// Head 1, a_source = 1.5 ln 2, a_target = -ln 2: -2 * 1.5 ln 2 - 2 ln 2 = -5 ln 2, which the slope
// of 0.2 turns into -ln 2, and 3 ln 2 - 2 ln 2 = ln 2; powers 1/2 and 2, so weights 0.2 and 0.8,
// and the sum is -0.4 + 1.6 = 1.2.
// With the bias (0.25, -2.2): (1, -1), and (-0.75, 3.8) of the isolated target.
TEST(Gat, GivesTheNumbersOfASmallExample) {
  const at::Tensor input = at::tensor({0.0, 1.0, 1.0, -1.0, -1.0, 3.0}, at::kDouble).view({3, 2});
  const at::Tensor last = at::tensor({1.0, -1.0, -0.75, 3.8}, at::kDouble).view({2, 2});
  const at::Tensor inner =
      at::tensor({1.0, std::exp(-1.0) - 1, std::exp(-0.75) - 1, 3.8}, at::kDouble).view({2, 2});
  for (const Place place : {Place::inner, Place::last}) {
    const auto layer = double_layer(2, 2, place);
    const torch::NoGradGuard no_gradient;
    auto parameters = layer->named_parameters();
    ASSERT_EQ(parameters.size(), 4U);
    const double ln2 = std::log(2.0);
    parameters["attention.weight"].copy_(at::tensor({1.0, 0.0, 0.0, 2.0}).view({2, 2}));
    parameters["attention.bias"].copy_(at::tensor({0.25, -2.2}, at::kDouble));
    parameters["attention.at_sources"].copy_(at::tensor({std::log(3.0), 1.5 * ln2}, at::kDouble));
    parameters["attention.at_targets"].copy_(at::tensor({0.0, -ln2}, at::kDouble));
    AttentionTrace trace;
    const at::Tensor output = layer->forward(input, gat_graph(), &trace, nullptr);
    EXPECT_LE(distance(output, place == Place::last ? last : inner), 1e-12);
    ASSERT_EQ(trace.size(), 1U);
    EXPECT_LE(distance(trace[0].weights,
                       at::tensor({0.75, 0.2, 0.25, 0.8, 1.0, 1.0}, at::kDouble).view({3, 2})),
              1e-12);
    EXPECT_EQ(trace[0].edge_ids, (std::vector<uint64_t>{7, 8, 9}));
  }
}

TEST(Gat, AppendsToATrace) {
  const auto layer = double_layer(2, 1, Place::inner);
  AttentionTrace trace(2);
  layer->forward(torch::randn({3, 2}, at::kDouble), gat_graph(), &trace, nullptr);
  ASSERT_EQ(trace.size(), 3U);
  EXPECT_EQ(trace[2].weights.size(0), 3);
}

// --- against matrices ---

struct Matrices {
  at::Tensor edges;  // [targets, sources] how many
  at::Tensor own;    // [targets, sources] 1 at the target's own row
};

Matrices matrices_of(const LayerGraph& graph) {
  const at::Tensor none = at::zeros({graph.num_targets(), graph.num_sources()}, at::kDouble);
  Matrices made{.edges = none, .own = none.clone()};
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    for (uint32_t i = 0; i < graph.num_targets(type); ++i) {
      const uint32_t target = graph.target_offsets[type] + i;
      made.own[target][graph.source_offsets[type] + i] = 1;
      for (const uint64_t edge : graph.incoming(target)) {
        made.edges[target][graph.sources[edge]] += 1;
      }
    }
  }
  return made;
}

// Heads one after the other, edges that are there twice count twice. `shares` gets what one edge
// from s to t weighs: [heads] [targets, sources].
at::Tensor dense(Layer& layer, int64_t heads, const LayerGraph& graph, const at::Tensor& input,
                 std::vector<at::Tensor>& shares) {
  const auto [edges, own] = matrices_of(graph);
  const auto parameters = layer.named_parameters();
  const int64_t width = input.size(1) / heads;
  std::vector<at::Tensor> outputs;
  for (int64_t head = 0; head < heads; ++head) {
    const auto part = [&](const char* name) {
      return parameters[name].narrow(0, head * width, width);
    };
    const at::Tensor projected = at::mm(input, part("attention.weight").t());  // [sources, width]
    const at::Tensor at_sources = at::mv(projected, part("attention.at_sources"));
    const at::Tensor at_targets = at::mv(at::mm(own, projected), part("attention.at_targets"));
    const at::Tensor sums = at_targets.unsqueeze(1) + at_sources.unsqueeze(0);
    const at::Tensor scores = at::where(sums > 0, sums, 0.2 * sums);
    const at::Tensor powers = scores.exp();
    const at::Tensor totals = (powers * edges).sum(1, /*keepdim=*/true);
    shares.push_back(powers / at::where(totals > 0, totals, at::ones_like(totals)));
    outputs.push_back(at::mm(shares.back() * edges, projected) + part("attention.bias"));
  }
  return at::elu(at::cat(outputs, 1));
}

void expect_trace(const AttentionTrace& trace, const LayerGraph& graph,
                  const std::vector<at::Tensor>& shares) {
  ASSERT_EQ(trace.size(), 1U);
  for (uint32_t target = 0; target < graph.num_targets(); ++target) {
    for (const uint64_t edge : graph.incoming(target)) {
      for (size_t head = 0; head < shares.size(); ++head) {
        EXPECT_NEAR(
            trace[0].weights[static_cast<int64_t>(edge)][static_cast<int64_t>(head)].item<double>(),
            shares[head][target][graph.sources[edge]].item<double>(), 1e-12);
      }
    }
  }
}

TEST(Gat, IsTheProductOfMatricesInOutputsGradientsAndTrace) {
  constexpr int64_t kHeads[] = {1, 2, 3, 6};
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Draws draws(hash(seed, 1));
    const ModelSchema schema = random_schema(draws, 1 + draws.below(4), 1 + draws.below(9));
    const LayerGraph graph = random_layer_graph(schema, draws);
    if (graph.num_targets() == 0) continue;
    const int64_t heads = kHeads[seed % 4];
    const auto layer = double_layer(6, heads, Place::inner);
    AttentionTrace trace;
    std::vector<at::Tensor> shares;
    std::vector<std::vector<at::Tensor>> results;
    for (const bool plain : {true, false}) {
      layer->zero_grad();
      const at::Tensor input =
          random_rows(seed, graph.num_sources(), 6, at::kDouble).requires_grad_();
      const at::Tensor output = plain ? dense(*layer, heads, graph, input, shares)
                                      : layer->forward(input, graph, &trace, nullptr);
      output.backward(random_rows(seed + 1, output.size(0), 6, at::kDouble));
      results.push_back({output.detach(), input.grad()});
      for (const at::Tensor& weight : layer->parameters()) {
        results.back().push_back(weight.grad().clone());
      }
    }
    for (size_t i = 0; i < results[0].size(); ++i) {
      EXPECT_LE(distance(results[1][i], results[0][i]),
                1e-10 * std::max(1.0, largest(results[0][i])))
          << "seed " << seed << ' ' << i;
    }
    expect_trace(trace, graph, shares);
  }
}

}  // namespace
}  // namespace hgt
