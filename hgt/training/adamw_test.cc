// AdamW against torch's own in double precision.
#include "hgt/training/adamw.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace hgt {
namespace {

constexpr int64_t kMany = 50000;  // more than one thread's share

using Tensors = std::vector<at::Tensor>;

Tensors random_parameters(int64_t largest) {
  Tensors parameters;
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{3, 5}, {1}, {largest}}) {
    parameters.push_back(torch::randn(sizes).requires_grad_());
  }
  return parameters;
}

Tensors copies(const Tensors& tensors, at::ScalarType type) {
  Tensors result;
  for (const at::Tensor& tensor : tensors) {
    result.push_back(
        tensor.detach().to(type, /*non_blocking=*/false, /*copy=*/true).requires_grad_());
  }
  return result;
}

// Gradients of very different sizes, some of them 0.
Tensors random_gradients(const Tensors& parameters, int step) {
  Tensors gradients;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor values = torch::randn(parameter.sizes());
    gradients.push_back(values * values.abs().gt(0.1) * std::pow(10.0, step % 4 - 2));
  }
  return gradients;
}

void set_gradients(Tensors& parameters, const Tensors& gradients) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].mutable_grad() = gradients[i].to(parameters[i].scalar_type()).clone();
  }
}

double farthest(const Tensors& a, const Tensors& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const at::Tensor apart = (a[i].detach().to(at::kDouble) - b[i].detach().to(at::kDouble)).abs();
    most = std::max(most, apart.max().item<double>());
  }
  return most;
}

bool all_equal(const Tensors& a, const Tensors& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!at::equal(a[i].detach(), b[i].detach())) return false;
  }
  return true;
}

// --- against torch ---

// weight decay, clip
class AdamWAndTorch : public testing::TestWithParam<std::tuple<double, double>> {};
INSTANTIATE_TEST_SUITE_P(Settings, AdamWAndTorch,
                         testing::Combine(testing::Values(0.0, 0.3), testing::Values(0.0, 1.5)));

TEST_P(AdamWAndTorch, TakeTheSameSteps) {
  const auto [weight_decay, clip] = GetParam();
  torch::manual_seed(21);
  Tensors own = random_parameters(300);
  Tensors expected = copies(own, at::kDouble);
  AdamW optimizer(own,
                  {.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = weight_decay});
  torch::optim::AdamW reference(
      expected,
      torch::optim::AdamWOptions(1).betas({0.8, 0.95}).eps(1e-6).weight_decay(weight_decay));
  int clipped = 0;
  for (int step = 0; step < 200; ++step) {
    const double rate = 0.01 * (1 + std::sin(step));
    const Tensors gradients = random_gradients(own, step);
    set_gradients(own, gradients);
    set_gradients(expected, gradients);
    double norm = 0;
    for (const at::Tensor& gradient : gradients) {
      norm += gradient.to(at::kDouble).pow(2).sum().item<double>();
    }
    norm = std::sqrt(norm);
    if (clip > 0) torch::nn::utils::clip_grad_norm_(expected, clip);
    if (clip > 0 && norm > clip) ++clipped;
    static_cast<torch::optim::AdamWOptions&>(reference.param_groups()[0].options()).lr(rate);
    reference.step();
    EXPECT_NEAR(optimizer.step(rate, clip), norm, 1e-9 * norm);
    ASSERT_LE(farthest(own, expected), 5e-6) << "step " << step;
  }
  EXPECT_EQ(optimizer.steps(), 200U);
  if (clip > 0) {  // steps of both kinds
    EXPECT_GT(clipped, 50);
    EXPECT_LT(clipped, 190);
  }
}

TEST(AdamW, HasTheUsualSettingsAsItsDefaults) {
  torch::manual_seed(22);
  Tensors own = random_parameters(10);
  Tensors expected = copies(own, at::kDouble);
  AdamW optimizer(own, {});
  torch::optim::AdamW reference(expected, torch::optim::AdamWOptions(0.1));
  for (int step = 0; step < 20; ++step) {
    const Tensors gradients = random_gradients(own, step);
    set_gradients(own, gradients);
    set_gradients(expected, gradients);
    reference.step();
    optimizer.step(0.1, 0);
  }
  EXPECT_LE(farthest(own, expected), 2e-5);
}

// --- clipping ---

TEST(AdamW, SaysTheNormOfAllGradientsBeforeClipping) {
  Tensors parameters = {torch::zeros({1}).requires_grad_(), torch::zeros({1}).requires_grad_()};
  AdamW optimizer(parameters, {});
  set_gradients(parameters, {torch::full({1}, 3.0), torch::full({1}, 4.0)});
  EXPECT_DOUBLE_EQ(optimizer.step(1e-3, 0.1), 5);
  EXPECT_NEAR(optimizer.first_moments()[0].item<double>(), 0.1 * 0.06, 1e-8);
  EXPECT_NEAR(optimizer.first_moments()[1].item<double>(), 0.1 * 0.08, 1e-8);
}

TEST(AdamW, LeavesGradientsBelowTheClipAsTheyAre) {
  torch::manual_seed(23);
  Tensors clipped = random_parameters(50);
  Tensors plain = copies(clipped, at::kFloat);
  const Tensors gradients = random_gradients(plain, 0);
  AdamW first(clipped, {});
  AdamW second(plain, {});
  set_gradients(clipped, gradients);
  set_gradients(plain, gradients);
  first.step(0.1, 1e6);
  second.step(0.1, 0);
  EXPECT_TRUE(all_equal(clipped, plain));
}

