#include "hgt/features/metapath2vec/walk_threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hgt {

namespace {

class SharedRange {
 public:
  SharedRange(const NumberRange& range, uint64_t piece)
      : next_(range.first), range_(range), piece_(piece) {}

  // Takes pieces until none is left or somebody failed. `after` is called after each.
  template <typename Work, typename After>
  void take(const Work& work, const After& after) {
    try {
      while (!stop_) {
        const uint64_t first = next_.fetch_add(piece_);
        if (first >= range_.last) return;
        const uint64_t last = std::min(range_.last, first + piece_);
        work(NumberRange{first, last});
        after(done_ += last - first);
      }
    } catch (...) {
      stop_ = true;
      const std::scoped_lock lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::atomic<uint64_t> next_;
  std::atomic<uint64_t> done_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::exception_ptr failure_;
  NumberRange range_;
  uint64_t piece_;
};

}  // namespace

void share_out(const NumberRange& range, uint64_t piece, uint32_t threads,
               const std::function<void(const NumberRange&)>& work,
               const std::function<void(uint64_t)>& report) {
  SharedRange shared(range, piece);
  const auto take_silently = [&] { shared.take(work, [](uint64_t) {}); };
  std::vector<std::jthread> others;
  for (uint32_t i = 1; i < threads; ++i) others.emplace_back(take_silently);
  shared.take(work, report);
  others.clear();  // waits for them
  shared.rethrow();
}

}  // namespace hgt
