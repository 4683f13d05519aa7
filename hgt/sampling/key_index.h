// Numbers keys 0, 1, 2, ... in the order in which they first come: the sampler's only hash table.
//
// Open addressing with linear probing, at most half full. Every bucket carries the stamp of the
// round that wrote it, so that clear() costs nothing and a table serves batch after batch without
// touching fresh memory.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace hgt {

class KeyIndex {
 public:
  static constexpr uint32_t kAbsent = std::numeric_limits<uint32_t>::max();

  uint32_t size() const { return size_; }

  void clear() {
    size_ = 0;
    if (++stamp_ != 0) return;
    buckets_.assign(buckets_.size(), {});  // once in four billion rounds the stamps run out
    stamp_ = 1;
  }

  // The number of the key; kAbsent: it has none.
  uint32_t find(uint64_t key) const {
    for (size_t at = start(key);; at = (at + 1) & mask_) {
      if (buckets_[at].stamp != stamp_) return kAbsent;
      if (buckets_[at].key == key) return buckets_[at].number;
    }
  }

  // The number of the key, which is the former size() when the key is new.
  uint32_t insert(uint64_t key) {
    size_t at = start(key);
    for (; buckets_[at].stamp == stamp_; at = (at + 1) & mask_) {
      if (buckets_[at].key == key) return buckets_[at].number;
    }
    buckets_[at] = {.key = key, .number = size_, .stamp = stamp_};
    if (2 * ++size_ > mask_) grow();
    return size_ - 1;
  }

  void prefetch(uint64_t key) const { __builtin_prefetch(&buckets_[start(key)]); }

 private:
  struct Bucket {
    uint64_t key = 0;
    uint32_t number = 0;
    uint32_t stamp = 0;
  };

  // Fibonacci hashing: the high bits of the product depend on all bits of the key.
  size_t start(uint64_t key) const { return (key * 0x9e3779b97f4a7c15U) >> shift_; }

  void grow() {
    const std::vector<Bucket> old = std::exchange(buckets_, std::vector<Bucket>(2 * (mask_ + 1)));
    mask_ = buckets_.size() - 1;
    --shift_;
    for (const Bucket& bucket : old) {
      if (bucket.stamp != stamp_) continue;
      size_t at = start(bucket.key);
      while (buckets_[at].stamp == stamp_) at = (at + 1) & mask_;
      buckets_[at] = bucket;
    }
  }

  static constexpr unsigned kFirstBits = 6;
  std::vector<Bucket> buckets_ = std::vector<Bucket>(size_t{1} << kFirstBits);
  size_t mask_ = (size_t{1} << kFirstBits) - 1;
  unsigned shift_ = 64 - kFirstBits;
  uint32_t size_ = 0;
  uint32_t stamp_ = 1;
};

}  // namespace hgt
