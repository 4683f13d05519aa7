#include "hgt/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace hgt {
namespace {

// Counts of equally likely outcomes: is the chi-square statistic within five standard deviations of
// its mean? Below it the counts are too even to be random, above it they are not uniform.
void expect_uniform(const std::vector<uint64_t>& counts) {
  double total = 0;
  for (const uint64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double statistic = 0;
  for (const uint64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    statistic += off * off / expected;
  }
  const auto freedom = static_cast<double>(counts.size() - 1);
  EXPECT_NEAR(statistic, freedom, 5 * std::sqrt(2 * freedom)) << counts.size() << " outcomes";
}

TEST(Hash, DependsOnTheOrderOfItsArguments) {
  EXPECT_NE(hash(1, 2, 3), hash(1, 3, 2));
  EXPECT_NE(hash(1, 2), hash(2, 1));
  EXPECT_NE(hash(0, 0), hash(0, 0, 0));
  EXPECT_EQ(hash(1, 2, 3), hash(1, 2, 3));
}

TEST(Hash, HasNoCollisionsOnASmallGrid) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    for (uint64_t a = 0; a < 30; ++a) {
      for (uint64_t b = 0; b < 30; ++b) seen.insert(hash(seed, a, b));
    }
  }
  EXPECT_EQ(seen.size(), 27000U);
}

TEST(Hash, SetsEveryBitHalfOfTheTime) {
  constexpr uint64_t kDraws = 20000;
  for (unsigned bit = 0; bit < 64; ++bit) {
    uint64_t set = 0;
    for (uint64_t i = 0; i < kDraws; ++i) set += hash(5, i) >> bit & 1U;
    EXPECT_NEAR(static_cast<double>(set), kDraws / 2.0, 5 * std::sqrt(kDraws / 4.0)) << bit;
  }
}

TEST(Mix64, IsTheFinalizerOfSplitMix64) {
  // The first outputs of the published generator, seeded with 0 and with 1234567.
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mix64(1234567), 6457827717110365317U);
}

TEST(Draws, BelowIsUniformForAnyBound) {
  for (const uint64_t n : {2U, 3U, 5U, 6U, 7U, 10U, 64U, 100U, 1000U}) {
    Draws draws(hash(11, n));
    std::vector<uint64_t> counts(n);
    for (uint64_t i = 0; i < 100 * n + 20000; ++i) {
      const uint64_t drawn = draws.below(n);
      ASSERT_LT(drawn, n);
      ++counts[drawn];
    }
    expect_uniform(counts);
  }
}

