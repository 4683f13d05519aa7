// Memory for large tensors: taken from the system in arenas of huge pages, and kept for reuse.
//
// A training step makes and drops hundreds of megabytes of tensors. Fresh pages are expensive (on a
// virtual machine 2 to 4 microseconds for 4 KB), and rows read at random from small pages miss the
// TLB. Here a freed block joins its free neighbors and serves the next step; small tensors, which
// would cut arenas to pieces, stay with malloc.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace hgt {

class LargeBlocks {
 public:
  static constexpr size_t kSmallest = size_t{1} << 16U;  // bytes; smaller ones are not for us

  LargeBlocks() = default;
  LargeBlocks(const LargeBlocks&) = delete;
  LargeBlocks& operator=(const LargeBlocks&) = delete;
  ~LargeBlocks();  // returns the arenas; no block may be in use

  // Aligned to a cache line; nullptr: the system has no more. Thread-safe.
  void* allocate(size_t bytes);
  // False: the block is none of ours.
  bool release(void* block);

  size_t bytes_in_use() const;
  size_t bytes_reserved() const;  // arenas; pages never touched cost nothing

 private:
  using Address = std::byte*;
  bool reserve(size_t bytes);
  void add_free(Address address, size_t bytes);

  mutable std::mutex mutex_;
  std::map<Address, size_t> arenas_;
  std::map<Address, size_t> used_;
  std::map<Address, size_t> free_;
  std::set<std::pair<size_t, Address>> free_by_size_;
  size_t in_use_ = 0;
};

}  // namespace hgt