TEST(AdamW, ClipsGradientsWhoseSquaresWouldOverflowInFloat) {
  Tensors parameters = {torch::zeros({2}).requires_grad_()};
  AdamW optimizer(parameters, {});
  set_gradients(parameters, {torch::full({2}, 1e30)});
  EXPECT_NEAR(optimizer.step(0.1, 1) / 1e30, std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(parameters[0][0].item<double>(), -0.1, 1e-6);
}

// --- what is left alone ---

TEST(AdamW, LeavesParametersWithoutAGradientAlone) {
  torch::manual_seed(24);
  Tensors parameters = random_parameters(20);
  const Tensors before = copies(parameters, at::kFloat);
  AdamW optimizer(parameters, {.weight_decay = 0.5});
  parameters[0].mutable_grad() = torch::ones({3, 5});
  EXPECT_DOUBLE_EQ(optimizer.step(0.1, 0), std::sqrt(15.0));
  EXPECT_FALSE(at::equal(parameters[0], before[0]));
  EXPECT_TRUE(at::equal(parameters[1], before[1]));
  EXPECT_TRUE(at::equal(parameters[2], before[2]));
  EXPECT_EQ(optimizer.second_moments()[2].abs().max().item<double>(), 0);
}

TEST(AdamW, DropsTheGradientsItHasUsed) {
  Tensors parameters = {torch::ones({2}).requires_grad_()};
  AdamW optimizer(parameters, {});
  set_gradients(parameters, {torch::ones({2})});
  optimizer.step(0.1, 0);
  EXPECT_FALSE(parameters[0].grad().defined());
}

TEST(AdamW, MovesNothingWhenAGradientIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(), std::nan("")}) {
    torch::manual_seed(25);
    Tensors parameters = random_parameters(kMany);
    AdamW optimizer(parameters, {});
    set_gradients(parameters, random_gradients(parameters, 0));
    optimizer.step(0.1, 1);
    const Tensors before = copies(parameters, at::kFloat);
    const Tensors moments = copies(optimizer.first_moments(), at::kFloat);
    set_gradients(parameters, random_gradients(parameters, 1));
    parameters[2].mutable_grad()[kMany - 1] = bad;
    EXPECT_FALSE(std::isfinite(optimizer.step(0.1, 1)));
    EXPECT_TRUE(all_equal(parameters, before));
    EXPECT_TRUE(all_equal(optimizer.first_moments(), moments));
    EXPECT_EQ(optimizer.steps(), 1U);
  }
}

// --- the same in other circumstances ---

struct Trained {
  Tensors parameters;
  std::vector<double> norms;
};

Trained trained_with_threads(int threads) {
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  torch::manual_seed(26);
  Trained result{.parameters = random_parameters(3 * kMany), .norms = {}};
  AdamW optimizer(result.parameters, {});
  for (int step = 0; step < 5; ++step) {
    set_gradients(result.parameters, random_gradients(result.parameters, step));
    result.norms.push_back(optimizer.step(0.1, 1));
  }
  at::set_num_threads(before);
  return result;
}

TEST(AdamW, EndsAtTheSameNumbersWithAnyNumberOfThreads) {
  const Trained one = trained_with_threads(1);
  for (const int threads : {2, 3, 5}) {
    const Trained some = trained_with_threads(threads);
    EXPECT_TRUE(all_equal(one.parameters, some.parameters)) << threads;
    EXPECT_EQ(one.norms, some.norms) << threads;
  }
}

TEST(AdamW, ReadsGradientsInAnyLayout) {
  torch::manual_seed(27);
  Tensors parameters = {torch::randn({4, 6}).requires_grad_()};
  Tensors others = copies(parameters, at::kFloat);
  const at::Tensor turned = torch::randn({6, 4}).t();
  ASSERT_FALSE(turned.is_contiguous());
  AdamW first(parameters, {});
  AdamW second(others, {});
  parameters[0].mutable_grad() = turned;
  others[0].mutable_grad() = turned.contiguous();
  EXPECT_EQ(first.step(0.1, 1), second.step(0.1, 1));
  EXPECT_TRUE(all_equal(parameters, others));
}

TEST(AdamW, GoesOnFromItsSavedState) {
  torch::manual_seed(28);
  Tensors parameters = random_parameters(30);
  AdamW optimizer(parameters, {});
  for (int step = 0; step < 3; ++step) {
    set_gradients(parameters, random_gradients(parameters, step));
    optimizer.step(0.1, 1);
  }
  Tensors others = copies(parameters, at::kFloat);
  AdamW again(others, {});
  for (size_t i = 0; i < others.size(); ++i) {
    again.first_moments()[i].copy_(optimizer.first_moments()[i]);
    again.second_moments()[i].copy_(optimizer.second_moments()[i]);
  }
  again.set_steps(optimizer.steps());
  const Tensors gradients = random_gradients(parameters, 3);
  set_gradients(parameters, gradients);
  set_gradients(others, gradients);
  optimizer.step(0.1, 1);
  again.step(0.1, 1);
  EXPECT_TRUE(all_equal(parameters, others));
  EXPECT_EQ(again.steps(), 4U);
}

}  // namespace
}  // namespace hgt
