// For tests: a program in which only so many threads can be started. Include it in one source of a
// test program: its pthread_create takes the place of the C library's.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace hgt {

inline std::atomic<int> threads_left = -1;  // that can still be started; negative: any number

// While it lives, only `count` threads can be started.
class ThreadLimit {
 public:
  explicit ThreadLimit(int count) { threads_left = count; }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
  ~ThreadLimit() { threads_left = -1; }
};

#if defined(__SANITIZE_THREAD__)  // it has a pthread_create of its own
constexpr bool kThreadsCanBeLimited = false;
#else
constexpr bool kThreadsCanBeLimited = true;
#endif

}  // namespace hgt

#if !defined(__SANITIZE_THREAD__)
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*routine)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (hgt::threads_left == 0) return EAGAIN;
  if (hgt::threads_left > 0) --hgt::threads_left;
  return create(thread, attributes, routine, argument);
}
#endif
