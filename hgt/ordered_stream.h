// Items made by worker threads ahead of their use, handed out in the order of their numbers.
// Without workers next() makes them: several at once, on threads that run only while it waits.
//
//   OrderedStream<Batch> stream({.first = 0, .count = 100, .workers = 2},
//                               [&](unsigned worker, uint64_t i, Batch& batch) { ... });
//   for (Batch batch; stream.next(batch);) use(batch);
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "hgt/parallel.h"

namespace hgt {

struct StreamRange {
  uint64_t first = 0;
  uint64_t count = 0;     // items in all
  unsigned workers = 1;   // threads; 0: next() makes the items
  unsigned queue = 4;     // with workers: items made ahead at most, those in the making included
  unsigned together = 1;  // without workers: items made at once when none is left, each by a thread

  // Threads that make items, whose numbers Make is told.
  unsigned makers() const { return workers > 0 ? workers : std::max(1U, together); }
};

// Item i is made in place i modulo the number of places. A worker takes it up only when item
// i - places has been handed out, so a place belongs to one thread at a time and only the counters
// need the lock.
template <typename Item>
class OrderedStream {
 public:
  // Makes item i; reuses the storage of `item`. No two threads use one worker's number at once.
  using Make = std::function<void(unsigned worker, uint64_t i, Item& item)>;

  // Throws Error if a worker cannot be started.
  OrderedStream(const StreamRange& range, Make make)
      : make_(std::move(make)),
        places_(range.workers > 0 ? std::max(range.workers, range.queue) : range.makers()),
        together_(range.workers > 0 ? 0 : range.makers()),
        next_to_make_(range.first),
        next_to_take_(range.first),
        end_(range.first + range.count) {
    workers_.reserve(range.workers);
    const auto start = [this](unsigned worker) {
      workers_.push_back(start_thread([this, worker] { work(worker); }));
    };
    try {
      for (unsigned i = 0; i < range.workers; ++i) start(i);
    } catch (...) {
      stop();  // those that did start
      throw;
    }
  }
  OrderedStream(const OrderedStream&) = delete;
  OrderedStream& operator=(const OrderedStream&) = delete;
  ~OrderedStream() { stop(); }

  // The next item; false: there is none. What `item` held before is reused for later ones. Throws
  // what making this item threw, or Error if a thread cannot be started; the stream then has ended.
  bool next(Item& item) {
    if (next_to_take_ == end_) return false;
    const uint64_t i = next_to_take_;
    const auto start = std::chrono::steady_clock::now();
    if (together_ == 0) {
      wait_for(i);
    } else if (!place(i).ready) {
      std::swap(item, place(i).item);  // its storage serves right now
      make_some();
    }
    waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::swap(item, place(i).item);
    const std::exception_ptr error = std::exchange(place(i).error, nullptr);
    {
      const std::scoped_lock lock(mutex_);
      place(i).ready = false;
      ++next_to_take_;
      if (error) end_ = next_to_take_;
    }
    room_.notify_all();
    if (error) {
      stop();
      std::rethrow_exception(error);
    }
    return true;
  }

  double seconds_waited() const { return waited_; }  // that next() spent on having an item

 private:
  struct Place {
    Item item;
    std::exception_ptr error;
    bool ready = false;
  };

  Place& place(uint64_t i) { return places_[i % places_.size()]; }

  void make(unsigned worker, uint64_t i) {
    Place& at = place(i);
    try {
      make_(worker, i, at.item);
    } catch (...) {
      at.error = std::current_exception();
    }
  }

  // The next items, each on a thread of its own.
  void make_some() {
    const uint64_t count = std::min<uint64_t>(together_, end_ - next_to_make_);
    const auto start = [this](unsigned maker) {
      return start_thread([this, maker] { make(maker, next_to_make_ + maker); });
    };
    try {
      std::vector<std::jthread> others;  // joined at the end of this scope
      for (unsigned i = 1; i < count; ++i) others.push_back(start(i));
      make(0, next_to_make_);
    } catch (...) {
      end_ = next_to_take_;
      throw;
    }
    for (uint64_t i = 0; i < count; ++i) place(next_to_make_++).ready = true;
  }

  void work(unsigned worker) {
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [&] {
        return stopping_ || next_to_make_ == end_ || next_to_make_ < next_to_take_ + places_.size();
      });
      if (stopping_ || next_to_make_ == end_) return;
      const uint64_t i = next_to_make_++;
      lock.unlock();
      make(worker, i);
      lock.lock();
      place(i).ready = true;
      made_.notify_all();
    }
  }

  void wait_for(uint64_t i) {
    std::unique_lock lock(mutex_);
    made_.wait(lock, [&] { return place(i).ready; });
  }

  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    room_.notify_all();
    workers_.clear();  // joins them
  }

  const Make make_;
  std::vector<Place> places_;
  const unsigned together_;  // 0: there are workers
  std::mutex mutex_;
  std::condition_variable room_;  // a place has become free, or the end has come
  std::condition_variable made_;
  uint64_t next_to_make_;
  uint64_t next_to_take_;
  uint64_t end_;
  bool stopping_ = false;
  double waited_ = 0;
  std::vector<std::jthread> workers_;
};

}  // namespace hgt
