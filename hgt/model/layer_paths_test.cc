// The fused path of a layer against the reference path, both against the layer edge by edge, and
// what must hold on every path.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/model/fused_attention.h"
#include "hgt/model/hgt_layer.h"
#include "hgt/model/random_batch_test.h"
#include "hgt/model/reference_attention.h"

namespace hgt {
namespace {

constexpr LayerPath kPaths[] = {LayerPath::reference, LayerPath::fused};

// In double both paths, and different orders of summation, differ by some hundred roundings.
constexpr double kPathDouble = 1e-10;

// In float neither path is right: the measure is what the plain path is off from itself in double,
// which counts the roundings of a case and its cancellations. The largest of a tensor's errors
// varies by chance, hence the factor. The roundings of the largest number on top are for gradients
// that cancel: the only edge into a target has the weight 1 whatever its score, which the plain
// path turns into exact zeros and the fused one into differences of equal sums.
constexpr double kFloatFactor = 4;
constexpr double kFloatRoundings = 32;

Results results_of(const RandomCase& made, LayerPath path, at::ScalarType precision) {
  HgtLayer layer = random_layer(made, path, precision);
  return results_of(layer, made.graph, random_input(made, precision), made.seed);
}

void expect_close(const Results& a, const Results& b, double tolerance, const std::string& where) {
  ASSERT_EQ(a.size(), b.size()) << where;
  for (const auto& [name, expected] : b) {
    EXPECT_LE(distance(a.at(name), expected), tolerance * std::max(1.0, largest(expected)))
        << where << ' ' << name;
  }
}

TEST(LayerPaths, AgreeInDoublePrecisionInOutputsAndGradients) {
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase made = random_case(seed);
    expect_close(results_of(made, LayerPath::fused, at::kDouble),
                 results_of(made, LayerPath::reference, at::kDouble), kPathDouble,
                 "seed " + std::to_string(seed));
  }
}

TEST(LayerPaths, TheFusedOneInFloatIsAsExactAsThePlainOneInFloat) {
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase made = random_case(seed);
    const Results exact = results_of(made, LayerPath::reference, at::kDouble);
    const Results plain = results_of(made, LayerPath::reference, at::kFloat);
    const Results fused = results_of(made, LayerPath::fused, at::kFloat);
    for (const auto& [name, expected] : exact) {
      const double rounding =
          std::numeric_limits<float>::epsilon() * std::max(1.0, largest(expected));
      EXPECT_LE(distance(fused.at(name), expected),
                kFloatFactor * distance(plain.at(name), expected) + kFloatRoundings * rounding)
          << "seed " << seed << ' ' << name;
    }
  }
}

TEST(LayerPaths, BothAreTheLayerEdgeByEdge) {
  for (uint64_t seed = 0; seed < kCases - 8; ++seed) {  // not the widest: edge by edge is slow
    const RandomCase made = random_case(seed);
    const at::Tensor input = random_input(made, at::kDouble);
    for (const LayerPath path : kPaths) {
      HgtLayer layer = random_layer(made, path, at::kDouble);
      layer->eval();
      at::Tensor weights;
      const at::Tensor expected =
          LayerByHand{*layer, made.options, made.schema, made.graph, input}.forward(weights);
      AttentionTrace trace;
      const at::Tensor output = layer->forward(input, made.graph, &trace).detach();
      EXPECT_LE(distance(output, expected), kPathDouble) << "seed " << seed;
      ASSERT_EQ(trace.size(), 1U);
      EXPECT_LE(distance(trace[0].weights, weights), kPathDouble) << "seed " << seed;
      EXPECT_EQ(trace[0].edge_ids, made.graph.edge_ids);
      EXPECT_FALSE(trace[0].weights.requires_grad());
    }
  }
}

// A source that is used thousands of times and types of thousands of rows: work is cut to pieces.
RandomCase hub_case(uint64_t seed) {
  RandomCase made = random_case(seed);
  Draws draws(hash(seed, 6));
  made.schema = random_schema(draws, 2, 5);
  made.graph = random_layer_graph(made.schema, draws, 3000, 4);
  for (uint64_t edge = 1; edge < made.graph.num_edges(); edge += 2) {
    const uint32_t type = made.schema.relations[index(made.graph.relations[edge])].source;
    made.graph.sources[edge] = made.graph.source_offsets[type];
  }
  return made;
}

