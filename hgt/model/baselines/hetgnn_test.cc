// HetGNN by hand, and against a Bi-LSTM that is worked out step by step.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hgt/model/baselines/layer_values_test.h"
#include "hgt/model/layer_makers.h"
#include "hgt/model/random_batch_test.h"

namespace hgt {
namespace {

std::shared_ptr<Layer> double_layer(int64_t hidden, const ModelSchema& schema) {
  torch::manual_seed(hash(hidden));
  const auto layer =
      make_hetgnn_layer({.options = {.hidden = hidden, .heads = 1}, .schema = schema});
  layer->to(at::kDouble);
  return layer;
}

// b -e-> a and a -e-> a; `absent` has no rows.
const ModelSchema kHetgnnSchema = {
    .node_types = {{"a"}, {"absent"}, {"b"}},
    .edge_types = {"e", "self"},
    .relations = {{2, 0, 0}, {0, 0, 0}, {0, 1, 0}, {1, 1, 1}, {2, 1, 2}}};

// Target 0 reads inputs 2 and 3, both of type b, and itself; target 1, input 1, only itself.
LayerGraph hetgnn_graph() {
  return {.source_offsets = {0, 2, 2, 4},
          .target_offsets = {0, 2, 2, 2},
          .edge_offsets = {0, 3, 4},
          .sources = {2, 3, 0, 1},
          .relations = {Relation(0), Relation(0), Relation(2), Relation(2)},
          .gaps = {0, 0, 0, 0},
          .gap_values = {0},
          .edge_ids = {0, 1, 2, 3}};
}

at::Tensor small_input() {
  return at::tensor({1.0, -2.0, 5.0, 6.0, 0.3, -0.7, 1.1, 0.4}, at::kDouble).view({4, 2});
}

std::shared_ptr<Layer> silent_layer() {
  auto layer = double_layer(2, kHetgnnSchema);
  const torch::NoGradGuard no_gradient;
  for (at::Tensor& parameter : layer->parameters()) parameter.zero_();
  return layer;
}

// All weights are zero but those into g, the third gate: 1 from the first number forwards, 1 from
// the second number backwards. So i = f = o = 1/2, c' = c / 2 + tanh(x) / 2, h = tanh(c') / 2, and
// u = 0 makes both items of target 0 count one half.
TEST(Hetgnn, GivesTheNumbersOfASmallExample) {
  const auto layer = silent_layer();
  set(*layer, "reader_2_onwards_input_weight", {0, 0, 0, 0, 1, 0, 0, 0});
  set(*layer, "reader_2_backwards_input_weight", {0, 0, 0, 0, 0, 1, 0, 0});
  const at::Tensor output =
      layer->forward(small_input(), hetgnn_graph(), nullptr, nullptr).detach();
  const auto mean_of_two = [](double first, double second) {
    const double c1 = std::tanh(first) / 2;
    const double c2 = c1 / 2 + std::tanh(second) / 2;
    return (std::tanh(c1) / 2 + std::tanh(c2) / 2) / 2;
  };
  EXPECT_NEAR(output[0][0].item<double>(), (1 + mean_of_two(0.3, 1.1)) / 2, 1e-12);
  EXPECT_NEAR(output[0][1].item<double>(), (-2 + mean_of_two(0.4, -0.7)) / 2, 1e-12);
  EXPECT_TRUE(at::equal(output[1], small_input()[1])) << "an isolated target keeps its vector";
}

// A silent Bi-LSTM says zero. For f(t) = (1, -2), the half of u for targets gives -100 ln 2 to both
// items, which the slope of 0.01 turns into -ln 2; the half for items adds 101 ln 2 to f(t) alone.
// Powers 2 and 1/2, so f(t) counts 0.8.
TEST(Hetgnn, WeighsTheOwnVectorAgainstTheTypes) {
  const auto layer = silent_layer();
  const double ln2 = std::log(2.0);
  set(*layer, "at_items", {101 * ln2, 0});
  set(*layer, "at_targets", {0, 50 * ln2});
  const at::Tensor output =
      layer->forward(small_input(), hetgnn_graph(), nullptr, nullptr).detach();
  EXPECT_LE(distance(output[0], at::tensor({0.8, -1.6}, at::kDouble)), 1e-12);
}

// --- step by step ---

struct HetgnnByHand {
  Layer& layer;
  const LayerGraph& graph;
  size_t first_self;
  at::Tensor input;

