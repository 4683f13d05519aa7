// Sums and softmax over edges against plain tensor operations, against finite differences, and what
// must hold whatever the lists.
#include "hgt/model/edge_operations.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "hgt/model/random_batch_test.h"
#include "hgt/random.h"

namespace hgt {
namespace {

using Tensors = std::vector<at::Tensor>;
using Operation = std::function<at::Tensor(const Tensors& inputs)>;

constexpr uint64_t kLists = 24;
constexpr int64_t kHeads[] = {1, 2, 3, 8};

// Every third row has no edge, and the last sources are never used; of seed 0 there is no edge.
SharedLists random_lists(uint64_t seed, uint64_t most_rows = 30) {
  Draws draws(hash(seed, 1));
  const uint64_t rows = most_rows / 2 + draws.below(most_rows);
  const auto sources = static_cast<uint32_t>(4 + draws.below(most_rows));
  std::vector<uint64_t> offsets = {0};
  std::vector<uint32_t> edges;
  for (uint64_t row = 0; row < rows; ++row) {
    const uint64_t count = seed == 0 || row % 3 == 1 ? 0 : draws.below(7);
    for (uint64_t i = 0; i < count; ++i) {
      edges.push_back(static_cast<uint32_t>(draws.below(sources - 3)));
    }
    offsets.push_back(edges.size());
  }
  return std::make_shared<EdgeLists>(offsets, edges, sources);
}

int64_t num_edges(const SharedLists& lists) { return static_cast<int64_t>(lists->num_edges()); }

at::Tensor plain_mean(const at::Tensor& values, const EdgeLists& lists) {
  Tensors rows;
  for (uint32_t row = 0; row < lists.num_rows(); ++row) {
    at::Tensor sum = 0 * values[0];
    for (uint64_t e = lists.offsets[row]; e < lists.offsets[row + size_t{1}]; ++e) {
      sum = sum + values[lists.sources[e]];
    }
    rows.push_back(sum / static_cast<double>(std::max<uint64_t>(1, lists.length(row))));
  }
  return at::stack(rows);
}

// One operation on given lists: the fast way, the plain way, and inputs in double.
struct Case {
  std::string name;
  Operation fast, plain;
  Tensors inputs;
};

std::vector<Case> cases_of(const SharedLists& lists, int64_t heads, int64_t width) {
  torch::manual_seed(hash(num_edges(lists), heads));
  const auto normal = [](int64_t rows, int64_t columns) {
    return torch::randn({rows, columns}).to(at::kDouble);  // a float holds it exactly
  };
  const at::Tensor values = normal(lists->num_sources, heads * width);
  const at::Tensor per_edge = normal(num_edges(lists), heads);
  return {{"weighted_sum",
           [=](const Tensors& in) { return weighted_sum(in[0], in[1], lists); },
           [=](const Tensors& in) { return reference_weighted_sum(in[0], in[1], *lists); },
           {values, per_edge}},
          {"edge_mean",
           [=](const Tensors& in) { return edge_mean(in[0], lists); },
           [=](const Tensors& in) { return plain_mean(in[0], *lists); },
           {values}},
          {"end_sums",
           [=](const Tensors& in) { return end_sums(in[0], in[1], lists); },
           [=](const Tensors& in) { return reference_end_sums(in[0], in[1], *lists); },
           {normal(lists->num_sources, heads), normal(lists->num_rows(), heads)}},
          {"edge_softmax",
           [=](const Tensors& in) { return edge_softmax(in[0], lists); },
           [=](const Tensors& in) { return reference_edge_softmax(in[0], *lists); },
           {3 * per_edge}}};
}

Tensors leaves(const Tensors& inputs, at::ScalarType precision) {
  Tensors result;
  for (const at::Tensor& input : inputs) {
    result.push_back(input.to(precision).detach().clone().requires_grad_());
  }
  return result;
}

at::Tensor cotangent_of(const at::Tensor& output) {
  torch::manual_seed(8);
  return torch::randn(output.sizes()).to(output.scalar_type());
}

// The output and the gradients of all inputs.
Tensors results_of(const Operation& operation, const Tensors& inputs, at::ScalarType precision) {
  const Tensors read = leaves(inputs, precision);
  const at::Tensor output = operation(read);
  output.backward(cotangent_of(output));
  Tensors results = {output.detach()};
  for (const at::Tensor& input : read) results.push_back(input.grad());
  return results;
}

void expect_agreement(at::ScalarType precision, double tolerance) {
  for (uint64_t seed = 0; seed < kLists; ++seed) {
    const SharedLists lists = random_lists(seed);
    for (const int64_t heads : kHeads) {
      for (const Case& made : cases_of(lists, heads, 1 + static_cast<int64_t>(seed % 5))) {
        const Tensors fast = results_of(made.fast, made.inputs, precision);
        const Tensors plain = results_of(made.plain, made.inputs, precision);
        ASSERT_EQ(fast.size(), made.inputs.size() + 1);
        for (size_t i = 0; i < fast.size(); ++i) {
          EXPECT_EQ(fast[i].scalar_type(), precision);
          EXPECT_LE(distance(fast[i], plain[i]), tolerance * std::max(1.0, largest(plain[i])))
              << made.name << " seed " << seed << " heads " << heads << " tensor " << i;
        }
      }
    }
  }
}

TEST(EdgeOperations, AreThePlainOnesInDoubleInOutputsAndGradients) {
  expect_agreement(at::kDouble, 1e-12);
}

TEST(EdgeOperations, AreThePlainOnesInFloatInOutputsAndGradients) {
  expect_agreement(at::kFloat, 1e-5);
}

TEST(EdgeOperations, HaveTheGradientsOfFiniteDifferences) {
  constexpr double kStep = 1e-5;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    for (const Case& made : cases_of(random_lists(seed, 6), 2, 2)) {
      const Tensors read = leaves(made.inputs, at::kDouble);
      const at::Tensor output = made.fast(read);
      const at::Tensor cotangent = cotangent_of(output);
      output.backward(cotangent);
      const torch::NoGradGuard no_gradient;
      const auto loss = [&] { return (made.fast(read) * cotangent).sum().item<double>(); };
      for (const at::Tensor& input : read) {
        for (int64_t i = 0; i < input.numel(); ++i) {
          double& entry = input.data_ptr<double>()[i];
          const double before = entry;
          entry = before + kStep;
          const double above = loss();
          entry = before - kStep;
          const double slope = (above - loss()) / (2 * kStep);
          entry = before;
          EXPECT_NEAR(input.grad().view({-1})[i].item<double>(), slope, 1e-8)
              << made.name << " seed " << seed << " entry " << i;
        }
      }
    }
  }
}

// --- by hand ---

TEST(EdgeOperations, GiveTheNumbersOfASmallExample) {
  // Row 0 reads sources 1 and 0, row 1 nothing, row 2 source 1. Two heads of width 1.
  const auto lists = std::make_shared<EdgeLists>(std::vector<uint64_t>{0, 2, 2, 3},
                                                 std::vector<uint32_t>{1, 0, 1}, 3);
  const at::Tensor values = at::tensor({1.0, 2.0, 10.0, 20.0, 100.0, 200.0}).view({3, 2});
  const at::Tensor weights = at::tensor({0.5, 0.25, 2.0, 3.0, -1.0, 1.0}).view({3, 2});
  // 0.5 * 10 + 2 * 1, 0.25 * 20 + 3 * 2; nothing; -10, 20.
  EXPECT_TRUE(at::equal(weighted_sum(values, weights, lists),
                        at::tensor({7.0, 11.0, 0.0, 0.0, -10.0, 20.0}).view({3, 2})));
  EXPECT_TRUE(at::equal(edge_mean(values, lists),
                        at::tensor({5.5, 11.0, 0.0, 0.0, 10.0, 20.0}).view({3, 2})));
  const at::Tensor rows = at::tensor({0.1, 0.2, 7.0, 7.0, 0.3, 0.4}).view({3, 2});
  EXPECT_LE(distance(end_sums(values, rows, lists),
                     at::tensor({10.1, 20.2, 1.1, 2.2, 10.3, 20.4}).view({3, 2})),
            1e-5);
  // Powers 3 and 1 in head 0, 1 and 1 in head 1; alone: one.
  const at::Tensor scores = at::tensor({std::log(3.0), 5.0, 0.0, 5.0, -9.0, 9.0}).view({3, 2});
  EXPECT_LE(distance(edge_softmax(scores, lists),
                     at::tensor({0.75, 0.5, 0.25, 0.5, 1.0, 1.0}).view({3, 2})),
            1e-6);
}

// --- softmax ---

// A maximum over all rows, or none at all, would make 0 / 0 or infinity out of these.
TEST(EdgeSoftmax, SumsToOneForEachRowHoweverFarTheRowsLieApart) {
  for (const at::ScalarType precision : {at::kFloat, at::kDouble}) {
    for (uint64_t seed = 1; seed < kLists; ++seed) {
      const SharedLists lists = random_lists(seed);
      torch::manual_seed(seed);
      const at::Tensor scores = torch::randn({num_edges(lists), 3}).to(precision);
      for (int64_t e = 0; e < num_edges(lists); ++e) {
        scores[e].add_(lists->rows[static_cast<size_t>(e)] % 2 == 0 ? -1e4 : 1e4);
      }
      const at::Tensor weights = edge_softmax(scores, lists);
      EXPECT_LE(distance(weights, reference_edge_softmax(scores, *lists)), 1e-5);
      for (uint32_t row = 0; row < lists->num_rows(); ++row) {
        if (lists->length(row) == 0) continue;
        const at::Tensor own = weights.slice(0, static_cast<int64_t>(lists->offsets[row]),
                                             static_cast<int64_t>(lists->offsets[row + 1]));
        EXPECT_LE(largest(own.sum(0) - 1), 1e-5) << "seed " << seed << " row " << row;
        EXPECT_GT(own.min().item<double>(), 0) << "seed " << seed << " row " << row;
      }
    }
  }
}

TEST(EdgeSoftmax, GivesAllToAScoreFarAboveTheOthersOfItsRow) {
  const auto lists = std::make_shared<EdgeLists>(std::vector<uint64_t>{0, 3, 5},
                                                 std::vector<uint32_t>{0, 0, 0, 0, 0}, 1);
  const at::Tensor scores =
      at::tensor({-1e4, 1e4, 0.0, -1e4, -1e4}, at::kFloat).view({5, 1}).requires_grad_();
  const at::Tensor weights = edge_softmax(scores, lists);
  EXPECT_TRUE(at::equal(weights.view({-1}), at::tensor({0.0F, 1.0F, 0.0F, 0.5F, 0.5F})));
  weights.select(0, 1).sum().backward();
  EXPECT_TRUE(at::equal(scores.grad(), at::zeros({5, 1})));
}

// --- layouts, threads, refusals ---

TEST(EdgeOperations, ReadTensorsAndGradientsThatAreNotContiguous) {
  const SharedLists lists = random_lists(3);
  for (const Case& made : cases_of(lists, 2, 3)) {
    Tensors turned;
    for (const at::Tensor& input : made.inputs) turned.push_back(input.t().contiguous().t());
    const auto backward_with = [&](const Tensors& inputs, bool expanded) {
      Tensors read;
      for (const at::Tensor& input : inputs) read.push_back(input.detach().requires_grad_());
      const at::Tensor output = made.fast(read);
      const at::Tensor ones = at::ones({1, 1}, output.options()).expand(output.sizes());
      output.backward(expanded ? ones : ones.contiguous());
      Tensors results = {output.detach()};
      for (const at::Tensor& input : read) results.push_back(input.grad());
      return results;
    };
    const Tensors expected = backward_with(leaves(made.inputs, at::kDouble), false);
    const Tensors results = backward_with(turned, true);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(at::equal(results[i], expected[i])) << made.name << ' ' << i;
    }
  }
}

