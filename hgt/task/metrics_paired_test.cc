// Is one model better than another, or is it chance?
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "hgt/random.h"
#include "hgt/task/metrics.h"

namespace hgt {
namespace {

using Values = std::vector<double>;

// Box and Muller's.
double normal(Draws& draws) {
  return std::sqrt(-2 * std::log1p(-draws.unit())) * std::cos(2 * std::numbers::pi * draws.unit());
}

// The second model scores 0.5 everywhere, the first one differs by a normal number.
Values normal_values(Draws& draws, size_t count, double mean) {
  Values values;
  for (size_t i = 0; i < count; ++i) values.push_back(0.5 + mean + 0.1 * normal(draws));
  return values;
}

// The share of all sign flips whose sum is at least as far from 0.
double exact_p_value(const Values& a, const Values& b) {
  const auto sum = [&](uint32_t signs) {
    double total = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      total += ((signs >> i) & 1U) != 0 ? b[i] - a[i] : a[i] - b[i];
    }
    return std::abs(total);
  };
  uint32_t as_large = 0;
  for (uint32_t signs = 0; signs < 1U << a.size(); ++signs) {
    as_large += sum(signs) >= sum(0) - 1e-6 ? 1 : 0;
  }
  return as_large / std::pow(2.0, static_cast<double>(a.size()));
}

TEST(PairedTest, OfIdenticalRunsSeesNoDifference) {
  const Values values = {0.1, 0.9, 0.4, 0.4};
  const PairedTest found = paired_test(values, values);
  EXPECT_EQ(found.difference, 0);
  EXPECT_EQ(found.low, 0);
  EXPECT_EQ(found.high, 0);
  EXPECT_EQ(found.p_value, 1);
}

TEST(PairedTest, SeesAClearDifferenceWithItsSign) {
  Draws draws(hash(1));
  const Values better = normal_values(draws, 100, 0.1);
  const Values worse(100, 0.5);
  const double mean = std::accumulate(better.begin(), better.end(), 0.0) / 100 - 0.5;
  const PairedTest found = paired_test(better, worse);
  EXPECT_NEAR(found.difference, mean, 1e-12);
  EXPECT_LT(found.p_value, 0.001);
  EXPECT_GT(found.p_value, 0) << "chance is never ruled out";
  EXPECT_LT(found.low, found.difference);
  EXPECT_LT(found.difference, found.high);
  EXPECT_GT(found.low, 0);
  const PairedTest turned = paired_test(worse, better);
  EXPECT_NEAR(turned.difference, -mean, 1e-12);
  EXPECT_LT(turned.high, 0);
  EXPECT_LT(turned.p_value, 0.001) << "it is two-sided";
}

// On a grid, many flips come out as large as the signs that were seen: those count.
TEST(PairedTest, HasThePValueOfAllSignFlips) {
  Draws draws(hash(2));
  for (int round = 0; round < 60; ++round) {
    const bool on_a_grid = round % 3 != 2;
    const double step = round % 3 == 0 ? 0.1 : 1000.1;
    Values a;
    Values b;
    const uint64_t count = 8 + draws.below(3);
    for (uint64_t i = 0; i < count; ++i) {
      a.push_back(on_a_grid ? step * static_cast<double>(draws.below(5)) : draws.unit());
      b.push_back(on_a_grid ? step * static_cast<double>(draws.below(4)) : 0.8 * draws.unit());
    }
    // Four standard errors of 20,000 draws are at most 0.0142.
    EXPECT_NEAR(paired_test(a, b, 20000, 7).p_value, exact_p_value(a, b), 0.0145);
  }
}

TEST(PairedTest, OfOneExampleCannotTell) {
  const PairedTest found = paired_test(Values{0.75}, Values{0.25});
  EXPECT_EQ(found.difference, 0.5);
  EXPECT_EQ(found.low, 0.5);
  EXPECT_EQ(found.high, 0.5);
  EXPECT_EQ(found.p_value, 1);
}

TEST(PairedTest, IsAFunctionOfItsArguments) {
  Draws draws(hash(3));
  const Values a = normal_values(draws, 30, 0.02);
  const Values b(30, 0.5);
  const PairedTest once = paired_test(a, b, 1000, 5);
  const PairedTest again = paired_test(a, b, 1000, 5);
  EXPECT_EQ(once.p_value, again.p_value);
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  const PairedTest other = paired_test(a, b, 1000, 6);
  EXPECT_NE(once.low, other.low);
  EXPECT_NEAR(once.p_value, other.p_value, 0.1);
  EXPECT_EQ(once.difference, other.difference);
}

// Where both are alike, one data set of 20 looks significant at 5 %; the difference lies in the
// 95 % interval nearly so often (the bootstrap's is a little narrow for few examples).
TEST(PairedTest, IsCalibrated) {
  constexpr int kDataSets = 800;
  Draws draws(hash(4));
  for (const double truth : {0.0, 0.03}) {
    int significant = 0;
    int covered = 0;
    for (int i = 0; i < kDataSets; ++i) {
      const Values a = normal_values(draws, 40, truth);
      const PairedTest found = paired_test(a, Values(40, 0.5), 400, draws.bits());
      significant += found.p_value < 0.05 ? 1 : 0;
      covered += found.low <= truth && truth <= found.high ? 1 : 0;
    }
    // Three standard errors of 800 data sets are 0.023.
    if (truth == 0) {
      EXPECT_NEAR(significant, 0.05 * kDataSets, 0.023 * kDataSets);
    }
    if (truth != 0) {
      EXPECT_GT(significant, 0.3 * kDataSets) << "it sees something, too";
    }
    EXPECT_NEAR(covered, 0.94 * kDataSets, 0.027 * kDataSets);
  }
}

// Half of what lies outside is on each side.
TEST(PairedTest, HasAnIntervalOfTheNormalOnesWidth) {
  Draws draws(hash(5));
  const Values a = normal_values(draws, 200, 0.05);
  const PairedTest found = paired_test(a, Values(200, 0.5));
  const double error = spread(a).deviation / std::sqrt(200.0);
  EXPECT_NEAR(found.low, found.difference - 1.96 * error, 0.1 * error);
  EXPECT_NEAR(found.high, found.difference + 1.96 * error, 0.1 * error);
}

}  // namespace
}  // namespace hgt