TEST(LayerPaths, AgreeOnHubsAndManyRows) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const RandomCase made = hub_case(seed);
    expect_close(results_of(made, LayerPath::fused, at::kDouble),
                 results_of(made, LayerPath::reference, at::kDouble), kPathDouble,
                 "seed " + std::to_string(seed));
  }
}

// Central differences: off by the square of the step, and by the rounding of the loss over the
// step.
TEST(LayerPaths, FusedGradientsAreTheSlopesOfTheLoss) {
  constexpr double kStep = 1e-5;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    const RandomCase made = random_case(seed);
    HgtLayer layer = random_layer(made, LayerPath::fused, at::kDouble);
    const at::Tensor input = random_input(made, at::kDouble);
    Results gradients = results_of(layer, made.graph, input, seed);
    const at::Tensor cotangent =
        random_rows(hash(seed, 5), made.graph.num_targets(), made.options.hidden, at::kDouble);
    const torch::NoGradGuard no_gradient;
    const auto loss = [&] {
      torch::manual_seed(hash(seed, 4));
      return (layer->forward(input, made.graph) * cotangent).sum().item<double>();
    };
    std::map<std::string, at::Tensor> varied = {{"input", input}};
    for (const auto& parameter : layer->named_parameters()) {
      varied[parameter.key()] = parameter.value();
    }
    Draws draws(hash(seed, 7));
    for (auto& [name, values] : varied) {
      if (values.numel() == 0) continue;
      for (int i = 0; i < 4; ++i) {
        const auto place = static_cast<int64_t>(draws.below(static_cast<uint64_t>(values.numel())));
        const at::Tensor entry = values.view({-1})[place];
        const double before = entry.item<double>();
        entry.fill_(before + kStep);
        const double above = loss();
        entry.fill_(before - kStep);
        const double slope = (above - loss()) / (2 * kStep);
        entry.fill_(before);
        const double gradient = gradients.at(name).view({-1})[place].item<double>();
        EXPECT_NEAR(gradient, slope, 1e-6 * std::max(1.0, std::abs(slope)))
            << "seed " << seed << ' ' << name << ' ' << place;
      }
    }
  }
}

// --- order does not matter ---

std::vector<int64_t> shuffled(uint64_t first, uint64_t last, uint64_t key) {
  std::vector<int64_t> order;
  const Permutation permutation(last - first, key);
  for (uint64_t i = 0; i < last - first; ++i) {
    order.push_back(static_cast<int64_t>(first + permutation(i)));
  }
  return order;
}

// The graph with edge order[i] in the place of edge i.
LayerGraph with_edges_in_order(const LayerGraph& graph, const std::vector<int64_t>& order) {
  LayerGraph result = graph;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<size_t>(order[i]);
    result.sources[i] = graph.sources[from];
    result.relations[i] = graph.relations[from];
    result.gaps[i] = graph.gaps[from];
    result.edge_ids[i] = graph.edge_ids[from];
  }
  return result;
}

TEST(LayerPaths, TheOrderOfEdgesWithinATargetChangesTheTraceOnly) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    const RandomCase made = random_case(seed);
    std::vector<int64_t> order;
    for (uint32_t target = 0; target < made.graph.num_targets(); ++target) {
      const auto [first, last] = made.graph.incoming(target);
      const std::vector<int64_t> part = shuffled(first, last, seed + target);
      order.insert(order.end(), part.begin(), part.end());
    }
    const LayerGraph other = with_edges_in_order(made.graph, order);
    const at::Tensor input = random_input(made, at::kDouble);
    for (const LayerPath path : kPaths) {
      HgtLayer layer = random_layer(made, path, at::kDouble);
      layer->eval();
      AttentionTrace trace;
      const at::Tensor a = layer->forward(input, made.graph, &trace);
      const at::Tensor b = layer->forward(input, other, &trace);
      EXPECT_LE(distance(a, b), kPathDouble) << "seed " << seed;
      ASSERT_EQ(trace.size(), 2U);
      const at::Tensor moved = trace[0].weights.index_select(0, at::tensor(order, at::kLong));
      EXPECT_LE(distance(trace[1].weights, moved), kPathDouble) << "seed " << seed;
      EXPECT_EQ(trace[1].edge_ids, other.edge_ids);
    }
  }
}

