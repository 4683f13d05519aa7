#include "hgt/sampling/uniform_choice.h"

#include <gtest/gtest.h>

#include <set>

#include "hgt/random.h"
#include "hgt/sampling/chi_square_test.h"

namespace hgt {
namespace {

using Choice = std::set<uint64_t>;

Choice chosen(UniformChoice& choice, uint64_t n, uint64_t k, Draws& draws) {
  Choice positions;
  choice.choose(n, k, draws, [&](uint64_t position) {
    EXPECT_LT(position, n);
    EXPECT_TRUE(positions.insert(position).second) << position << " was chosen twice";
  });
  EXPECT_EQ(positions.size(), k);
  return positions;
}

// All subsets of k of the positions from `first` to n - 1, each put after `begun`.
void list_subsets(uint64_t first, uint64_t n, uint64_t k, const Choice& begun,
                  Probabilities<Choice>& subsets) {
  if (k == 0) subsets[begun] = 0;
  for (uint64_t next = first; k > 0 && next < n; ++next) {
    Choice longer = begun;
    longer.insert(next);
    list_subsets(next + 1, n, k - 1, longer, subsets);
  }
}

ChiSquare compare_with_uniform(uint64_t n, uint64_t k, uint64_t rounds) {
  Probabilities<Choice> probabilities;
  list_subsets(0, n, k, {}, probabilities);
  const auto subsets = static_cast<double>(probabilities.size());
  for (auto& [subset, probability] : probabilities) probability = 1 / subsets;
  UniformChoice choice;
  Counts<Choice> counts;
  for (uint64_t round = 0; round < rounds; ++round) {
    Draws draws(hash(17, n, k, round));
    ++counts[chosen(choice, n, k, draws)];
  }
  return chi_square(counts, probabilities);
}

TEST(UniformChoice, ChoosesEverySubsetEquallyOften) {
  for (const auto& [n, k, subsets] :
       {std::tuple{2U, 1U, 2U}, {4U, 2U, 6U}, {5U, 4U, 5U}, {10U, 3U, 120U}, {7U, 1U, 7U}}) {
    const ChiSquare test = compare_with_uniform(n, k, 300 * subsets);
    EXPECT_EQ(test.cells, subsets);
    EXPECT_TRUE(test.agrees()) << k << " of " << n << ": " << test;
  }
}

TEST(UniformChoice, ChoosesAllOrNoneWhenAskedTo) {
  UniformChoice choice;
  Draws draws(3);
  for (uint64_t n = 0; n < 100; ++n) {
    EXPECT_EQ(chosen(choice, n, n, draws).size(), n);
    EXPECT_EQ(chosen(choice, n, 0, draws).size(), 0U);
  }
}

TEST(UniformChoice, NeverRepeatsAPositionOfALongList) {
  UniformChoice choice;
  Draws draws(4);
  for (const uint64_t n : {uint64_t{51}, uint64_t{1000}, uint64_t{1} << 40U, ~uint64_t{0}}) {
    for (int round = 0; round < 50; ++round) chosen(choice, n, 50, draws);
  }
}

}  // namespace
}  // namespace hgt
