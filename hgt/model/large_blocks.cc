#include "hgt/model/large_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "hgt/disk/memory_limit.h"
#include "hgt/model/blas_memory.h"

namespace hgt {

namespace {

constexpr size_t kHugePage = size_t{2} << 20U;
constexpr size_t kArena = size_t{1} << 30U;
constexpr size_t kSmallestArena = size_t{64} << 20U;
constexpr size_t kGrain = 4096;

// Where memory is limited, a large arena would keep from others what it may never use.
size_t arena_bytes() {
  const auto limit = memory_limit();
  return limit ? std::clamp<size_t>(*limit / 16, kSmallestArena, kArena) : kArena;
}

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

LargeBlocks::~LargeBlocks() {
  for (const auto& [address, bytes] : arenas_) munmap(address, bytes);
}

// A new arena that holds at least `bytes`.
bool LargeBlocks::reserve(size_t bytes) {
  const size_t wanted = round_up(std::max(arena_bytes(), bytes), kHugePage);
  // To find an aligned beginning, and to leave others some memory.
  const size_t beside = kHugePage + kHeadroomBytes;
  const size_t mapped = wanted + beside;
  void* const memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  const auto first = reinterpret_cast<uintptr_t>(memory);
  const size_t before = round_up(first, kHugePage) - first;
  auto* const aligned = static_cast<std::byte*>(memory) + before;
  if (before > 0) munmap(memory, before);
  munmap(aligned + wanted, beside - before);
  madvise(aligned, wanted, MADV_HUGEPAGE);  // only advice: may fail
  arenas_[aligned] = wanted;
  add_free(aligned, wanted);
  return true;
}

// Joins the block with free neighbors of the same arena.
void LargeBlocks::add_free(Address address, size_t bytes) {
  const auto joins = [&](Address at) { return !arenas_.contains(at); };  // no arena begins there
  const auto next = free_.lower_bound(address);
  if (next != free_.end() && next->first == address + bytes && joins(next->first)) {
    bytes += next->second;
    free_by_size_.erase({next->second, next->first});
    free_.erase(next);
  }
  const auto after = free_.lower_bound(address);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address && joins(address)) {
      address = before->first;
      bytes += before->second;
      free_by_size_.erase({before->second, before->first});
      free_.erase(before);
    }
  }
  free_[address] = bytes;
  free_by_size_.insert({bytes, address});
}

void* LargeBlocks::allocate(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() / 2) return nullptr;
  const std::lock_guard lock(mutex_);
  const size_t size = round_up(std::max<size_t>(bytes, 1), kGrain);
  auto fit = free_by_size_.lower_bound({size, nullptr});  // the smallest that is large enough
  if (fit == free_by_size_.end()) {
    if (!reserve(size)) return nullptr;
    fit = free_by_size_.lower_bound({size, nullptr});
  }
  const auto [found, address] = *fit;
  free_by_size_.erase(fit);
  free_.erase(address);
  if (found > size) {
    free_[address + size] = found - size;
    free_by_size_.insert({found - size, address + size});
  }
  used_[address] = size;
  in_use_ += size;
  return address;
}

bool LargeBlocks::release(void* block) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(static_cast<Address>(block));
  if (found == used_.end()) return false;
  const auto [address, bytes] = *found;
  used_.erase(found);
  in_use_ -= bytes;
  add_free(address, bytes);
  return true;
}

size_t LargeBlocks::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

size_t LargeBlocks::bytes_reserved() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& [address, size] : arenas_) bytes += size;
  return bytes;
}

}  // namespace hgt
