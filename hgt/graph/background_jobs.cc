#include "hgt/graph/background_jobs.h"

#include <utility>

namespace hgt {

JobThreads::JobThreads(unsigned threads) {
  const auto do_jobs = [this] { work(); };
  try {
    for (unsigned i = 0; i < threads; ++i) threads_.push_back(start_thread(do_jobs));
  } catch (...) {
    stop();  // those that did start
    throw;
  }
}

JobThreads::~JobThreads() { stop(); }

void JobThreads::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  submitted_.notify_all();
  threads_.clear();  // joins them
}

void JobThreads::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    submitted_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    failure_.watch(job.work);
    lock.lock();
    if (--*job.unfinished == 0) finished_.notify_all();
  }
}

void JobGroup::submit(std::function<void()> work) {
  if (threads_.threads_.empty()) return work();
  {
    const std::scoped_lock lock(threads_.mutex_);
    threads_.jobs_.push_back({std::move(work), &unfinished_});
    ++unfinished_;
  }
  threads_.submitted_.notify_one();
}

void JobGroup::wait() {
  finish();
  if (threads_.failure_.any()) threads_.failure_.rethrow();
}

void JobGroup::finish() {
  std::unique_lock lock(threads_.mutex_);
  threads_.finished_.wait(lock, [this] { return unfinished_ == 0; });
}

}  // namespace hgt
