// Jobs on background threads, and groups of them that can be waited for.
//
//   JobThreads threads(2);
//   JobGroup group(threads);
//   group.submit([&] { sort(block); });
//   group.wait();
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "hgt/parallel.h"

namespace hgt {

// Takes jobs up in the order in which they were submitted. Once a job has thrown, later ones are
// not done any more. Outlives its groups.
class JobThreads {
 public:
  // 0: a job is done by the thread that submits it. Throws Error if a thread cannot be started.
  explicit JobThreads(unsigned threads);
  JobThreads(const JobThreads&) = delete;
  JobThreads& operator=(const JobThreads&) = delete;
  ~JobThreads();

 private:
  friend class JobGroup;
  struct Job {
    std::function<void()> work;
    unsigned* unfinished;
  };
  void work();
  void stop();

  std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable finished_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  FirstFailure failure_;
  std::vector<std::jthread> threads_;
};

// The jobs of one owner; used by one thread.
class JobGroup {
 public:
  explicit JobGroup(JobThreads& threads) : threads_(threads) {}
  JobGroup(const JobGroup&) = delete;
  JobGroup& operator=(const JobGroup&) = delete;
  ~JobGroup() { finish(); }

  // What the job refers to must live until wait() or the end of the group.
  void submit(std::function<void()> work);
  // Until all jobs of the group are done. Throws what the first job of any group threw.
  void wait();

 private:
  void finish();

  JobThreads& threads_;
  unsigned unfinished_ = 0;  // guarded by the mutex of threads_
};

}  // namespace hgt
