// Many ranges of files, read at once: a disk answers a hundred requests in the time of a few.
//
//   RangeReader reader;
//   reader.read(std::vector<FileRange>{{&file, 4096, first_row}, {&file, 81920, second_row}});
//
// What the system has in memory is copied right away, without waiting and without threads. What it
// has not is asked for all together: through io_uring where the system allows it, otherwise by a
// few threads, each of which waits for one range at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/enum_words.h"

namespace hgt {

enum class ReadingWay { io_uring, threads };
constexpr auto words_of(ReadingWay) {
  return enum_words<ReadingWay>(
      "way of reading", {{ReadingWay::io_uring, "io_uring"}, {ReadingWay::threads, "threads"}});
}

// Bytes of a file from `offset` on, and where they go: as many as fit there.
struct FileRange {
  const File* file = nullptr;
  uint64_t offset = 0;
  std::span<std::byte> into = {};
};

// Safe to use from any number of threads at once.
class RangeReader {
 public:
  // By io_uring where the system allows it. Costs nothing: whether it does is found out when it is
  // first needed.
  RangeReader();
  explicit RangeReader(ReadingWay way);  // io_uring: where the system allows it
  ~RangeReader();

  // Reads every range to its end and calls arrived(its number) on this thread, in any order: those
  // that were in memory while the processor still has them at hand. Throws Error: a file that
  // cannot be read, or ends before, and what `arrived` throws. What the ranges are read into then
  // holds anything, but nobody writes to it any more.
  using Arrived = std::function<void(size_t number)>;
  void read(std::span<const FileRange> ranges, const Arrived& arrived);
  void read(std::span<const FileRange> ranges);

  ReadingWay way();                  // that it takes
  std::string reason_for_threads();  // why not io_uring; "": it is io_uring, or was not wanted

 private:
  class Ring;

  void read_from_disk(std::span<FileRange> missing);
  std::unique_ptr<Ring> take_ring();  // nullptr: there is no io_uring
  void put_back(std::unique_ptr<Ring> ring);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Ring>> free_rings_;  // each in use by one thread at a time
  bool wants_rings_;
  int ring_error_ = 0;  // of the system, when it refused the first
};

}  // namespace hgt