  at::Tensor weight(const std::string& name) const { return layer.named_parameters()[name]; }

  // One direction over the rows, in this order: [steps, d / 2]. Gates lie as i, f, g, o.
  std::vector<at::Tensor> run(const std::string& reader, const std::string& direction,
                              const std::vector<int64_t>& rows) const {
    const int64_t half = input.size(1) / 2;
    at::Tensor h = at::zeros({half}, at::kDouble);
    at::Tensor c = at::zeros({half}, at::kDouble);
    std::vector<at::Tensor> said;
    for (const int64_t row : rows) {
      const at::Tensor gates = at::mv(weight(reader + direction + "_input_weight"), input[row]) +
                               weight(reader + direction + "_bias") +
                               at::mv(weight(reader + direction + "_state_weight"), h);
      const std::vector<at::Tensor> parts = gates.split(half);
      c = parts[1].sigmoid() * c + parts[0].sigmoid() * parts[2].tanh();
      h = parts[3].sigmoid() * c.tanh();
      said.push_back(h);
    }
    return said;
  }

  at::Tensor read(uint32_t type, std::vector<int64_t> rows) const {
    const std::string reader = "reader_" + std::to_string(type);
    const std::vector<at::Tensor> forwards = run(reader, "_onwards", rows);
    std::reverse(rows.begin(), rows.end());
    const std::vector<at::Tensor> backwards = run(reader, "_backwards", rows);
    return at::cat({at::stack(forwards).mean(0), at::stack(backwards).mean(0)});
  }

  // Rows of one type in the order of the edges; of more than ten, ten that are spread out.
  std::vector<int64_t> neighbors(uint32_t target, uint32_t type) const {
    std::vector<int64_t> all;
    for (const uint64_t edge : graph.incoming(target)) {
      const uint32_t source = graph.sources[edge];
      if (index(graph.relations[edge]) < first_self && source >= graph.source_offsets[type] &&
          source < graph.source_offsets[type + 1]) {
        all.push_back(source);
      }
    }
    if (all.size() <= 10) return all;
    std::vector<int64_t> ten;
    for (size_t i = 0; i < 10; ++i) ten.push_back(all[i * all.size() / 10]);
    return ten;
  }

  // The types' vectors and the target's own, by their attention.
  at::Tensor combine(uint32_t target, const at::Tensor& own) const {
    std::vector<at::Tensor> items = {own};
    for (uint32_t type = 0; type < graph.num_types(); ++type) {
      const std::vector<int64_t> rows = neighbors(target, type);
      if (!rows.empty()) items.push_back(read(type, rows));
    }
    const at::Tensor u = at::cat({weight("at_items"), weight("at_targets")}).view({-1});
    std::vector<at::Tensor> powers;
    for (const at::Tensor& item : items) {
      const at::Tensor score = at::dot(u, at::cat({item, own}));
      powers.push_back(at::where(score > 0, score, 0.01 * score).exp());
    }
    const at::Tensor shares = at::stack(powers) / at::stack(powers).sum();
    return at::mv(at::stack(items).t(), shares);
  }