// Outputs among themselves and the inputs behind them likewise: [type] new place -> old row.
std::vector<int64_t> shuffled_instances(const LayerGraph& graph, uint64_t key) {
  std::vector<int64_t> order;
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    const uint64_t first = graph.source_offsets[type];
    const uint64_t middle = first + graph.num_targets(type);
    const uint64_t last = graph.source_offsets[type + 1];
    for (const auto& part : {shuffled(first, middle, key), shuffled(middle, last, key)}) {
      order.insert(order.end(), part.begin(), part.end());
    }
  }
  return order;
}

TEST(LayerPaths, TheOrderOfInstancesWithinATypeChangesTheOrderOfOutputsOnly) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    const RandomCase made = random_case(seed);
    const LayerGraph& graph = made.graph;
    const std::vector<int64_t> order = shuffled_instances(graph, seed);
    std::vector<uint32_t> place(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      place[static_cast<size_t>(order[i])] = static_cast<uint32_t>(i);
    }
    std::vector<int64_t> edges;
    std::vector<int64_t> outputs;
    LayerGraph other = graph;
    other.edge_offsets = {0};
    for (uint32_t type = 0; type < graph.num_types(); ++type) {
      for (uint32_t i = 0; i < graph.num_targets(type); ++i) {
        const auto old_row = static_cast<uint32_t>(order[graph.source_offsets[type] + i]);
        const uint32_t old = graph.target_offsets[type] + old_row - graph.source_offsets[type];
        outputs.push_back(old);
        for (const uint64_t edge : graph.incoming(old)) edges.push_back(static_cast<int64_t>(edge));
        other.edge_offsets.push_back(edges.size());
      }
    }
    const std::vector<uint64_t> offsets = other.edge_offsets;
    other = with_edges_in_order(graph, edges);
    other.edge_offsets = offsets;
    for (uint32_t& source : other.sources) source = place[source];
    const at::Tensor input = random_input(made, at::kDouble);
    const at::Tensor moved = input.index_select(0, at::tensor(order, at::kLong));
    for (const LayerPath path : kPaths) {
      HgtLayer layer = random_layer(made, path, at::kDouble);
      layer->eval();
      const at::Tensor expected =
          layer->forward(input, graph).index_select(0, at::tensor(outputs, at::kLong));
      EXPECT_LE(distance(layer->forward(moved, other), expected), kPathDouble) << "seed " << seed;
    }
  }
}

// --- attention ---

TEST(LayerPaths, AttentionSumsToOneForEachTargetAndHead) {
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase made = random_case(seed);
    for (const LayerPath path : kPaths) {
      AttentionTrace trace;
      random_layer(made, path, at::kFloat)
          ->forward(random_input(made, at::kFloat), made.graph, &trace);
      ASSERT_EQ(trace.size(), 1U);
      EXPECT_EQ(trace[0].edge_ids, made.graph.edge_ids);
      for (uint32_t target = 0; target < made.graph.num_targets(); ++target) {
        const Numbers<uint64_t> edges = made.graph.incoming(target);
        if (edges.size() == 0) continue;
        const at::Tensor own = trace[0].weights.slice(0, static_cast<int64_t>(edges.first),
                                                      static_cast<int64_t>(edges.last));
        EXPECT_LE(largest(own.sum(0) - 1), 1e-5) << "seed " << seed << " target " << target;
        EXPECT_GE(own.min().item<double>(), 0.0);
      }
    }
  }
}