TEST(EdgeOperations, GiveTheSameBitsForOneAndTwoThreads) {
  const SharedLists lists = random_lists(5, 4000);
  ASSERT_GT(lists->num_rows(), 1000U) << "too few for two threads";
  const int before = at::get_num_threads();
  for (const at::ScalarType precision : {at::kFloat, at::kDouble}) {
    for (const Case& made : cases_of(lists, 4, 3)) {
      if (made.name == "edge_mean") continue;  // a weighted sum, and slow to compare
      at::set_num_threads(1);
      const Tensors one = results_of(made.fast, made.inputs, precision);
      at::set_num_threads(2);
      const Tensors two = results_of(made.fast, made.inputs, precision);
      const Tensors plain = results_of(made.plain, made.inputs, at::kDouble);
      for (size_t i = 0; i < one.size(); ++i) {
        EXPECT_TRUE(at::equal(one[i], two[i])) << made.name << ' ' << i;
        EXPECT_LE(distance(two[i], plain[i]), 1e-4) << made.name << ' ' << i;
      }
    }
  }
  at::set_num_threads(before);
}

// Weights that are not learned get no gradient, and the values' is still right.
TEST(EdgeOperations, GiveFixedWeightsNoGradient) {
  const SharedLists lists = random_lists(2);
  const at::Tensor values = torch::randn({lists->num_sources, 4}, at::kDouble).requires_grad_();
  const at::Tensor weights = torch::randn({num_edges(lists), 2}, at::kDouble);
  weighted_sum(values, weights, lists).sum().backward();
  EXPECT_FALSE(weights.grad().defined());
  const at::Tensor gradient = values.grad().clone();
  values.mutable_grad().zero_();
  reference_weighted_sum(values, weights, *lists).sum().backward();
  EXPECT_LE(distance(gradient, values.grad()), 1e-12);
}

TEST(EdgeOperations, RefuseSecondDerivatives) {
  for (const Case& made : cases_of(random_lists(4), 2, 2)) {
    const Tensors read = leaves(made.inputs, at::kDouble);
    const at::Tensor loss = made.fast(read).square().sum();
    EXPECT_ANY_THROW(
        torch::autograd::grad({loss}, {read[0]}, {}, /*retain_graph=*/true, /*create_graph=*/true))
        << made.name;
  }
}

}  // namespace
}  // namespace hgt
