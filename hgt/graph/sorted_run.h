// Sorted runs of edges on disk, compressed: written once, read once, front to back. What has been
// read is given back to the file system.
//
// An edge is stored as its difference from the one in front of it, in integers of variable length:
// seven bits per byte, the lowest first; the eighth bit says that more follow. Target and source
// are one number, in which sources take as many bits as those of the run need: usually 4 or 5
// bytes per edge. Where edges carry times or weights, two numbers follow: the step of the time, its
// sign in the lowest bit, and the bits of the weight that changed.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/graph/edge_record.h"

namespace hgt {

class NumberWriter {
 public:
  explicit NumberWriter(File file);

  void put(uint64_t number) {
    if (used_ + kMaxNumberBytes > buffer_.size()) flush();
    for (; number >= 0x80; number >>= 7U) buffer_[used_++] = static_cast<uint8_t>(number | 0x80);
    buffer_[used_++] = static_cast<uint8_t>(number);
  }
  File finish();

  static constexpr size_t kMaxNumberBytes = 10;

 private:
  void flush();

  File file_;
  std::vector<uint8_t> buffer_;
  size_t used_ = 0;
};

class NumberReader {
 public:
  explicit NumberReader(File file);

  // Throws Error: the file ends too early.
  uint64_t take() {
    if (at_ + NumberWriter::kMaxNumberBytes > filled_) refill();
    uint64_t number = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = buffer_[at_++];
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return number;
  }

 private:
  void refill();

  File file_;
  uint64_t size_;
  uint64_t offset_ = 0;  // where the file goes on behind the buffer
  uint64_t given_back_ = 0;
  std::vector<uint8_t> buffer_;  // [filled_], and zeros behind the end of the file
  size_t filled_ = 0;
  size_t at_ = 0;
};

// A run that was written.
struct SortedRun {
  File file;
  uint64_t records = 0;
  uint32_t source_bits = 0;  // that the sources take
};

template <typename Record>
class RunWriter {
 public:
  RunWriter(File file, uint32_t source_bits)
      : numbers_(std::move(file)), source_bits_(source_bits) {}

  void append(const Record& record) {
    const uint64_t place = ((record.key >> 32U) << source_bits_) | static_cast<NodeId>(record.key);
    numbers_.put(place - place_);
    place_ = place;
    if constexpr (std::same_as<Record, RichRecord>) {
      const auto step = static_cast<int64_t>((record.payload >> 32U) - (last_.payload >> 32U));
      numbers_.put((static_cast<uint64_t>(step) << 1U) ^ static_cast<uint64_t>(step >> 63U));
      numbers_.put(static_cast<uint32_t>(record.payload ^ last_.payload));
    }
    last_ = record;
    ++records_;
  }
  SortedRun finish() {
    return {.file = numbers_.finish(), .records = records_, .source_bits = source_bits_};
  }

 private:
  NumberWriter numbers_;
  uint32_t source_bits_;
  uint64_t records_ = 0;
  uint64_t place_ = 0;  // target and source of the last record
  Record last_{};
};

template <typename Record>
class RunReader {
 public:
  explicit RunReader(SortedRun run)
      : numbers_(std::move(run.file)), source_bits_(run.source_bits), remaining_(run.records) {}

  // The next records, instead of what is in `into`; none: it was the end.
  void read(std::vector<Record>& into) {
    into.resize(std::min<uint64_t>(remaining_, kRecordsAtOnce));
    remaining_ -= into.size();
    for (Record& record : into) record = next();
  }

 private:
  static constexpr uint64_t kRecordsAtOnce = 4096;

  const Record& next() {
    place_ += numbers_.take();
    const uint64_t sources = (uint64_t{1} << source_bits_) - 1;
    last_.key = ((place_ >> source_bits_) << 32U) | (place_ & sources);
    if constexpr (std::same_as<Record, RichRecord>) {
      const uint64_t step = numbers_.take();
      const uint64_t time = (last_.payload >> 32U) + ((step >> 1U) ^ -(step & 1U));
      last_.payload = (time << 32U) | (static_cast<uint32_t>(last_.payload) ^ numbers_.take());
    }
    return last_;
  }

  NumberReader numbers_;
  uint32_t source_bits_;
  uint64_t remaining_;
  uint64_t place_ = 0;  // target and source of the last record
  Record last_{};
};

}  // namespace hgt
