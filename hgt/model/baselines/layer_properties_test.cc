// What must hold of the layer of every baseline: its gradients, absent types, isolated targets,
// plans that were made ahead, dropout and traces. The formulas have tests of their own.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/model/finite_differences_test.h"
#include "hgt/model/layer_makers.h"
#include "hgt/model/random_batch_test.h"

namespace hgt {
namespace {

constexpr int64_t kLayerWidth = 4;

// Type 1 has no row at all, type 3 no target; of both there are relations.
ModelSchema four_types() {
  return {.node_types = {{"a"}, {"absent"}, {"b"}, {"source"}},
          .edge_types = {"e", "f", "self"},
          .relations = {{0, 0, 0},
                        {2, 0, 0},
                        {3, 0, 0},
                        {1, 0, 0},
                        {0, 0, 2},
                        {2, 1, 2},
                        {0, 2, 0},
                        {1, 2, 1},
                        {2, 2, 2},
                        {3, 2, 3}}};
}

// As han sees it: relations are paths, from a type to itself; type b has one, the absent one too.
ModelSchema schema_of_paths() {
  ModelSchema schema = four_types();
  schema.relations = {{0, 0, 0}, {0, 1, 0}, {1, 0, 1}, {2, 0, 2},
                      {0, 2, 0}, {1, 2, 1}, {2, 2, 2}, {3, 2, 3}};
  return schema;
}

std::vector<MetaPath> four_paths() {
  std::vector<MetaPath> paths;
  for (const uint32_t type : {0U, 0U, 1U, 2U}) {
    paths.push_back({.name = "", .type = type, .steps = {}});
  }
  return paths;
}

// The first target of each type has nothing but its edge `self`, which every target has last.
LayerGraph graph_with_self(const ModelSchema& schema, uint64_t seed) {
  LayerGraph graph{.source_offsets = {0, 7, 7, 12, 15},
                   .target_offsets = {0, 5, 5, 9, 9},
                   .edge_offsets = {0},
                   .sources = {},
                   .relations = {},
                   .gaps = {},
                   .gap_values = {0},
                   .edge_ids = {}};
  Draws draws(hash(seed, 1));
  const auto types = static_cast<uint32_t>(schema.node_types.size());
  const auto first_self = static_cast<uint32_t>(schema.relations.size()) - types;
  for (uint32_t type = 0; type < types; ++type) {
    for (uint32_t i = 0; i < graph.num_targets(type); ++i) {
      for (uint32_t relation = 0; relation < first_self; ++relation) {
        const auto& [source, edge, target] = schema.relations[relation];
        if (target != type || graph.num_sources(source) == 0) continue;
        for (uint64_t count = i == 0 ? 0 : draws.below(4); count > 0; --count) {
          graph.sources.push_back(graph.source_offsets[source] +
                                  static_cast<uint32_t>(draws.below(graph.num_sources(source))));
          graph.relations.push_back(Relation(relation));
        }
      }
      graph.sources.push_back(graph.source_offsets[type] + i);
      graph.relations.push_back(Relation(first_self + type));
      graph.edge_offsets.push_back(graph.sources.size());
    }
  }
  for (uint32_t type = 0; type < types; ++type) {
    for (uint32_t i = 0; i < graph.num_sources(type); ++i) {
      const uint32_t row = graph.target_offsets[type] + i;
      const bool is_target = i < graph.num_targets(type);
      graph.source_degrees.push_back(is_target ? static_cast<uint32_t>(graph.incoming(row).size())
                                               : 1 + i);
    }
  }
  graph.gaps.assign(graph.num_edges(), 0);
  graph.edge_ids.resize(graph.num_edges());
  std::iota(graph.edge_ids.begin(), graph.edge_ids.end(), 500U);
  return graph;
}

// HGT has tests of its own. gcn with each of its weights.
std::vector<std::string> baselines() {
  std::vector<std::string> names = {"gcn_symmetric"};
  for (const ModelRow& row : kModels) {
    if (!row.has_variants) names.emplace_back(row.name);
  }
  return names;
}

class BaselineLayer : public testing::TestWithParam<std::string> {
 protected:
  bool is(const std::string& name) const { return name == GetParam(); }
  static ModelKind kind() {
    return GetParam() == "gcn_symmetric" ? ModelKind::gcn : from_word<ModelKind>(GetParam());
  }
  static const ModelRow& row() { return row_of(kind()); }
  ModelSchema schema() const { return is("han") ? schema_of_paths() : four_types(); }
  LayerGraph graph(uint64_t seed) const { return graph_with_self(schema(), seed); }

