// A column of strings in two arrays: where each one starts, and all bytes one after another.
#pragma once

#include <span>
#include <string_view>

#include "hgt/graph/array_file.h"

namespace hgt {

// A view; the arrays must outlive it. [n + 1] offsets, [offsets[n]] bytes.
struct StringColumn {
  std::span<const int64_t> offsets;
  std::span<const char> bytes;
  std::string_view file = {};  // of the offsets, for errors

  uint64_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  // Throws Error when there is no such row or the offsets are damaged, so it never reads out of
  // bounds.
  std::string_view at(uint64_t row) const;
};

// Writes "<prefix>_offsets.npy" and "<prefix>_bytes.npy" in a stream.
class StringColumnStream {
 public:
  StringColumnStream(const Path& folder, const std::string& prefix);
  void append(std::string_view text);
  void close(std::vector<ArrayRecord>& records);  // adds the two records

 private:
  ArrayStream offsets_;
  ArrayStream bytes_;
};

}  // namespace hgt
