// The MLP and the majority guess by hand, and that they read no neighbor.
#include <gtest/gtest.h>

#include "hgt/model/layer_makers.h"
#include "hgt/model/random_batch_test.h"

namespace hgt {
namespace {

// Three types; the second has no rows. Targets are inputs 0 and 2; target 0 also has neighbors.
LayerGraph floors_graph() {
  return {.source_offsets = {0, 2, 2, 3},
          .target_offsets = {0, 1, 1, 2},
          .edge_offsets = {0, 3, 4},
          .sources = {1, 2, 0, 2},
          .relations = {Relation(0), Relation(1), Relation(2), Relation(4)},
          .gaps = {0, 0, 0, 0},
          .gap_values = {0},
          .edge_ids = {0, 1, 2, 3}};
}

// W . h + b: (1 + 2 * 2 + 0.5, -2 - 0.5) = (5.5, -2.5), and (5 + 6 + 0.5, -3 - 0.5).
TEST(Mlp, GivesTheNumbersOfASmallExample) {
  const at::Tensor input = at::tensor({1.0, 2.0, 30.0, -20.0, 5.0, 3.0}, at::kDouble).view({3, 2});
  const at::Tensor expected = at::tensor({5.5, -2.5, 11.5, -3.5}, at::kDouble).view({2, 2});
  for (const Place place : {Place::inner, Place::last}) {
    const auto layer = make_mlp_layer({.options = {.hidden = 2, .heads = 1}, .place = place});
    layer->to(at::kDouble);
    const torch::NoGradGuard no_gradient;
    auto parameters = layer->named_parameters();
    ASSERT_EQ(parameters.size(), 2U);
    parameters["linear.weight"].copy_(at::tensor({1.0, 2.0, 0.0, -1.0}).view({2, 2}));
    parameters["linear.bias"].copy_(at::tensor({0.5, -0.5}));
    const at::Tensor output = layer->forward(input, floors_graph(), nullptr, nullptr);
    const at::Tensor active = place == Place::last ? expected : expected.clamp_min(0);
    EXPECT_LE(distance(output, active), 1e-12);
  }
}

TEST(Mlp, ReadsNoNeighbor) {
  const auto layer = make_mlp_layer({.options = {.hidden = 4, .heads = 1}, .place = Place::last});
  const at::Tensor input = torch::randn({3, 4});
  const at::Tensor before = layer->forward(input, floors_graph(), nullptr, nullptr);
  LayerGraph other = floors_graph();
  other.sources = {0, 0, 1, 1};
  EXPECT_TRUE(at::equal(layer->forward(input, other, nullptr, nullptr), before));
  input[1] += 10;
  EXPECT_TRUE(at::equal(layer->forward(input, floors_graph(), nullptr, nullptr), before));
}

TEST(Majority, GivesEveryTargetZeroWhateverTheInput) {
  const auto layer = make_majority_layer({});
  EXPECT_TRUE(layer->parameters().empty());
  for (const at::ScalarType precision : {at::kFloat, at::kDouble}) {
    for (const double scale : {0.0, 1.0, 1e30}) {
      const at::Tensor input = scale * torch::randn({3, 4}).to(precision);
      const at::Tensor output = layer->forward(input, floors_graph(), nullptr, nullptr);
      EXPECT_EQ(output.sizes(), at::IntArrayRef({2, 4}));
      EXPECT_EQ(output.scalar_type(), precision);
      EXPECT_EQ(largest(output), 0);
    }
  }
}

}  // namespace
}  // namespace hgt