  // In double, with no parameter at a special value.
  std::shared_ptr<Layer> layer(Place place, double dropout = 0) const {
    torch::manual_seed(17);
    const std::shared_ptr<Layer> made =
        make_layer({.options = {.kind = kind(),
                                .hidden = kLayerWidth,
                                .heads = 2,
                                .dropout = dropout,
                                .degree_weights = is("gcn_symmetric") ? DegreeWeights::symmetric
                                                                      : DegreeWeights::mean},
                    .schema = schema(),
                    .paths = is("han") ? four_paths() : std::vector<MetaPath>{},
                    .place = place});
    const torch::NoGradGuard no_gradient;
    for (at::Tensor& parameter : made->parameters()) {
      parameter.add_(torch::randn(parameter.sizes()), 0.3);
    }
    made->to(at::kDouble);
    return made;
  }

  static at::Tensor input(uint64_t seed) { return random_rows(seed, 15, kLayerWidth, at::kDouble); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, BaselineLayer, testing::ValuesIn(baselines()),
                         [](const auto& test) { return test.param; });

TEST_P(BaselineLayer, HasTheGradientsOfFiniteDifferences) {
  for (const Place place : {Place::inner, Place::last}) {
    const std::shared_ptr<Layer> made = layer(place);
    const LayerGraph read = graph(3);
    const SharedPlan plan = made->plan(read);
    const at::Tensor vectors = input(4).requires_grad_();
    const at::Tensor cotangent = random_rows(5, 9, kLayerWidth, at::kDouble);
    const at::Tensor output = made->forward(vectors, read, nullptr, plan);
    if (output.requires_grad()) output.backward(cotangent);
    std::vector<std::pair<std::string, at::Tensor>> varied = {{"input", vectors}};
    for (const auto& parameter : made->named_parameters()) {
      varied.emplace_back(parameter.key(), parameter.value());
    }
    const torch::NoGradGuard no_gradient;
    const auto loss = [&] {
      return (made->forward(vectors, read, nullptr, plan) * cotangent).sum().item<double>();
    };
    for (const auto& [name, tensor] : varied) {
      const at::Tensor gradient =
          tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor).detach();
      EXPECT_LE(distance(gradient, finite_differences(tensor, loss)), 1e-8) << name;
    }
  }
}

TEST_P(BaselineLayer, GivesTheSameWithAPlanThatWasMadeAhead) {
  const std::shared_ptr<Layer> made = layer(Place::inner);
  const LayerGraph read = graph(6);
  const at::Tensor vectors = input(7);
  const SharedPlan plan = made->plan(read);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->source_rows, read.num_sources());
  const at::Tensor expected = made->forward(vectors, read, nullptr, nullptr);
  EXPECT_TRUE(at::equal(made->forward(vectors, read, nullptr, plan), expected));
  const SharedPlan other = layer(Place::last)->plan(read);
  EXPECT_TRUE(at::equal(made->forward(vectors, read, nullptr, other), expected))
      << "layers of one encoder share plans";
}

TEST_P(BaselineLayer, IsTheSameInTwoPartsForWholeGraphs) {
  const std::shared_ptr<Layer> made = layer(Place::inner);
  const LayerGraph read = graph(8);
  const torch::NoGradGuard no_gradient;
  const at::Tensor vectors = input(9);
  const at::Tensor prepared = at::empty({15, made->prepared_width(kLayerWidth)}, at::kDouble);
  made->prepare_rows(vectors, read.source_offsets, prepared);
  const at::Tensor outputs =
      made->forward_prepared(own_vectors(vectors, read), prepared, read, made->plan(read));
  EXPECT_TRUE(at::equal(outputs, made->forward(vectors, read, nullptr, nullptr)));
}

TEST_P(BaselineLayer, WritesARowForEachTargetAndNoneForAbsentTypes) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const at::Tensor outputs =
        layer(Place::inner)->forward(input(seed), graph(seed), nullptr, nullptr);
    EXPECT_EQ(outputs.sizes(), at::IntArrayRef({9, kLayerWidth}));
    EXPECT_TRUE(outputs.isfinite().all().item<bool>());
  }
}

TEST_P(BaselineLayer, ReadsAGraphWithoutAnyRow) {
  LayerGraph nothing;
  nothing.source_offsets.assign(5, 0);
  nothing.target_offsets = nothing.source_offsets;
  nothing.edge_offsets = {0};
  const at::Tensor vectors = at::zeros({0, kLayerWidth}, at::kDouble).requires_grad_();
  const at::Tensor outputs = layer(Place::inner)->forward(vectors, nothing, nullptr, nullptr);
  EXPECT_EQ(outputs.sizes(), at::IntArrayRef({0, kLayerWidth}));
}

