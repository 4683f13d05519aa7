#include "hgt/sampling/budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "hgt/random.h"
#include "hgt/sampling/chi_square_test.h"

namespace hgt {
namespace {

using Subset = std::set<uint32_t>;

// The probability of every set that n successive draws can give: of what is left, each candidate is
// drawn next in proportion to its square.
void add_draws(const std::vector<double>& weights, uint32_t n, const Subset& drawn,
               double probability, Probabilities<Subset>& sets) {
  if (drawn.size() == n || drawn.size() == weights.size()) {
    sets[drawn] += probability;
    return;
  }
  double squares = 0;
  for (uint32_t i = 0; i < weights.size(); ++i) {
    if (!drawn.contains(i)) squares += weights[i] * weights[i];
  }
  for (uint32_t i = 0; i < weights.size(); ++i) {
    if (drawn.contains(i)) continue;
    Subset next = drawn;
    next.insert(i);
    add_draws(weights, n, next, probability * weights[i] * weights[i] / squares, sets);
  }
}

Budget budget_of(const std::vector<double>& weights) {
  Budget budget;
  for (uint32_t i = 0; i < weights.size(); ++i) budget.add(i, 2000, weights[i]);
  return budget;
}

ChiSquare compare_with_successive_draws(const std::vector<double>& weights, uint32_t n) {
  Probabilities<Subset> probabilities;
  add_draws(weights, n, {}, 1, probabilities);
  Counts<Subset> counts;
  std::vector<uint32_t> slots;
  for (uint64_t round = 0; round < 20'000; ++round) {
    Budget budget = budget_of(weights);
    Draws draws(hash(5, n, weights.size(), round));
    slots = budget.draw(n, draws);
    ++counts[Subset(slots.begin(), slots.end())];
  }
  return chi_square(counts, probabilities);
}

TEST(Budget, DrawsSetsAsOftenAsSuccessiveDrawsDo) {
  const std::vector<double> weights = {1, 0.5, 1.0 / 3, 2, 0.5};
  for (uint32_t n = 1; n <= 4; ++n) {
    const ChiSquare test = compare_with_successive_draws(weights, n);
    EXPECT_TRUE(test.agrees()) << n << ": " << test;
  }
}

// Many more candidates than draws: most are passed over by the deadline alone.
TEST(Budget, DrawsSetsAsOftenAsSuccessiveDrawsDoAmongMany) {
  std::vector<double> weights;
  for (int i = 0; i < 12; ++i) weights.push_back(0.5 + 0.25 * (i * 5 % 12));
  for (uint32_t n = 1; n <= 3; ++n) {
    const ChiSquare test = compare_with_successive_draws(weights, n);
    EXPECT_TRUE(test.agrees()) << n << ": " << test;
  }
}

TEST(Budget, DrawsByTheSquareAndNotByTheWeight) {
  // Squares 1 and 9: the heavier one comes first nine times out of ten, not three out of four.
  Counts<Subset> counts;
  std::vector<uint32_t> slots;
  for (uint64_t round = 0; round < 10'000; ++round) {
    Budget budget = budget_of({1, 3});
    Draws draws(hash(6, round));
    slots = budget.draw(1, draws);
    ++counts[Subset(slots.begin(), slots.end())];
  }
  const Probabilities<Subset> by_square = {{Subset{0}, 0.1}, {Subset{1}, 0.9}};
  const Probabilities<Subset> by_weight = {{Subset{0}, 0.25}, {Subset{1}, 0.75}};
  EXPECT_TRUE(chi_square(counts, by_square).agrees());
  EXPECT_FALSE(chi_square(counts, by_weight).agrees());
}

TEST(Budget, DrawsAnOverwhelmingCandidateFirst) {
  std::vector<uint32_t> slots;
  for (uint64_t round = 0; round < 1000; ++round) {
    Budget budget = budget_of({1e-6, 1e-6, 1e6, 1e-6});
    Draws draws(hash(7, round));
    slots = budget.draw(1, draws);
    ASSERT_EQ(slots, std::vector<uint32_t>{2});
  }
}

TEST(Budget, DrawsAllWhenThereAreNoMoreThanAskedFor) {
  std::vector<uint32_t> slots;
  for (const uint32_t n : {3U, 4U, 1000U}) {
    Budget budget = budget_of({1, 2, 0.001});
    Draws draws(8);
    slots = budget.draw(n, draws);
    EXPECT_EQ(slots, (std::vector<uint32_t>{0, 1, 2}));
    slots = budget.draw(n, draws);
    EXPECT_TRUE(slots.empty()) << "what was drawn has left the budget";
  }
}

TEST(Budget, GivesSlotsInAscendingOrderAndNoneTwice) {
  Budget budget;
  Draws draws(9);
  for (uint32_t i = 0; i < 500; ++i) budget.add(i, 2000, 0.1 + draws.unit());
  std::vector<uint32_t> slots;
  Subset seen;
  for (int round = 0; round < 50; ++round) {
    slots = budget.draw(10, draws);
    ASSERT_EQ(slots.size(), 10U);
    EXPECT_TRUE(std::is_sorted(slots.begin(), slots.end()));
    for (const uint32_t slot : slots) EXPECT_TRUE(seen.insert(slot).second);
  }
  slots = budget.draw(10, draws);
  EXPECT_TRUE(slots.empty());
}

TEST(Budget, AddsUpTheSharesOfAnInstance) {
  Budget budget;
  budget.add(7, 2000, 0.25);
  budget.add(7, 2001, 1);
  budget.add(8, 2000, 0.5);
  budget.add(7, 2000, 0.5);
  ASSERT_EQ(budget.size(), 3U) << "the same node at two times is two candidates";
  EXPECT_EQ(budget.weight(budget.find(7, 2000)), 0.75);
  EXPECT_EQ(budget.weight(budget.find(7, 2001)), 1);
  EXPECT_EQ(budget.weight(budget.find(8, 2000)), 0.5);
  EXPECT_EQ(budget.find(8, 2001), KeyTable<>::kAbsent);
  budget.clear();
  EXPECT_EQ(budget.size(), 0U);
  EXPECT_EQ(budget.find(7, 2000), KeyTable<>::kAbsent);
}

TEST(Budget, RemembersNodeAndTimeOfEverySlot) {
  Budget budget;
  const std::vector<std::pair<NodeId, Time>> instances = {
      {0, kNoTime}, {0, 0},      {0, -1}, {~NodeId{1}, std::numeric_limits<Time>::max()},
      {5, -300},    {5, kNoTime}};
  for (const auto& [node, time] : instances) budget.add(node, time, 1);
  ASSERT_EQ(budget.size(), instances.size());
  for (uint32_t slot = 0; slot < instances.size(); ++slot) {
    EXPECT_EQ(std::pair(budget.node(slot), budget.time(slot)), instances[slot]);
  }
}

TEST(Budget, NeitherDrawsNorRefillsWhatHasBeenTaken) {
  Budget budget;
  EXPECT_TRUE(budget.take(1, 2000)) << "a seed";
  EXPECT_FALSE(budget.take(1, 2000));
  budget.add(1, 2000, 5);
  EXPECT_TRUE(std::isnan(budget.weight(budget.find(1, 2000))));
  budget.add(2, 2000, 1);
  EXPECT_TRUE(budget.take(2, 2000)) << "a candidate";
  budget.add(1, 2001, 0.001);
  std::vector<uint32_t> slots;
  Draws draws(10);
  slots = budget.draw(10, draws);
  EXPECT_EQ(slots, std::vector<uint32_t>{budget.find(1, 2001)});
  EXPECT_FALSE(budget.take(1, 2001)) << "it has been drawn";
}

}  // namespace
}  // namespace hgt