  at::Tensor forward() const {
    std::vector<at::Tensor> outputs;
    for (uint32_t type = 0; type < graph.num_types(); ++type) {
      for (uint32_t i = 0; i < graph.num_targets(type); ++i) {
        outputs.push_back(
            combine(graph.target_offsets[type] + i, input[graph.source_offsets[type] + i]));
      }
    }
    return at::stack(outputs);
  }
};

TEST(Hetgnn, IsTheBiLstmStepByStepInOutputsAndGradients) {
  size_t long_lists = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Draws draws(hash(seed, 1));
    ModelSchema schema = random_schema(draws, 2 + seed % 2, 6);
    const auto types = static_cast<uint32_t>(schema.node_types.size());
    for (uint32_t type = 0; type < types; ++type) schema.relations.push_back({type, 0, type});
    const LayerGraph graph = random_layer_graph(schema, draws, 5, 30);
    if (graph.num_targets() == 0) continue;
    const auto layer = double_layer(4, schema);
    std::vector<std::vector<at::Tensor>> results;
    for (const bool plain : {true, false}) {
      layer->zero_grad();
      const at::Tensor input =
          random_rows(seed, graph.num_sources(), 4, at::kDouble).requires_grad_();
      const HetgnnByHand by_hand{*layer, graph, schema.relations.size() - types, input};
      const at::Tensor output =
          plain ? by_hand.forward() : layer->forward(input, graph, nullptr, nullptr);
      output.backward(random_rows(seed + 1, output.size(0), 4, at::kDouble));
      results.push_back({output.detach(), input.grad()});
      for (const at::Tensor& weight : layer->parameters()) {
        const at::Tensor& gradient = weight.grad();
        results.back().push_back(gradient.defined() ? gradient.clone()
                                                    : at::zeros_like(weight).detach());
      }
    }
    for (size_t i = 0; i < results[0].size(); ++i) {
      EXPECT_LE(distance(results[1][i], results[0][i]), 1e-11) << "seed " << seed << ' ' << i;
    }
    for (uint32_t target = 0; target < graph.num_targets(); ++target) {
      if (graph.incoming(target).size() > 20) ++long_lists;
    }
  }
  EXPECT_GT(long_lists, 3U) << "no list to be cut";
}

// --- ten neighbors ---

// Target 0 of type a reads so many inputs of type b.
LayerGraph star_graph(uint32_t neighbors) {
  LayerGraph graph{.source_offsets = {0, 1, 1, 1 + neighbors},
                   .target_offsets = {0, 1, 1, 1},
                   .edge_offsets = {0, neighbors + uint64_t{1}},
                   .sources = {},
                   .relations = std::vector<Relation>(neighbors, Relation(0)),
                   .gaps = std::vector<uint32_t>(neighbors + size_t{1}, 0),
                   .gap_values = {0},
                   .edge_ids = std::vector<uint64_t>(neighbors + size_t{1}, 0)};
  for (uint32_t i = 0; i < neighbors; ++i) graph.sources.push_back(1 + i);
  graph.sources.push_back(0);
  graph.relations.push_back(Relation(2));
  return graph;
}

TEST(Hetgnn, ReadsTenNeighborsOfATypeAtMost) {
  const auto layer = double_layer(4, kHetgnnSchema);
  for (const uint32_t neighbors : {9U, 10U, 11U, 12U, 25U}) {
    const at::Tensor input = random_rows(3, 1 + neighbors, 4, at::kDouble).requires_grad_();
    layer->forward(input, star_graph(neighbors), nullptr, nullptr).sum().backward();
    const at::Tensor is_read = input.grad().slice(0, 1).abs().sum(1) > 0;
    EXPECT_EQ(is_read.sum().item<int64_t>(), std::min(10U, neighbors)) << neighbors;
    EXPECT_TRUE(is_read[0].item<bool>()) << "the first is among them";
  }
}

TEST(Hetgnn, ReadsNeighborsInTheOrderOfTheirEdges) {
  const auto layer = double_layer(4, kHetgnnSchema);
  const at::Tensor input = random_rows(4, 4, 4, at::kDouble);
  LayerGraph turned = star_graph(3);
  std::swap(turned.sources[0], turned.sources[2]);
  const at::Tensor a = layer->forward(input, star_graph(3), nullptr, nullptr);
  const at::Tensor b = layer->forward(input, turned, nullptr, nullptr);
  EXPECT_GT(distance(a, b), 1e-6);
}

}  // namespace
}  // namespace hgt
