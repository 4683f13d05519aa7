#include "hgt/features/metapath2vec/walk_threads.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "hgt/parallel.h"

namespace hgt {

void share_out(const NumberRange& range, uint64_t piece, uint32_t threads,
               const std::function<void(const NumberRange&)>& work,
               const std::function<void(uint64_t)>& report) {
  std::atomic<uint64_t> next = range.first;
  std::atomic<uint64_t> done = 0;
  FirstFailure failure;
  // Takes pieces until none is left or somebody failed.
  const auto take_pieces = [&](const std::function<void(uint64_t)>& after) {
    while (!failure.any()) {
      const uint64_t first = next.fetch_add(piece);
      if (first >= range.last) return;
      const uint64_t last = std::min(range.last, first + piece);
      work(NumberRange{first, last});
      after(done += last - first);
    }
  };
  const auto take_silently = [&] { take_pieces([](uint64_t) {}); };
  const auto help = [&] { failure.watch(take_silently); };
  std::vector<std::jthread> others;
  failure.watch([&] {
    for (uint32_t i = 1; i < threads; ++i) others.push_back(start_thread(help));
  });
  failure.watch([&] { take_pieces(report); });
  others.clear();  // waits for them
  failure.rethrow();
}

}  // namespace hgt
