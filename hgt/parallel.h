// Work on several threads whose failures reach the caller. An exception must not leave a thread or
// a parallel region of OpenMP: the program would end on the spot.
//
//   FirstFailure failure;
//   #pragma omp parallel for
//   for (size_t i = 0; i < count; ++i) failure.watch([&] { work(i); });
//   failure.rethrow();
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <latch>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "hgt/error.h"

namespace hgt {

// The first exception of several threads.
class FirstFailure {
 public:
  bool any() const { return failed_; }

  // Calls work() and keeps what it throws. Does nothing once something has failed.
  template <typename Work>
  void watch(const Work& work) noexcept {
    if (failed_) return;
    try {
      work();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!failed_) first_ = std::current_exception();
      failed_ = true;
    }
  }

  // To be called when the threads are done.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr first_;
};

// A thread that is joined at the end of its scope. Throws Error if it cannot be started.
template <typename Work>
std::jthread start_thread(Work work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error& error) {
    throw Error("cannot start a thread (" + error.code().message() +
                "); lower --threads or --workers, or allow the process more threads and memory "
                "(ulimit -u, ulimit -v, the limits of the container)");
  }
}

// How many threads a request for `wanted` means: 0 asks for one per core.
inline unsigned thread_count(unsigned wanted) {
  return wanted > 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
}

// Throws Error unless that many threads can be started now: for libraries that end the program, or
// wait forever, when a thread of theirs cannot be started.
inline void require_threads(unsigned count) {
  std::latch all_tried(1);
  const auto wait = [&all_tried] { all_tried.wait(); };
  std::vector<std::jthread> threads;
  FirstFailure failure;
  failure.watch([&] {
    for (unsigned i = 0; i < count; ++i) threads.push_back(start_thread(wait));
  });
  all_tried.count_down();
  threads.clear();
  failure.rethrow();
}

}  // namespace hgt
