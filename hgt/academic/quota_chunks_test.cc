#include "hgt/academic/quota_chunks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

constexpr uint64_t kReceivers = 2000;
constexpr uint64_t kSeed = 11;

uint64_t weight_of(uint64_t receiver) { return hash(kSeed, receiver) % 7; }

// What a receiver can take: with `narrow`, now and then less than its share.
uint64_t room_of(uint64_t receiver, bool narrow) {
  return narrow && hash(kSeed, receiver, 1) % 50 == 0 ? 0 : 1000;
}

std::vector<uint64_t> drawn_in_turn(uint64_t total, bool narrow) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < kReceivers; ++i) sum += weight_of(i);
  Quota quota(total, sum);
  std::vector<uint64_t> taken;
  for (uint64_t i = 0; i < kReceivers; ++i) {
    const uint64_t wanted = quota.next(weight_of(i));
    taken.push_back(std::min(wanted, room_of(i, narrow)));
    quota.hand_on(wanted - taken.back());
  }
  taken.push_back(quota.debt());
  return taken;
}

std::vector<Range> ranges_of(uint64_t size) {
  std::vector<Range> ranges;
  for (uint64_t begin = 0; begin < kReceivers; begin += size) {
    ranges.push_back({begin, std::min(kReceivers, begin + size)});
  }
  return ranges;
}

struct Drawn {
  std::vector<uint64_t> taken;
  uint64_t redrawn = 0;
};

Drawn drawn_in_chunks(uint64_t total, bool narrow, unsigned threads, uint64_t size) {
  const auto sum = [](const Range& range) {
    Weights<1> weights{};
    for (uint64_t i = range.begin; i < range.end; ++i) weights[0] += weight_of(i);
    return weights;
  };
  Drawn all;
  const auto ranges = ranges_of(size);
  size_t planned = 0;
  const auto chunks = plan_quotas<1>(ranges, {total}, threads, sum, [&](const Range& range) {
    EXPECT_EQ(range.begin, ranges[planned++].begin);
  });
  std::atomic<uint64_t> drawings = 0;
  const Quotas<1> left = draw_chunks<std::vector<uint64_t>>(
      chunks, threads,
      [&](const Range& range, Quotas<1>& quotas, std::vector<uint64_t>& taken) {
        ++drawings;
        taken.clear();
        for (uint64_t i = range.begin; i < range.end; ++i) {
          const uint64_t wanted = quotas[0].next(weight_of(i));
          taken.push_back(std::min(wanted, room_of(i, narrow)));
          quotas[0].hand_on(wanted - taken.back());
        }
      },
      [&](const std::vector<uint64_t>& taken) {
        all.taken.insert(all.taken.end(), taken.begin(), taken.end());
      });
  all.taken.push_back(left[0].debt());
  all.redrawn = drawings - chunks.size();
  return all;
}

TEST(QuotaChunks, GiveWhatOneReceiverAfterTheOtherGets) {
  for (const uint64_t total : {0, 1, 1999, 50'000}) {
    for (const bool narrow : {false, true}) {
      const auto expected = drawn_in_turn(total, narrow);
      for (const unsigned threads : {1, 2, 4}) {
        for (const uint64_t size : {1, 64, 5000}) {
          EXPECT_EQ(drawn_in_chunks(total, narrow, threads, size).taken, expected)
              << total << ' ' << narrow << ' ' << threads << ' ' << size;
        }
      }
    }
  }
}

TEST(QuotaChunks, AreDrawnAgainOnlyWhereSomethingWasHandedOn) {
  EXPECT_EQ(drawn_in_chunks(50'000, false, 3, 64).redrawn, 0U);
  EXPECT_GT(drawn_in_chunks(50'000, true, 3, 1).redrawn, 0U);
  EXPECT_LT(drawn_in_chunks(50'000, true, 3, 1).redrawn, kReceivers);
}

}  // namespace
}  // namespace hgt
