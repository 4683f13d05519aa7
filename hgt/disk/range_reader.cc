#include "hgt/disk/range_reader.h"

#include <fmt/format.h>
#include <liburing.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "hgt/error.h"
#include "hgt/parallel.h"

namespace hgt {

namespace {

constexpr unsigned kInFlight = 128;               // requests of a ring; disks gain little from more
constexpr size_t kThreads = 16;                   // that wait for one range each
constexpr size_t kMostAtOnce = size_t{1} << 30U;  // bytes of a request; the rest is read afterwards

// True: it was in memory. False also starts reading it, where the file system can do this.
bool read_from_memory(const FileRange& range) {
  const iovec part{.iov_base = range.into.data(), .iov_len = range.into.size()};
  const ssize_t got =
      ::preadv2(range.file->descriptor(), &part, 1, static_cast<off_t>(range.offset), RWF_NOWAIT);
  return got == static_cast<ssize_t>(range.into.size());
}

void read_and_wait(const FileRange& range) {
  const size_t got = range.file->read_at(range.into.data(), range.into.size(), range.offset);
  if (got == range.into.size()) return;
  throw Error(fmt::format(
      "{}: ends at byte {}, before the {} bytes from {} on; it was shortened "
      "while in use, or is damaged",
      range.file->path().string(), range.offset + got, range.into.size(), range.offset));
}

// As many threads that do the work as can be started, `wanted` at most.
std::vector<std::jthread> start_some(size_t wanted, const std::function<void()>& work) {
  std::vector<std::jthread> threads;
  threads.reserve(wanted);
  try {
    while (threads.size() < wanted) threads.push_back(start_thread(work));
  } catch (const Error&) {  // it takes longer with fewer, that is all
  }
  return threads;
}

void read_by_threads(std::span<const FileRange> ranges) {
  std::atomic<size_t> next = 0;
  FirstFailure failure;
  const auto work = [&] {
    for (size_t i = next++; i < ranges.size() && !failure.any(); i = next++) {
      failure.watch(std::bind_front(read_and_wait, std::cref(ranges[i])));
    }
  };
  {
    const auto others = start_some(std::min(kThreads, ranges.size()) - 1, work);
    work();  // the others are joined at the end of this scope
  }
  failure.rethrow();
}

}  // namespace

// --- io_uring ---

class RangeReader::Ring {
 public:
  // nullptr: the system does not allow it; sets `error`.
  static std::unique_ptr<Ring> open(int& error) {
    auto ring = std::unique_ptr<Ring>(new Ring);
    error = -::io_uring_queue_init(kInFlight, &ring->ring_, 0);
    ring->is_open_ = error == 0;
    return ring->is_open_ ? std::move(ring) : nullptr;
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    if (is_open_) ::io_uring_queue_exit(&ring_);
  }

  // Clears `file` of those that were read whole. When it returns, nothing is under way any more.
  void read(std::span<FileRange> ranges) {
    size_t asked = 0;
    size_t answered = 0;
    while (answered < ranges.size()) {
      while (asked < ranges.size() && asked - answered < kInFlight && ask(ranges[asked], asked)) {
        ++asked;
      }
      const auto under_way = static_cast<unsigned>(asked - answered);
      // Interrupted, or no memory right now: those that were not handed over are so the next time.
      static_cast<void>(::io_uring_submit_and_wait(&ring_, (under_way + 1) / 2));
      answered += take_answers(ranges);
    }
  }

 private:
  Ring() = default;

  bool ask(const FileRange& range, size_t number) {
    io_uring_sqe* const request = ::io_uring_get_sqe(&ring_);
    if (request == nullptr) return false;
    const auto bytes = static_cast<unsigned>(std::min(range.into.size(), kMostAtOnce));
    ::io_uring_prep_read(request, range.file->descriptor(), range.into.data(), bytes, range.offset);
    ::io_uring_sqe_set_data64(request, number);
    return true;
  }

  size_t take_answers(std::span<FileRange> ranges) {
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe* answer = nullptr;
    io_uring_for_each_cqe(&ring_, head, answer) {
      FileRange& range = ranges[::io_uring_cqe_get_data64(answer)];
      if (std::cmp_equal(answer->res, range.into.size())) range.file = nullptr;
      ++count;
    }
    ::io_uring_cq_advance(&ring_, count);
    return count;
  }

  io_uring ring_{};
  bool is_open_ = false;
};

// --- RangeReader ---

RangeReader::RangeReader() : RangeReader(ReadingWay::io_uring) {}
RangeReader::RangeReader(ReadingWay way) : wants_rings_(way == ReadingWay::io_uring) {}
RangeReader::~RangeReader() = default;

std::unique_ptr<RangeReader::Ring> RangeReader::take_ring() {
  const std::scoped_lock lock(mutex_);
  if (!wants_rings_ || ring_error_ != 0) return nullptr;
  if (free_rings_.empty()) return Ring::open(ring_error_);
  std::unique_ptr<Ring> ring = std::move(free_rings_.back());
  free_rings_.pop_back();
  return ring;
}

void RangeReader::put_back(std::unique_ptr<Ring> ring) {
  const std::scoped_lock lock(mutex_);
  free_rings_.push_back(std::move(ring));
}

void RangeReader::read(std::span<const FileRange> ranges) {
  read(ranges, [](size_t /*number*/) {});
}

void RangeReader::read(std::span<const FileRange> ranges, const Arrived& arrived) {
  std::vector<size_t> missing;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (read_from_memory(ranges[i])) {
      arrived(i);
    } else {
      missing.push_back(i);
    }
  }
  if (missing.empty()) return;
  std::vector<FileRange> wanted;
  for (const size_t i : missing) wanted.push_back(ranges[i]);
  read_from_disk(wanted);
  for (const size_t i : missing) arrived(i);
}

void RangeReader::read_from_disk(std::span<FileRange> missing) {
  std::unique_ptr<Ring> ring = take_ring();
  if (ring == nullptr) return read_by_threads(missing);
  ring->read(missing);
  put_back(std::move(ring));
  for (const FileRange& range : missing) {
    if (range.file != nullptr) read_and_wait(range);  // says what is wrong with it
  }
}

ReadingWay RangeReader::way() {
  std::unique_ptr<Ring> ring = take_ring();
  if (ring == nullptr) return ReadingWay::threads;
  put_back(std::move(ring));
  return ReadingWay::io_uring;
}

std::string RangeReader::reason_for_threads() {
  if (way() == ReadingWay::io_uring) return "";
  const std::scoped_lock lock(mutex_);
  return ring_error_ == 0 ? "" : std::strerror(ring_error_);
}

}  // namespace hgt