TEST(LayerPaths, AttentionIsReturnedOnlyWhenAskedForAndChangesNothing) {
  const RandomCase made = random_case(0);
  const int64_t d = made.options.hidden;
  const auto types = static_cast<int64_t>(made.schema.node_types.size());
  std::vector<uint32_t> type_sets(made.schema.node_types.size());
  std::iota(type_sets.begin(), type_sets.end(), 0U);
  const std::vector<uint32_t> relation_sets(made.schema.relations.size(), 0);
  const AttentionInputs inputs{
      .graph = made.graph,
      .type_sets = type_sets,
      .relation_sets = relation_sets,
      .node_vectors = random_input(made, at::kFloat),
      .time_vectors = {},
      .projection_weight = torch::randn({types, 3 * d, d}),
      .projection_bias = torch::randn({types, 3 * d}),
      .attention_matrices = torch::randn({1, 2, d / 2, d / 2}),
      .message_matrices = torch::randn({1, 2, d / 2, d / 2}),
      .plan = std::make_shared<AttentionPlan>(made.graph, relation_sets, 1, false)};
  for (const auto path : {reference_attention, fused_attention}) {
    const AttentionOutputs without = path(inputs, false);
    const AttentionOutputs with = path(inputs, true);
    EXPECT_FALSE(without.weights.defined());
    EXPECT_TRUE(with.weights.defined());
    EXPECT_TRUE(at::equal(without.aggregated, with.aggregated));
  }
}

TEST(LayerPaths, ATargetWithoutEdgesGetsTheBiasOfALinearAndItsInput) {
  ModelSchema schema{.node_types = {{"a"}, {"b"}}, .edge_types = {"e"}, .relations = {{0, 0, 1}}};
  LayerGraph graph{.source_offsets = {0, 2, 4},
                   .target_offsets = {0, 1, 3},
                   .edge_offsets = {},
                   .sources = {1},
                   .relations = {Relation(0)},
                   .gaps = {0},
                   .gap_values = {2.5},
                   .edge_ids = {0}};
  graph.edge_offsets = {0, 0, 0, 1};  // into the second b
  for (const LayerPath path : kPaths) {
    ModelOptions options = paper_preset();
    options.hidden = 16;
    options.heads = 2;
    options.path = path;
    HgtLayer layer(options, schema);
    const at::Tensor input = torch::randn({4, 16});
    const at::Tensor output = layer->forward(input, graph);
    ASSERT_EQ(output.size(0), 3);
    EXPECT_LE(largest(output[0] - (layer->output_bias[0] + input[0])), 1e-6);  // gelu(0) = 0
    EXPECT_LE(largest(output[1] - (layer->output_bias[1] + input[2])), 1e-6);
    EXPECT_GT(largest(output[2] - (layer->output_bias[1] + input[3])), 1e-3);
  }
}

TEST(LayerPaths, AGraphWithoutRowsHasNoOutputs) {
  const RandomCase made = random_case(1);
  LayerGraph graph;
  graph.source_offsets.assign(made.schema.node_types.size() + 1, 0);
  graph.target_offsets = graph.source_offsets;
  graph.edge_offsets = {0};
  for (const LayerPath path : kPaths) {
    HgtLayer layer = random_layer(made, path, at::kFloat);
    const at::Tensor input = torch::zeros({0, made.options.hidden}).requires_grad_();
    EXPECT_EQ(layer->forward(input, graph).size(0), 0);
  }
}

// --- threads, layouts, refusals ---

void expect_independence_of_threads(const RandomCase& made, LayerPath path) {
  const int before = at::get_num_threads();
  std::vector<Results> by_threads;
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
#ifdef HGT_SANITIZED  // under clang's OpenMP, OpenBLAS shares out its first product differently
    results_of(made, path, at::kDouble);
#endif
    by_threads.push_back(results_of(made, path, at::kDouble));
    for (const auto& [name, values] : results_of(made, path, at::kDouble)) {
      EXPECT_TRUE(at::equal(values, by_threads.back().at(name)))
          << name << ", " << threads << " threads, by "
          << distance(values, by_threads.back().at(name));
    }
  }
  at::set_num_threads(before);
  expect_close(by_threads[1], by_threads[0], kPathDouble, "threads");
}

TEST(LayerPaths, ResultsRepeatBitForBitAndDifferBetweenThreadsByRoundingOnly) {
  expect_independence_of_threads(random_case(0), LayerPath::reference);
  expect_independence_of_threads(random_case(41), LayerPath::fused);
  expect_independence_of_threads(hub_case(1), LayerPath::fused);
}

