// The Neural Tensor Network against plain loops, its gradients against finite differences, and what
// it can tell that a dot product cannot.
#include "hgt/model/neural_tensor_network.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "hgt/model/finite_differences_test.h"

namespace hgt {
namespace {

constexpr int64_t kPairWidth = 5;
constexpr int64_t kSlices = 3;

at::Tensor normal(at::IntArrayRef sizes) { return torch::randn(sizes, at::kDouble); }

NeuralTensorNetwork double_network() {
  torch::manual_seed(11);
  NeuralTensorNetwork network(kPairWidth, kSlices);
  network->to(at::kDouble);
  const torch::NoGradGuard no_gradient;
  network->bias.copy_(normal({kSlices}));
  return network;
}

// g(a, b) as printed, one number after the other.
double plain_score(const NeuralTensorNetworkImpl& network, const at::Tensor& a,
                   const at::Tensor& b) {
  const auto w = network.tensor.accessor<double, 3>();
  const auto v = network.linear.accessor<double, 2>();
  const auto left = a.accessor<double, 1>();
  const auto right = b.accessor<double, 1>();
  double score = 0;
  for (int64_t slice = 0; slice < network.bias.size(0); ++slice) {
    double sum = network.bias[slice].item<double>();
    for (int64_t i = 0; i < a.size(0); ++i) {
      sum += v[slice][i] * left[i] + v[slice][a.size(0) + i] * right[i];
      for (int64_t j = 0; j < b.size(0); ++j) {
        sum += left[i] * w[i][slice][j] * right[j] / static_cast<double>(a.size(0));
      }
    }
    score += network.output[slice].item<double>() * std::tanh(sum);
  }
  return score;
}

TEST(NeuralTensorNetwork, AgreesWithThePrintedEquation) {
  const NeuralTensorNetwork network = double_network();
  const torch::NoGradGuard no_gradient;
  const at::Tensor a = normal({7, kPairWidth});
  const at::Tensor b = normal({7, kPairWidth});
  const at::Tensor scores = network->forward(a, b);
  ASSERT_EQ(scores.sizes(), at::IntArrayRef({7}));
  for (int64_t pair = 0; pair < 7; ++pair) {
    EXPECT_NEAR(scores[pair].item<double>(), plain_score(*network, a[pair], b[pair]), 1e-12);
  }
}

TEST(NeuralTensorNetwork, ScoresNoPairsAndVectorsThatAreNotContiguous) {
  const NeuralTensorNetwork network = double_network();
  const torch::NoGradGuard no_gradient;
  EXPECT_EQ(network->forward(normal({0, kPairWidth}), normal({0, kPairWidth})).numel(), 0);
  const at::Tensor a = normal({kPairWidth, 4}).t();
  const at::Tensor b = normal({1, kPairWidth}).expand({4, kPairWidth});
  EXPECT_TRUE(at::allclose(network->forward(a, b), network->forward(a.contiguous(), b.contiguous()),
                           0, 1e-14));
}

TEST(NeuralTensorNetwork, HasTheGradientsOfFiniteDifferences) {
  NeuralTensorNetwork network = double_network();
  at::Tensor a = normal({6, kPairWidth}).requires_grad_();
  at::Tensor b = normal({6, kPairWidth}).requires_grad_();
  const at::Tensor weights = normal({6});
  const auto loss = [&] { return (network->forward(a, b) * weights).sum(); };
  loss().backward();
  std::vector<std::pair<std::string, at::Tensor>> inputs = {{"a", a}, {"b", b}};
  for (const auto& parameter : network->named_parameters()) {
    inputs.emplace_back(parameter.key(), parameter.value());
  }
  ASSERT_EQ(inputs.size(), 6U);  // tensor, linear, bias and output besides
  for (const auto& [name, tensor] : inputs) {
    ASSERT_TRUE(tensor.grad().defined()) << name;
    EXPECT_GT(tensor.grad().abs().max().item<double>(), 1e-3) << name;
    const at::Tensor expected =
        finite_differences(tensor.detach(), [&] { return loss().item<double>(); });
    EXPECT_LE((tensor.grad() - expected).abs().max().item<double>(), 1e-8) << name;
  }
}

// --- what it is for ---

// Pairs of vectors, each of them in both orders, and whether b lies to the left of a in the plane
// of their first two numbers. Turning a pair round turns the answer round, so whatever treats both
// alike, as a dot product does, is right in exactly half of them.
struct Pairs {
  at::Tensor a, b, is_left;
};

Pairs turned_pairs(int64_t count) {
  const at::Tensor a = torch::randn({count, 4});
  const at::Tensor b = torch::randn({count, 4});
  Pairs pairs{.a = at::cat({a, b}), .b = at::cat({b, a}), .is_left = {}};
  const auto column = [](const at::Tensor& table, int64_t i) { return table.select(1, i); };
  pairs.is_left =
      (column(pairs.a, 0) * column(pairs.b, 1) - column(pairs.a, 1) * column(pairs.b, 0))
          .gt(0)
          .to(at::kFloat);
  return pairs;
}

double accuracy(const at::Tensor& scores, const Pairs& pairs) {
  return scores.gt(0).to(at::kFloat).eq(pairs.is_left).to(at::kFloat).mean().item<double>();
}

TEST(NeuralTensorNetwork, LearnsARelationThatNoDotProductCanTell) {
  torch::manual_seed(3);
  const Pairs known = turned_pairs(512);
  const Pairs unknown = turned_pairs(512);
  NeuralTensorNetwork network(4, 4);
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(0.02));
  EXPECT_LE(accuracy(network->forward(unknown.a, unknown.b), unknown), 0.7);
  for (int step = 0; step < 400; ++step) {
    optimizer.zero_grad();
    torch::nn::functional::binary_cross_entropy_with_logits(network->forward(known.a, known.b),
                                                            known.is_left)
        .backward();
    optimizer.step();
  }
  EXPECT_GE(accuracy(network->forward(unknown.a, unknown.b), unknown), 0.95);
  EXPECT_DOUBLE_EQ(accuracy((unknown.a * unknown.b).sum(1), unknown), 0.5);
}

}  // namespace
}  // namespace hgt
