// A column of strings: all bytes one after another, and where each string begins in them.
#pragma once

#include <span>
#include <string_view>

#include "hgt/graph/array_file.h"
#include "hgt/graph/list_index.h"

namespace hgt {

// A view; the arrays must outlive it.
struct StringColumn {
  ListIndex strings;
  std::span<const char> bytes;

  uint64_t size() const { return strings.size(); }
  // Throws Error when there is no such row or the arrays are damaged, so it never reads out of
  // bounds.
  std::string_view at(uint64_t row) const;
};

// Writes "<prefix>_bytes.npy" and the arrays of the list index in a stream.
class StringColumnStream {
 public:
  StringColumnStream(const Path& folder, const std::string& prefix);
  void append(std::string_view text);
  void close(std::vector<ArrayRecord>& records);  // adds those of all arrays

 private:
  ListIndexWriter<ArrayStream> strings_;
  ArrayStream bytes_;
};

}  // namespace hgt
