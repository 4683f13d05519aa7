// The text of a file, whether it is stored plain or as gzip or zstd data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hgt/graph/types.h"

namespace hgt {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Writes the next bytes to the front of `room`, which must not be empty, and returns how many:
  // possibly fewer than fit, 0 at the end. Throws Error: unreadable file, truncated or damaged
  // compressed data. After an Error the source cannot be used any more.
  virtual size_t read(std::span<char> room) = 0;

  virtual uint64_t stored_bytes_read() const = 0;
  virtual uint64_t stored_bytes_total() const = 0;  // 0 for what has no size, such as a pipe
};

// Recognizes gzip and zstd by their first bytes; everything else is plain. Several gzip members or
// zstd frames one after another are read as one text. Throws Error: missing file, a directory, no
// permission.
std::unique_ptr<ByteSource> open_byte_source(const Path& file);

}  // namespace hgt
