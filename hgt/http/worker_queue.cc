#include "hgt/http/worker_queue.h"

#include <utility>

namespace hgt {

WorkerQueue::WorkerQueue(size_t threads, size_t waiting) : most_waiting_(waiting) {
  try {
    while (threads_.size() < threads) threads_.emplace_back([this] { work(); });
  } catch (...) {
    finish();
    throw;
  }
}

bool WorkerQueue::add(const Job& job) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= most_waiting_) return false;
    jobs_.push_back(job);
  }
  changed_.notify_one();
  return true;
}

void WorkerQueue::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return finishing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace hgt