TEST(LayerPaths, InputsAndGradientsMayHaveAnyLayout) {
  const RandomCase made = random_case(0);  // a sum has an expanded gradient
  for (const LayerPath path : kPaths) {
    HgtLayer layer = random_layer(made, path, at::kDouble);
    const at::Tensor plain = random_input(made, at::kDouble).requires_grad_();
    const at::Tensor turned = plain.detach().t().contiguous().t().requires_grad_();
    ASSERT_FALSE(turned.is_contiguous());
    const at::Tensor output = layer->forward(plain, made.graph);
    output.backward(at::ones_like(output));
    layer->forward(turned, made.graph).sum().backward();
    EXPECT_LE(distance(turned.grad(), plain.grad()), kPathDouble);
  }
}

std::string refusal(const HgtLayer& layer, const at::Tensor& input, const LayerGraph& graph) {
  try {
    layer->forward(input, graph);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LayerPaths, TheFusedOneRefusesHalfPrecision) {
  const RandomCase made = random_case(0);
  const HgtLayer layer = random_layer(made, LayerPath::fused, at::kHalf);
  const std::string text = refusal(layer, random_input(made, at::kHalf), made.graph);
  EXPECT_NE(text.find("float or double"), std::string::npos) << text;
  EXPECT_NE(text.find("Half"), std::string::npos) << text;
}

TEST(LayerPaths, RefuseInputsAndGraphsThatDoNotFit) {
  const RandomCase made = random_case(0);
  const int64_t rows = made.graph.num_sources();
  const int64_t d = made.options.hidden;
  for (const LayerPath path : kPaths) {
    const HgtLayer layer = random_layer(made, path, at::kFloat);
    const std::string sizes = "one vector of " + std::to_string(d) + " numbers for each of " +
                              std::to_string(rows) + " rows";
    for (const at::Tensor& input :
         {torch::zeros({rows + 1, d}), torch::zeros({rows, d + 1}), torch::zeros({rows * d})}) {
      EXPECT_NE(refusal(layer, input, made.graph).find(sizes), std::string::npos);
    }
    LayerGraph types = made.graph;
    types.source_offsets.push_back(types.source_offsets.back());
    types.target_offsets.push_back(types.target_offsets.back());
    EXPECT_NE(refusal(layer, torch::zeros({rows, d}), types).find("node types"), std::string::npos);
    LayerGraph relation = made.graph;
    relation.relations[0] = Relation(made.schema.relations.size());
    EXPECT_NE(refusal(layer, torch::zeros({rows, d}), relation).find("edge 0 names"),
              std::string::npos);
    EXPECT_NE(refusal(layer, torch::zeros({rows, d}, at::kDouble), made.graph).find("convert"),
              std::string::npos);
  }
}

TEST(LayerPaths, RefuseAnEdgeBetweenTypesThatItsRelationDoesNotJoin) {
  ModelSchema schema;
  schema.node_types = {{"a", 0}, {"b", 0}};
  schema.edge_types = {"to"};
  schema.relations = {{0, 0, 1}};
  LayerGraph graph;
  graph.source_offsets = graph.target_offsets = {0, 1, 2};
  graph.edge_offsets = {0, 0, 1};
  graph.sources = {1};  // of type b, where the relation wants a
  graph.relations = {Relation(0)};
  graph.gaps = {0};
  graph.gap_values = {0};
  graph.edge_ids = {0};
  for (const LayerPath path : kPaths) {
    ModelOptions options = paper_preset();
    options.hidden = 8;
    options.heads = 2;
    options.path = path;
    const HgtLayer layer(options, schema);
    const std::string text = refusal(layer, torch::zeros({2, 8}), graph);
    EXPECT_NE(text.find("edge 0 joins types 1 and 1"), std::string::npos) << text;
  }
}

TEST(LayerPaths, TheFusedOneRefusesSecondDerivatives) {
  const RandomCase made = random_case(0);
  const HgtLayer layer = random_layer(made, LayerPath::fused, at::kDouble);
  const at::Tensor input = random_input(made, at::kDouble).requires_grad_();
  const at::Tensor loss = layer->forward(input, made.graph).sum();
  EXPECT_ANY_THROW(
      torch::autograd::grad({loss}, {input}, {}, /*retain_graph=*/true, /*create_graph=*/true));
}

}  // namespace
}  // namespace hgt
