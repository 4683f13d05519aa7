// A first layer that reads features through a linear adaptation layer: computed from the features
// themselves it gives what it gives by way of the adapted rows, gradients included.
#include "hgt/model/typed_projection.h"

#include <gtest/gtest.h>

#include "hgt/model/hgt_layer.h"
#include "hgt/model/random_batch_test.h"

namespace hgt {
namespace {

constexpr int64_t kHidden = 16;
// Narrow features are read as they are, wide ones adapted first; the third type comes as rows; the
// fourth has no features at all.
constexpr std::array<int64_t, 4> kWidths = {3, 40, kHidden, 0};
constexpr size_t kRowsAsTheyAre = 2;

ModelSchema four_types(Draws& draws) { return random_schema(draws, 4, 12); }

ModelOptions small(ModelOptions options, LayerPath path) {
  options.hidden = kHidden;
  options.heads = 4;
  options.dropout = 0;
  options.path = path;
  return options;
}

struct Adaptation {
  LinearInputs inputs;
  std::map<std::string, at::Tensor> leaves;  // that gradients are wanted of

  Adaptation(const LayerGraph& graph, uint64_t seed) {
    for (uint32_t type = 0; type < kWidths.size(); ++type) {
      const int64_t width = kWidths[type];
      LinearInputs::OfType of{
          .features = random_rows(hash(seed, type), graph.num_sources(type), width, at::kDouble),
          .weight = {},
          .bias = {}};
      const std::string name = std::to_string(type);
      if (type == kRowsAsTheyAre) {
        leaves["rows " + name] = of.features.requires_grad_();
      } else {
        of.weight = random_rows(hash(seed, type, 1), kHidden, width, at::kDouble);
        of.bias = random_rows(hash(seed, type, 2), 1, kHidden, at::kDouble)[0].clone();
        leaves["weight " + name] = of.weight.requires_grad_();
        leaves["bias " + name] = of.bias.requires_grad_();
      }
      inputs.types.push_back(of);
    }
  }
};

Results linear_results(const ModelOptions& options, const ModelSchema& schema,
                       const LayerGraph& graph, uint64_t seed) {
  torch::manual_seed(seed);
  HgtLayer layer(options, schema);
  layer->to(at::kDouble);
  const Adaptation adaptation(graph, seed);
  AttentionTrace trace;
  const at::Tensor output = layer->forward_linear(adaptation.inputs, graph, &trace, nullptr);
  output.backward(random_rows(hash(seed, 5), output.size(0), kHidden, at::kDouble));
  Results results = {{"output", output.detach()}, {"attention", trace.at(0).weights}};
  const auto add = [&](const std::string& name, const at::Tensor& of) {
    results[name] = of.grad().defined() ? of.grad() : at::zeros_like(of).detach();
  };
  for (const auto& [name, leaf] : adaptation.leaves) add(name, leaf);
  for (const auto& parameter : layer->named_parameters()) add(parameter.key(), parameter.value());
  return results;
}

TEST(TypedProjection, FromFeaturesIsByWayOfRows) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Draws draws(hash(seed));
    const ModelSchema schema = four_types(draws);
    const LayerGraph graph = random_layer_graph(schema, draws, 40);
    ASSERT_GT(graph.num_sources(), 0U);
    for (ModelOptions preset : {paper_preset(), release_preset()}) {
      preset.heter = seed % 3 != 0;
      preset.rte = seed % 4 != 1;
      const Results expected =
          linear_results(small(preset, LayerPath::reference), schema, graph, seed);
      for (const auto& [name, found] :
           linear_results(small(preset, LayerPath::fused), schema, graph, seed)) {
        EXPECT_LE(distance(found, expected.at(name)), 1e-10 * std::max(1.0, largest(found)))
            << name << ", seed " << seed;
      }
    }
  }
}

// Both ways were taken above: what is narrow goes the first one.
TEST(TypedProjection, FeaturesGetTheGradientsOfTheirAdaptation) {
  const LayerGraph graph{.source_offsets = {0, 2, 3},
                         .target_offsets = {0, 1, 2},
                         .edge_offsets = {0, 1, 2},
                         .sources = {1, 2},
                         .relations = {Relation(0), Relation(1)},
                         .gaps = {0, 0},
                         .gap_values = {1.0},
                         .edge_ids = {0, 1}};
  const AttentionPlan plan(graph, {0, 1}, 2, false);
  const at::Tensor weight = random_rows(1, 2 * 12, 4, at::kDouble).view({2, 12, 4}).clone();
  const at::Tensor bias = random_rows(2, 2, 12, at::kDouble).clone();
  const at::Tensor features = random_rows(3, 2, 3, at::kDouble);
  const at::Tensor vectors = random_rows(4, 1, 4, at::kDouble);
  const at::Tensor a = random_rows(5, 4, 3, at::kDouble).clone().requires_grad_();
  const at::Tensor shift = random_rows(6, 1, 4, at::kDouble).clone().requires_grad_();
  const auto none = at::empty({0, 4}, weight.options());
  const auto loss_of = [&](const ProjectionInputs& inputs) {
    const ProjectionTables tables = project_all(graph, {0, 1}, plan, inputs, {weight, bias});
    return tables.sources.narrow(0, 0, 3).pow(2).sum() + tables.queries.pow(3).sum();
  };
  const at::Tensor folded =
      loss_of({.vectors = vectors,
               .adapted = {.features = {features, at::Tensor()}, .weight = a, .bias = shift},
               .time_vectors = none});
  folded.backward();
  const at::Tensor weight_gradient = a.grad().clone();
  const at::Tensor bias_gradient = shift.grad().clone();
  a.mutable_grad() = at::Tensor();
  shift.mutable_grad() = at::Tensor();
  const at::Tensor rows = at::cat({at::addmm(shift, features, a.t()), vectors});
  const at::Tensor plain = loss_of({.vectors = rows, .adapted = {}, .time_vectors = none});
  plain.backward();
  EXPECT_NEAR(folded.item<double>(), plain.item<double>(), 1e-10);
  EXPECT_LE(distance(weight_gradient, a.grad()), 1e-10);
  EXPECT_LE(distance(bias_gradient, shift.grad()), 1e-10);
  EXPECT_GT(largest(weight_gradient), 0.1);
}

}  // namespace
}  // namespace hgt