TEST(Draws, BelowOneIsZero) {
  Draws draws(3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(draws.below(1), 0U);
}

// Three quarters of 2^64: without the rejection step one residue of three would come half the time.
TEST(Draws, BelowIsUniformForAHugeBoundThatDoesNotDivideTheRange) {
  constexpr uint64_t kBound = uint64_t{3} << 62U;
  Draws draws(17);
  std::vector<uint64_t> residues(3);
  std::vector<uint64_t> thirds(3);
  for (int i = 0; i < 30000; ++i) {
    const uint64_t drawn = draws.below(kBound);
    ASSERT_LT(drawn, kBound);
    ++residues[drawn % 3];
    ++thirds[drawn >> 62U];
  }
  expect_uniform(residues);
  expect_uniform(thirds);
}

TEST(Draws, ConsecutiveDrawsAreIndependent) {
  Draws draws(23);
  std::vector<uint64_t> pairs(49);
  for (int i = 0; i < 50000; ++i) {
    const uint64_t first = draws.below(7);
    ++pairs[first * 7 + draws.below(7)];
  }
  expect_uniform(pairs);
}

TEST(Draws, FirstDrawsOfHashedStreamsAreUniform) {
  std::vector<uint64_t> counts(10);
  for (uint64_t stream = 0; stream < 50000; ++stream) ++counts[Draws(hash(7, stream)).below(10)];
  expect_uniform(counts);
}

TEST(Draws, UnitIsUniformInZeroToOneExclusive) {
  Draws draws(29);
  std::vector<uint64_t> counts(20);
  for (int i = 0; i < 100000; ++i) {
    const double drawn = draws.unit();
    ASSERT_GE(drawn, 0.0);
    ASSERT_LT(drawn, 1.0);
    ++counts[static_cast<size_t>(drawn * 20)];
  }
  expect_uniform(counts);
  EXPECT_LT(to_unit(std::numeric_limits<uint64_t>::max()), 1.0);
  EXPECT_EQ(to_unit(0), 0.0);
}

TEST(Draws, ChanceComesTrueWithItsProbability) {
  for (const double probability : {0.0, 0.01, 0.3, 0.9, 1.0}) {
    Draws draws(31);
    int hits = 0;
    for (int i = 0; i < 100000; ++i) hits += draws.chance(probability) ? 1 : 0;
    const double deviation = std::sqrt(100000 * probability * (1 - probability));
    EXPECT_NEAR(hits, 100000 * probability, 5 * deviation) << probability;
  }
}

TEST(Draws, GeometricHasItsMeanAndItsShareOfZeros) {
  constexpr int kDraws = 100000;
  for (const double mean : {0.2, 1.0, 3.0, 25.0}) {
    Draws draws(hash(37, static_cast<uint64_t>(mean * 10)));
    double sum = 0;
    double zeros = 0;
    for (int i = 0; i < kDraws; ++i) {
      const uint64_t drawn = draws.geometric(mean);
      sum += static_cast<double>(drawn);
      zeros += drawn == 0 ? 1 : 0;
    }
    const double zero = 1 / (1 + mean);
    EXPECT_NEAR(sum / kDraws, mean, 5 * std::sqrt(mean * (1 + mean) / kDraws)) << mean;
    EXPECT_NEAR(zeros / kDraws, zero, 5 * std::sqrt(zero * (1 - zero) / kDraws)) << mean;
  }
}

TEST(Draws, GeometricOfMeanZeroIsZero) {
  Draws draws(41);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(draws.geometric(0.0), 0U);
}

TEST(Permutation, IsABijectionThatInverseUndoesForEverySize) {
  for (uint64_t size = 1; size <= 2000; size += size < 300 ? 1 : 7) {
    const Permutation permutation(size, hash(43, size));
    std::vector<bool> hit(size);
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t image = permutation(i);
      ASSERT_LT(image, size);
      ASSERT_FALSE(hit[image]) << "size " << size << " meets " << image << " twice";
      hit[image] = true;
      ASSERT_EQ(permutation.inverse(image), i);
    }
  }
}

TEST(Permutation, IsNotTheIdentityNorNearIt) {
  uint64_t fixed = 0;
  uint64_t sizes = 0;
  for (uint64_t size = 10; size <= 2000; size += 10, ++sizes) {
    const Permutation permutation(size, 47);
    uint64_t here = 0;
    for (uint64_t i = 0; i < size; ++i) here += permutation(i) == i ? 1 : 0;
    EXPECT_LT(here, size / 2) << size;
    fixed += here;
  }
  // A random permutation has one fixed point on average, whatever its size.
  EXPECT_LT(fixed, 2 * sizes);
}

TEST(Permutation, DependsOnItsKey) {
  const Permutation first(1000, 1);
  const Permutation second(1000, 2);
  uint64_t same = 0;
  for (uint64_t i = 0; i < 1000; ++i) same += first(i) == second(i) ? 1 : 0;
  EXPECT_LT(same, 20U);
}

// Not so for a handful of positions: four rounds on one or two bits leave a bias of a few percent.
TEST(Permutation, SendsAPositionAnywhereWithTheSameProbability) {
  for (const uint64_t size : {50U, 200U, 1000U}) {
    std::vector<uint64_t> counts(size);
    for (uint64_t key = 0; key < 20000; ++key) ++counts[Permutation(size, hash(53, key))(1)];
    expect_uniform(counts);
  }
}

TEST(Permutation, InvertsHugeSizes) {
  for (const uint64_t size : {(uint64_t{1} << 40U) + 7, std::numeric_limits<uint64_t>::max()}) {
    const Permutation permutation(size, 59);
    Draws draws(61);
    for (int i = 0; i < 1000; ++i) {
      const uint64_t position = draws.below(size);
      const uint64_t image = permutation(position);
      ASSERT_LT(image, size);
      ASSERT_EQ(permutation.inverse(image), position);
    }
  }
}

}  // namespace
}  // namespace hgt
