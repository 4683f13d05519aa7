#include "hgt/sampling/key_table.h"

#include <gtest/gtest.h>

#include <unordered_map>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

// A table and its oracle, of which the same is asked.
struct Twins {
  KeyTable<uint64_t> table;
  std::unordered_map<uint64_t, uint32_t> numbers;
  std::vector<uint64_t> keys;    // by number
  std::vector<uint64_t> counts;  // how often each was inserted

  void insert(uint64_t key) {
    const auto [found, is_new] = numbers.try_emplace(key, static_cast<uint32_t>(keys.size()));
    if (is_new) {
      keys.push_back(key);
      counts.push_back(0);
    }
    const uint32_t number = table.insert(key);
    ASSERT_EQ(number, found->second);
    ++table[number].value;
    ++counts[number];
  }
  void find(uint64_t key) const {
    const auto found = numbers.find(key);
    ASSERT_EQ(table.find(key), found == numbers.end() ? KeyTable<>::kAbsent : found->second);
    ASSERT_EQ(table.contains(key), found != numbers.end());
  }
  void clear() {
    table.clear();
    numbers.clear();
    keys.clear();
    counts.clear();
  }
};

TEST(KeyTable, NumbersKeysAsAHashMapDoes) {
  Twins twins;
  Draws draws(1);
  for (int round = 0; round < 60; ++round) {
    const uint64_t range = uint64_t{1} << draws.below(14);
    const unsigned shift = std::vector{0U, 16U, 32U, 50U}[draws.below(4)];  // which bits vary
    const uint64_t steps = draws.below(3000);
    for (uint64_t step = 0; step < steps; ++step) {
      twins.insert(draws.below(range) << shift);
      twins.find(draws.below(2 * range) << shift);
    }
    ASSERT_EQ(twins.table.size(), twins.keys.size());
    for (uint32_t number = 0; number < twins.table.size(); ++number) {
      ASSERT_EQ(twins.table[number].key, twins.keys[number]);
      ASSERT_EQ(twins.table[number].value, twins.counts[number]);
    }
    twins.clear();
  }
}

TEST(KeyTable, KeepsEveryKeyWhileItGrows) {
  KeyTable<uint32_t> table;
  constexpr uint32_t kKeys = 50'000;
  for (uint32_t i = 0; i < kKeys; ++i) {
    ASSERT_EQ(table.insert(mix64(i)), i);
    table[i].value = i;
  }
  for (uint32_t i = 0; i < kKeys; ++i) {
    ASSERT_EQ(table.find(mix64(i)), i);
    ASSERT_EQ(table[i].value, i);
    ASSERT_FALSE(table.contains(mix64(i + kKeys)));
  }
}

TEST(KeyTable, TakesTheSmallestAndTheLargestKey) {
  KeyTable<> table;
  EXPECT_FALSE(table.contains(0));
  EXPECT_EQ(table.insert(0), 0U);
  EXPECT_EQ(table.insert(~uint64_t{0}), 1U);
  EXPECT_EQ(table.insert(0), 0U);
  EXPECT_EQ(table.find(~uint64_t{0}), 1U);
  EXPECT_EQ(table.entries().size(), 2U);
}

// Keys that agree in the bits that choose the bucket, and in the 16 bits that it keeps.
TEST(KeyTable, TellsKeysOfOneBucketApart) {
  constexpr uint64_t kInverse = 0xf1de83e19937733dU;  // of the multiplier, modulo 2^64
  static_assert(kInverse * 0x9e3779b97f4a7c15U == 1);
  KeyTable<> table;
  for (uint64_t i = 0; i < 40; ++i) ASSERT_EQ(table.insert(i * kInverse), i);
  for (uint64_t i = 0; i < 40; ++i) ASSERT_EQ(table.find(i * kInverse), i);
  EXPECT_FALSE(table.contains(40 * kInverse));
}

// The keys of the first rounds lie untouched in their buckets until their stamps come again.
TEST(KeyTable, FindsNothingOfEarlierRoundsThoughTheStampsWrapAround) {
  constexpr uint64_t kKeys = 8;
  KeyTable<> table;
  for (uint64_t key = 0; key < kKeys; ++key) {
    ASSERT_EQ(table.insert(key), 0U);
    table.clear();
  }
  for (uint32_t round = 0; round < 70'000; ++round) {
    for (uint64_t key = 0; key < kKeys; ++key) ASSERT_FALSE(table.contains(key)) << round;
    table.clear();
  }
  for (uint64_t key = 0; key < kKeys; ++key) ASSERT_EQ(table.insert(key), key);
}

}  // namespace
}  // namespace hgt
