#include "hgt/model/large_blocks.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <thread>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

constexpr size_t kMega = size_t{1} << 20U;
constexpr size_t kArena = 1024 * kMega;  // what is reserved at a time

uintptr_t address(const void* block) { return reinterpret_cast<uintptr_t>(block); }

// What is in use, kept in the plainest way: first byte -> bytes asked for.
class Model {
 public:
  explicit Model(uint64_t seed) : draws_(seed) {}

  void allocate(LargeBlocks& blocks) {
    const size_t bytes = 1 + draws_.below(draws_.chance(0.2) ? 64 * kMega : 3 * kMega);
    auto* const block = static_cast<unsigned char*>(blocks.allocate(bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(address(block) % 64, 0U);
    const auto next = used_.lower_bound(block);
    if (next != used_.end()) {
      EXPECT_LE(block + bytes, next->first) << "overlaps the next block";
    }
    if (next != used_.begin()) {
      const auto before = std::prev(next);
      EXPECT_LE(before->first + before->second, block) << "overlaps the block before";
    }
    used_[block] = bytes;
    in_use_ += bytes;
    mark(block, bytes);
  }

  void release_any(LargeBlocks& blocks) {
    if (used_.empty()) return;
    const auto block = std::next(used_.begin(), static_cast<ptrdiff_t>(draws_.below(used_.size())));
    EXPECT_TRUE(is_marked(block->first, block->second)) << "somebody wrote into the block";
    EXPECT_TRUE(blocks.release(block->first));
    in_use_ -= block->second;
    used_.erase(block);
  }

  bool chance(double probability) { return draws_.chance(probability); }
  size_t size() const { return used_.size(); }
  size_t in_use() const { return in_use_; }

 private:
  // The first, middle and last bytes say whose they are.
  static void mark(unsigned char* block, size_t bytes) {
    for (const size_t i : {size_t{0}, bytes / 2, bytes - 1}) block[i] = own_byte(block);
  }
  static bool is_marked(const unsigned char* block, size_t bytes) {
    return block[0] == own_byte(block) && block[bytes / 2] == own_byte(block) &&
           block[bytes - 1] == own_byte(block);
  }
  static unsigned char own_byte(const unsigned char* block) {
    return static_cast<unsigned char>(mix64(address(block)));
  }

  Draws draws_;
  std::map<unsigned char*, size_t> used_;
  size_t in_use_ = 0;
};

TEST(LargeBlocks, NeverOverlapAndAreCounted) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    LargeBlocks blocks;
    Model model(seed);
    for (int step = 0; step < 400; ++step) {
      if (model.chance(step < 200 ? 0.6 : 0.4)) {
        model.allocate(blocks);
      } else {
        model.release_any(blocks);
      }
      // Rounded up to whole pages, no more.
      EXPECT_GE(blocks.bytes_in_use(), model.in_use());
      EXPECT_LE(blocks.bytes_in_use(), model.in_use() + model.size() * 4096);
      EXPECT_GE(blocks.bytes_reserved(), blocks.bytes_in_use());
    }
    while (model.size() > 0) model.release_any(blocks);
    EXPECT_EQ(blocks.bytes_in_use(), 0U);
  }
}

TEST(LargeBlocks, FreedNeighborsJoinWhateverTheOrderOfTheirRelease) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    LargeBlocks blocks;
    std::vector<void*> taken;
    for (int i = 0; i < 128; ++i) taken.push_back(blocks.allocate(8 * kMega));  // one arena, full
    const size_t reserved = blocks.bytes_reserved();
    ASSERT_EQ(reserved, kArena);
    const Permutation order(taken.size(), seed);
    for (uint64_t i = 0; i < taken.size(); ++i) ASSERT_TRUE(blocks.release(taken[order(i)]));
    void* const all = blocks.allocate(reserved);
    EXPECT_NE(all, nullptr);
    EXPECT_EQ(blocks.bytes_reserved(), reserved) << "a new arena, though everything is free";
    EXPECT_EQ(blocks.bytes_in_use(), reserved);
    EXPECT_TRUE(blocks.release(all));
  }
}

TEST(LargeBlocks, AnArenaGrowsWithWhatIsAskedFor) {
  LargeBlocks blocks;
  auto* const block = static_cast<unsigned char*>(blocks.allocate(3 * kArena + 5));
  ASSERT_NE(block, nullptr);
  block[0] = 1;
  block[3 * kArena + 4] = 2;
  EXPECT_GE(blocks.bytes_reserved(), 3 * kArena + 5);
  EXPECT_LT(blocks.bytes_reserved(), 3 * kArena + 4 * kMega);
  EXPECT_TRUE(blocks.release(block));
}

// Arenas may lie side by side in memory; a block across both could not be returned.
TEST(LargeBlocks, DoNotReachAcrossArenas) {
  LargeBlocks blocks;
  std::vector<void*> arenas;
  for (int i = 0; i < 6; ++i) arenas.push_back(blocks.allocate(kArena));
  for (void* arena : arenas) EXPECT_TRUE(blocks.release(arena));
  EXPECT_EQ(blocks.bytes_reserved(), 6 * kArena);
  void* const two = blocks.allocate(2 * kArena);
  EXPECT_EQ(blocks.bytes_reserved(), 8 * kArena);
  EXPECT_TRUE(blocks.release(two));
}

TEST(LargeBlocks, ForeignPointersAreRefused) {
  LargeBlocks blocks;
  LargeBlocks others;
  auto* const own = static_cast<unsigned char*>(blocks.allocate(2 * kMega));
  void* const foreign = others.allocate(2 * kMega);
  int local = 0;
  EXPECT_FALSE(blocks.release(&local));
  EXPECT_FALSE(blocks.release(nullptr));
  EXPECT_FALSE(blocks.release(foreign));
  EXPECT_FALSE(blocks.release(own + 4096)) << "the middle of a block";
  EXPECT_EQ(blocks.bytes_in_use(), 2 * kMega);
  EXPECT_TRUE(blocks.release(own));
  EXPECT_FALSE(blocks.release(own)) << "it was released already";
  EXPECT_TRUE(others.release(foreign));
}

TEST(LargeBlocks, NothingIsHandedOutWhenTheSystemHasNoMore) {
  LargeBlocks blocks;
  EXPECT_EQ(blocks.allocate(size_t{1} << 62U), nullptr);
  EXPECT_EQ(blocks.bytes_in_use(), 0U);
  void* const block = blocks.allocate(kMega);
  EXPECT_NE(block, nullptr);
  EXPECT_TRUE(blocks.release(block));
}

// A block may be released by another thread than the one that asked for it.
TEST(LargeBlocks, ServeSeveralThreadsAtOnce) {
  LargeBlocks blocks;
  const auto work = [&](uint64_t seed) {
    Model model(seed);
    for (int step = 0; step < 150; ++step) {
      if (model.chance(0.5)) {
        model.allocate(blocks);
      } else {
        model.release_any(blocks);
      }
    }
    while (model.size() > 0) model.release_any(blocks);
    for (int i = 0; i < 30'000; ++i) {  // nothing but the bookkeeping, so that threads meet in it
      void* const block = blocks.allocate(kMega);
      EXPECT_TRUE(blocks.release(block));
    }
  };
  void* const before = blocks.allocate(kMega);
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  threads.emplace_back([&] { EXPECT_TRUE(blocks.release(before)); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(blocks.bytes_in_use(), 0U);
}

}  // namespace
}  // namespace hgt
