#include "hgt/features/metapath2vec/skip_gram_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hgt/random.h"
#include "reference/skip_gram_reference.h"

namespace hgt {
namespace {

std::vector<KernelSet> kernel_sets() {
  std::vector<KernelSet> sets = {KernelSet::portable};
  if (best_kernel_set() == KernelSet::avx2) sets.push_back(KernelSet::avx2);
  return sets;
}

constexpr uint32_t kRows = 40;

ReferenceTables random_tables(uint32_t width, double size, uint64_t seed) {
  ReferenceTables tables{.width = width};
  Draws draws(seed);
  for (uint32_t i = 0; i < kRows * width; ++i) {
    tables.inputs.push_back(static_cast<float>((draws.unit() - 0.5) * size));
    tables.outputs.push_back(static_cast<float>((draws.unit() - 0.5) * size));
  }
  return tables;
}

// A pair list in memory of its own, and what it says in the words of the reference.
struct Listed {
  std::vector<TrainingPair> pairs;
  std::vector<uint32_t> rows;
  std::vector<float> copies;
  std::vector<ReferencePair> expected;

  PairList list() const { return {pairs.data(), pairs.size(), rows.data(), copies.data()}; }
};

// `count` rows for each pair; centers come in groups of three.
Listed random_list(size_t number, uint32_t count, uint64_t seed) {
  Listed listed;
  Draws draws(seed);
  uint32_t center = 0;
  for (size_t i = 0; i < number; ++i) {
    if (i % 3 == 0) center = static_cast<uint32_t>(draws.below(kRows));
    const auto first = static_cast<uint32_t>(listed.rows.size());
    listed.pairs.push_back({.center = center, .first = first, .count = count});
    ReferencePair pair{.center = center};
    const auto start = static_cast<uint32_t>(draws.below(kRows));
    for (uint32_t j = 0; j < count; ++j) {
      const uint32_t row = (start + 7 * j) % kRows;
      const auto copies = static_cast<uint32_t>(j == 0 ? 1 : 1 + draws.below(3) / 2);
      listed.rows.push_back(row);
      listed.copies.push_back(static_cast<float>(copies));
      if (j == 0) pair.context = row;
      if (j > 0) pair.negatives.insert(pair.negatives.end(), copies, row);
    }
    listed.expected.push_back(pair);
  }
  return listed;
}

// Largest difference between the kernels' tables and the reference's after training on the list.
double difference(KernelSet set, ReferenceTables reference, const Listed& listed, double rate) {
  std::vector<float> inputs(reference.inputs.begin(), reference.inputs.end());
  std::vector<float> outputs(reference.outputs.begin(), reference.outputs.end());
  std::vector<float> workspace(pair_workspace(reference.width));
  skip_gram_kernels(set).train({inputs.data(), outputs.data(), reference.width}, listed.list(),
                               static_cast<float>(rate), workspace.data());
  for (const ReferencePair& pair : listed.expected) reference_pair_step(reference, pair, rate);
  double largest = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    largest = std::max(largest, std::abs(inputs[i] - reference.inputs[i]));
    largest = std::max(largest, std::abs(outputs[i] - reference.outputs[i]));
    if (!std::isfinite(inputs[i]) || !std::isfinite(outputs[i])) return INFINITY;
  }
  return largest;
}

TEST(SkipGramKernels, AgreeWithTheReferenceAtAnyWidthAndNumberOfRows) {
  for (const KernelSet set : kernel_sets()) {
    for (const uint32_t width : {1U, 3U, 8U, 20U, 100U, 128U, 131U}) {
      for (const uint32_t count : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 21U}) {
        const double error =
            difference(set, random_tables(width, 1, width), random_list(30, count, count), 0.1);
        EXPECT_LT(error, 5e-6) << "width " << width << ", rows " << count;
      }
    }
  }
}

TEST(SkipGramKernels, AgreeWithTheReferenceWhereTheSigmoidIsFlat) {
  for (const KernelSet set : kernel_sets()) {
    for (const double size : {3.0, 10.0, 100.0}) {  // products up to a few, a hundred, ten thousand
      const double error = difference(set, random_tables(64, size, 3), random_list(1, 6, 4), 0.01);
      EXPECT_LT(error, 2e-6 * size) << size;
    }
  }
}

// With a tiny center and a large context, the center's move is 1 - sigmoid to all its digits.
TEST(SkipGramKernels, TheSigmoidIsExactToAFewUnitsInTheLastPlace) {
  const TrainingPair pair{.center = 0, .first = 0, .count = 1};
  const uint32_t row = 0;
  const float once = 1;
  float workspace[pair_workspace(1)];
  for (const KernelSet set : kernel_sets()) {
    for (double x = -20; x <= 20; x += 0.037) {
      float input = 0x1.0p-10F;
      auto output = static_cast<float>(x * 0x1.0p10);
      const double exact = 1 / (1 + std::exp(static_cast<double>(input) * output));
      const double context = output;
      skip_gram_kernels(set).train({&input, &output, 1}, {&pair, 1, &row, &once}, 1, workspace);
      EXPECT_NEAR((input - 0x1.0p-10) / context, exact, 4e-7) << x;
    }
  }
}

TEST(SkipGramKernels, AnEmptyListChangesNothing) {
  for (const KernelSet set : kernel_sets()) {
    EXPECT_EQ(difference(set, random_tables(16, 1, 1), {}, 0.1), 0);
  }
}

// The step is -rate times the gradient; the gradient is that of pair_loss.
TEST(SkipGramReference, StepsGoDownTheGradientOfTheLoss) {
  constexpr double kRate = 0.01;
  constexpr double kStep = 1e-5;
  const ReferencePair pair{.center = 2, .context = 5, .negatives = {1, 7, 1, 2, 9}};
  const ReferenceTables at = random_tables(6, 1, 5);
  ReferenceTables moved = at;
  reference_pair_step(moved, pair, kRate);
  const auto slope = [&](auto table, size_t i) {
    ReferenceTables up = at;
    ReferenceTables down = at;
    (up.*table)[i] += kStep;
    (down.*table)[i] -= kStep;
    return (pair_loss(up, pair) - pair_loss(down, pair)) / (2 * kStep);
  };
  size_t moving = 0;
  for (size_t i = 0; i < at.inputs.size(); ++i) {
    const double input = slope(&ReferenceTables::inputs, i);
    const double output = slope(&ReferenceTables::outputs, i);
    EXPECT_NEAR(moved.inputs[i] - at.inputs[i], -kRate * input, 1e-10);
    EXPECT_NEAR(moved.outputs[i] - at.outputs[i], -kRate * output, 1e-10);
    moving += (std::abs(input) > 1e-6 ? 1 : 0) + (std::abs(output) > 1e-6 ? 1 : 0);
  }
  EXPECT_EQ(moving, 6U + 5U * 6U);  // one center, and the context with four different negatives
}

}  // namespace
}  // namespace hgt
