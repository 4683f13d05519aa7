#include "hgt/training/weight_average.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <stdexcept>

namespace hgt {
namespace {

at::Tensor parameter(std::vector<double> values) {
  return torch::tensor(values, at::kFloat).requires_grad_();
}

TEST(WeightAverage, FollowsTheRecursion) {
  at::Tensor weight = parameter({1, -2});
  WeightAverage average({weight}, 0.3);
  double first = 1;
  double second = -2;
  for (uint64_t step = 1; step <= 40; ++step) {
    {
      const torch::NoGradGuard no_gradient;
      weight[0] = static_cast<double>(step * step);
      weight[1] = 1.0 / static_cast<double>(step);
    }
    average.update(step);
    const double decay = std::min(0.3, static_cast<double>(step) / static_cast<double>(step + 9));
    first = decay * first + (1 - decay) * static_cast<double>(step * step);
    second = decay * second + (1 - decay) / static_cast<double>(step);
    EXPECT_NEAR(average.values()[0][0].item<double>(), first, 1e-5 * first) << step;
    EXPECT_NEAR(average.values()[0][1].item<double>(), second, 1e-5) << step;
  }
}

TEST(WeightAverage, IsInTheParametersOnlyAsLongAsItIsShown) {
  at::Tensor weight = parameter({4});
  WeightAverage average({weight}, 0.5);
  {
    const torch::NoGradGuard no_gradient;
    weight.fill_(8);
  }
  average.update(1000);  // (4 + 8) / 2
  {
    const WeightAverage::Shown shown(average);
    EXPECT_EQ(weight.item<float>(), 6);
  }
  EXPECT_EQ(weight.item<float>(), 8);
  EXPECT_EQ(average.values()[0].item<float>(), 6);
  try {
    const WeightAverage::Shown shown(average);
    throw std::runtime_error("in the middle of a validation");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(weight.item<float>(), 8);
  }
  EXPECT_TRUE(weight.requires_grad());
}

TEST(WeightAverage, WithoutDecayIsNone) {
  at::Tensor weight = parameter({4});
  WeightAverage average({weight}, 0);
  EXPECT_FALSE(average.is_on());
  average.update(1);
  EXPECT_TRUE(average.values().empty());
  const WeightAverage::Shown shown(average);
  EXPECT_EQ(weight.item<float>(), 4);
}

}  // namespace
}  // namespace hgt
