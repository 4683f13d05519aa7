// Numbers keys 0, 1, 2, ... in the order in which they first occur, with a value each: the
// sampler's only hash table.
//
// A budget has hundreds of thousands of candidates, met at random: what matters is the number of
// cache lines touched. So a bucket is 8 bytes (a number, 16 bits of hash, the stamp of the round
// that wrote it) and points to an entry that holds key and value side by side. The stamps make
// clear() free of cost: a table serves batch after batch without touching fresh memory.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace hgt {

struct NoValue {};

template <typename Value = NoValue>
class KeyTable {
 public:
  struct Entry {
    uint64_t key = 0;
    [[no_unique_address]] Value value = {};
  };

  static constexpr uint32_t kAbsent = std::numeric_limits<uint32_t>::max();

  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  std::span<const Entry> entries() const { return entries_; }  // by number
  Entry& operator[](uint32_t number) { return entries_[number]; }
  const Entry& operator[](uint32_t number) const { return entries_[number]; }

  void clear() {
    entries_.clear();
    if (++stamp_ != 0) return;
    buckets_.assign(buckets_.size(), {});  // once in 65,536 rounds the stamps run out
    stamp_ = 1;
  }

  // The number of the key; kAbsent: it has none.
  uint32_t find(uint64_t key) const {
    const Bucket& bucket = buckets_[locate(key)];
    return bucket.stamp == stamp_ ? bucket.number : kAbsent;
  }
  bool contains(uint64_t key) const { return find(key) != kAbsent; }

  // The number of the key, which is the former size() when the key is new.
  uint32_t insert(uint64_t key) {
    const size_t at = locate(key);
    if (buckets_[at].stamp == stamp_) return buckets_[at].number;
    const uint32_t number = size();
    buckets_[at] = {.number = number, .tag = tag_of(key * kMultiplier), .stamp = stamp_};
    entries_.push_back({.key = key});
    if (size() > buckets_.size() / 4 * 3) grow();
    return number;
  }

  void prefetch(uint64_t key) const {
    __builtin_prefetch(&buckets_[(key * kMultiplier) >> shift_]);
  }

 private:
  struct Bucket {
    uint32_t number = 0;
    uint16_t tag = 0;
    uint16_t stamp = 0;  // another than stamp_: empty
  };

  // Fibonacci hashing: the high bits of the product depend on all bits of the key.
  static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15U;
  static uint16_t tag_of(uint64_t product) { return static_cast<uint16_t>(product >> 24U); }

  // The bucket of the key, or the empty one where it belongs.
  size_t locate(uint64_t key) const {
    const uint64_t product = key * kMultiplier;
    const uint16_t tag = tag_of(product);
    for (size_t at = product >> shift_;; at = (at + 1) & (buckets_.size() - 1)) {
      const Bucket& bucket = buckets_[at];
      if (bucket.stamp != stamp_) return at;
      if (bucket.tag == tag && entries_[bucket.number].key == key) return at;
    }
  }

  void grow() {
    buckets_.assign(2 * buckets_.size(), {});
    --shift_;
    for (uint32_t number = 0; number < size(); ++number) {
      const uint64_t product = entries_[number].key * kMultiplier;
      size_t at = product >> shift_;
      while (buckets_[at].stamp == stamp_) at = (at + 1) & (buckets_.size() - 1);
      buckets_[at] = {.number = number, .tag = tag_of(product), .stamp = stamp_};
    }
  }

  static constexpr unsigned kFirstBits = 6;
  std::vector<Bucket> buckets_ = std::vector<Bucket>(size_t{1} << kFirstBits);
  std::vector<Entry> entries_;
  unsigned shift_ = 64 - kFirstBits;
  uint16_t stamp_ = 1;
};

}  // namespace hgt
