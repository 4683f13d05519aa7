// Threads that work off a queue of bounded length.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hgt {

class WorkerQueue {
 public:
  using Job = std::function<void()>;  // must not throw

  WorkerQueue(size_t threads, size_t waiting);
  WorkerQueue(const WorkerQueue&) = delete;
  WorkerQueue& operator=(const WorkerQueue&) = delete;
  ~WorkerQueue() { finish(); }

  // False: `waiting` jobs wait already; the job is not taken.
  bool add(const Job& job);
  // Works off what waits, then ends the threads. Nothing may be added afterwards.
  void finish();

 private:
  void work();

  size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool finishing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hgt
