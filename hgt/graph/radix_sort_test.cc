#include "hgt/graph/radix_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

struct Numbered {
  static constexpr size_t kWords = 2;
  uint64_t low;
  uint64_t high;
  uint64_t place;  // before sorting

  uint64_t word(size_t number) const { return number == 0 ? low : high; }
};

// `bits` of each word differ, spread over its bytes.
std::vector<Numbered> random_records(uint64_t count, uint64_t bits, uint64_t seed) {
  Draws draws(seed);
  std::vector<Numbered> records(count);
  for (uint64_t i = 0; i < count; ++i) {
    records[i] = {.low = draws.bits() & bits, .high = draws.bits() & bits, .place = i};
  }
  return records;
}

TEST(RadixSort, SortsLikeStableSort) {
  for (const uint64_t bits : {~uint64_t{0}, uint64_t{0xff}, uint64_t{0x3000f00000000001}}) {
    for (const uint64_t count : {0, 1, 2, 3, 255, 10'000}) {
      auto records = random_records(count, bits, 7 + count);
      auto expected = records;
      std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.high, a.low) < std::tuple(b.high, b.low);
      });
      radix_sort(std::span(records));
      for (uint64_t i = 0; i < count; ++i) {
        ASSERT_EQ(records[i].place, expected[i].place) << count << " records, place " << i;
      }
    }
  }
}

TEST(RadixSort, LeavesEqualRecordsInTheirOrder) {
  auto records = random_records(1000, 0, 3);
  radix_sort(std::span(records));
  for (uint64_t i = 0; i < records.size(); ++i) ASSERT_EQ(records[i].place, i);
}

}  // namespace
}  // namespace hgt
