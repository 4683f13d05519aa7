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

TEST(ShuffledOrder, NothingHasNoBatches) {
  EXPECT_TRUE(ShuffledOrder(0, 5).batch(0, 0, 8).empty());
}

}  // namespace
}  // namespace hgt