// The first targets of types a and b: rows 0 and 5 of the outputs, 0 and 7 of the inputs.
TEST_P(BaselineLayer, GivesIsolatedTargetsWhatTheirOwnVectorsSay) {
  if (is("han")) GTEST_SKIP() << "its shares of paths are means over all targets";
  const std::shared_ptr<Layer> made = layer(Place::last);  // no number is cut off
  const LayerGraph read = graph(10);
  const at::Tensor vectors = input(11);
  const at::Tensor expected = made->forward(vectors, read, nullptr, nullptr);
  at::Tensor others = input(12);
  others[0] = vectors[0];
  others[7] = vectors[7];
  const at::Tensor outputs = made->forward(others, read, nullptr, nullptr);
  EXPECT_LE(distance(outputs[0], expected[0]), 1e-15);
  EXPECT_LE(distance(outputs[5], expected[5]), 1e-15);
  if (is("majority")) return;  // zeros
  for (int64_t row = 0; row < 9; ++row) {
    if (row % 5 != 0) {
      EXPECT_GT(distance(outputs[row], expected[row]), 1e-3) << row;
    }
  }
  others[0] += 1;
  EXPECT_GT(distance(made->forward(others, read, nullptr, nullptr)[0], expected[0]), 1e-3);
}

// A source that no edge comes from is as good as absent.
TEST_P(BaselineLayer, DoesNotReadRowsThatNoEdgeComesFrom) {
  const std::shared_ptr<Layer> made = layer(Place::inner);
  LayerGraph read = graph(13);
  for (uint32_t& source : read.sources) source = source == 14 ? 13 : source;
  const at::Tensor vectors = input(14);
  const at::Tensor expected = made->forward(vectors, read, nullptr, nullptr);
  vectors[14] += 100;
  EXPECT_TRUE(at::equal(made->forward(vectors, read, nullptr, nullptr), expected));
}

TEST_P(BaselineLayer, DropsNumbersInTrainingOnly) {
  const LayerGraph read = graph(15);
  const at::Tensor vectors = input(16);
  for (const Place place : {Place::inner, Place::last}) {
    const std::shared_ptr<Layer> made = layer(place, 0.5);
    const at::Tensor expected = layer(place)->forward(vectors, read, nullptr, nullptr);
    made->eval();
    EXPECT_TRUE(at::equal(made->forward(vectors, read, nullptr, nullptr), expected));
    made->train();
    const at::Tensor trained = made->forward(vectors, read, nullptr, nullptr);
    // What an encoder hands on to the task is complete, except where one kind of layer serves all
    // places.
    const bool drops = !is("majority") && (place == Place::inner || is("hetgnn") || is("han"));
    EXPECT_EQ(at::equal(trained, expected), !drops);
    const at::Tensor kept = at::where(trained == 0, at::zeros_like(expected), 2 * expected);
    if (drops) {
      EXPECT_LE(distance(trained, kept), 1e-12);
    }
  }
}

TEST_P(BaselineLayer, RefusesATraceUnlessItPaysAttentionAlongEdges) {
  const std::shared_ptr<Layer> made = layer(Place::inner);
  const LayerGraph read = graph(17);
  AttentionTrace trace;
  if (!row().pays_attention) {
    EXPECT_THROW(made->forward(input(18), read, &trace, nullptr), Error);
    EXPECT_TRUE(trace.empty());
    return;
  }
  made->forward(input(18).requires_grad_(), read, &trace, nullptr);
  ASSERT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace[0].edge_ids, read.edge_ids);
  EXPECT_FALSE(trace[0].weights.requires_grad());
  for (uint32_t target = 0; target < read.num_targets(); ++target) {
    const Numbers<uint64_t> edges = read.incoming(target);
    const at::Tensor own = trace[0].weights.slice(0, static_cast<int64_t>(edges.first),
                                                  static_cast<int64_t>(edges.last));
    EXPECT_LE(largest(own.sum(0) - 1), 1e-12) << "target " << target;
    EXPECT_GE(own.min().item<double>(), 0.0);
  }
}

TEST_P(BaselineLayer, ThatTellsTypesApartRefusesAGraphWithOthers) {
  if (!is("rgcn") && !is("hetgnn") && !is("han")) return;  // all types are one to these
  LayerGraph fewer = graph(3);
  fewer.source_offsets.pop_back();
  fewer.target_offsets.pop_back();
  EXPECT_THROW(layer(Place::inner)->plan(fewer), Error);
  if (is("han")) return;  // its relations are paths, of which the schema knows nothing
  LayerGraph other = graph(3);
  other.relations.back() = Relation(0);  // of type a, but the last target is of type b
  EXPECT_THROW(layer(Place::inner)->plan(other), Error);
}

TEST_P(BaselineLayer, RefusesThePlanOfAnotherKind) {
  if (!row().reads_neighbors) return;  // it reads no plan
  const LayerGraph read = graph(3);
  EXPECT_THROW(layer(Place::inner)->forward(input(4), read, nullptr, std::make_shared<LayerPlan>()),
               Error);
}

}  // namespace
}  // namespace hgt
