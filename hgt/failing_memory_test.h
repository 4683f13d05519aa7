// For tests: a program in which an allocation by new fails. Include it in one source of a test
// program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace hgt {

inline std::atomic<int64_t> allocations_left = -1;  // negative: any number

// While it lives, allocations fail after `count` of them, in all threads.
class AllocationLimit {
 public:
  explicit AllocationLimit(int64_t count) { allocations_left = count; }
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;
  ~AllocationLimit() { allocations_left = -1; }
};

}  // namespace hgt

void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  int64_t left = hgt::allocations_left;
  while (left > 0 && !hgt::allocations_left.compare_exchange_weak(left, left - 1)) {
  }
  return left == 0 ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new(std::size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
