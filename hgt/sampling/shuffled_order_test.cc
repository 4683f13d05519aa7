#include "hgt/sampling/shuffled_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace hgt {
namespace {

TEST(ShuffledOrder, AnEpochHasEveryNumberOnceInAnOrderOfItsOwn) {
  const ShuffledOrder order(70, 9);
  EXPECT_EQ(order.size(), 70U);
  std::vector<std::vector<uint32_t>> epochs;
  for (const uint64_t epoch : {0U, 1U}) {
    std::vector<uint32_t>& all = epochs.emplace_back();
    for (const auto& [number, size] : {std::pair{0U, 32U}, {1U, 32U}, {2U, 6U}}) {
      const std::vector<uint32_t> batch = order.batch(epoch, number, 32);
      EXPECT_EQ(batch.size(), size);
      all.insert(all.end(), batch.begin(), batch.end());
    }
    EXPECT_EQ(std::set<uint32_t>(all.begin(), all.end()).size(), 70U);
    EXPECT_LT(*std::max_element(all.begin(), all.end()), 70U);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_FALSE(std::is_sorted(epochs[0].begin(), epochs[0].end()));
  EXPECT_TRUE(order.batch(0, 3, 32).empty()) << "behind the last batch there is nothing";
}

TEST(ShuffledOrder, AnEpochComesAgainAfterAnotherOne) {
  const ShuffledOrder order(40, 2);
  const std::vector<uint32_t> before = order.batch(3, 1, 16);
  order.batch(4, 0, 16);
  EXPECT_EQ(order.batch(3, 1, 16), before);
  EXPECT_EQ(ShuffledOrder(40, 2).batch(3, 1, 16), before) << "it depends on the seed alone";
  EXPECT_NE(ShuffledOrder(40, 3).batch(3, 1, 16), before);
}

TEST(ShuffledOrder, EveryNumberIsFirstEquallyOften) {
  constexpr int kNumbers = 6;
  constexpr int kEpochs = 6000;
  std::vector<int> first(kNumbers);
  const ShuffledOrder order(kNumbers, 3);
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) ++first[order.batch(epoch, 0, 1)[0]];
  double chi_square = 0;
  for (const int times : first) {
    const double expected = static_cast<double>(kEpochs) / kNumbers;
    chi_square += (times - expected) * (times - expected) / expected;
  }
  EXPECT_LT(chi_square, 25.7);  // 5 degrees of freedom: p = 1e-4
}

// 3 groups of 20, one of 2: runs of 10 and 10, and of 2.
TEST(ShuffledOrder, MembersOfAGroupFollowOneAnotherInRunsOfAboutTheLengthAskedFor) {
  std::vector<uint32_t> groups;
  for (uint32_t i = 0; i < 62; ++i) groups.push_back(i < 60 ? i % 3 : 3);
  const ShuffledOrder order(groups, 9, 4);
  ASSERT_EQ(order.size(), 62U);
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<uint32_t> all = order.batch(epoch, 0, 62);
    EXPECT_EQ(std::set<uint32_t>(all.begin(), all.end()).size(), 62U);
    size_t runs = 0;
    for (size_t i = 0; i < all.size();) {  // neighbors may be of one group, so cut by length, too
      const uint32_t group = groups[all[i]];
      const size_t length = group == 3 ? 2 : 10;
      ASSERT_LE(i + length, all.size());
      for (size_t j = i; j < i + length; ++j) ASSERT_EQ(groups[all[j]], group) << epoch << ' ' << j;
      i += length;
      ++runs;
    }
    EXPECT_EQ(runs, 7U);
    orders.insert(all);
  }
  EXPECT_EQ(orders.size(), 20U) << "every epoch has an order of its own";
  EXPECT_EQ(ShuffledOrder(groups, 9, 4).batch(7, 1, 16), order.batch(7, 1, 16));
  EXPECT_NE(ShuffledOrder(groups, 9, 5).batch(7, 1, 16), order.batch(7, 1, 16));
}

TEST(ShuffledOrder, GroupsDoNotMatterWhereThereIsOneOrRunsHaveOneMember) {
  const ShuffledOrder plain(30, 6);
  const std::vector<uint32_t> one(30, 0);
  std::vector<uint32_t> two(30, 0);
  two[3] = 1;
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(ShuffledOrder(one, 8, 6).batch(epoch, 0, 30), plain.batch(epoch, 0, 30));
    EXPECT_EQ(ShuffledOrder(two, 1, 6).batch(epoch, 0, 30), plain.batch(epoch, 0, 30));
  }
}

TEST(ShuffledOrder, NothingHasNoBatches) {
  EXPECT_TRUE(ShuffledOrder(std::vector<uint32_t>{}, 4, 5).batch(0, 0, 8).empty());
  EXPECT_TRUE(ShuffledOrder(0, 5).batch(0, 0, 8).empty());
}

}  // namespace
}  // namespace hgt
