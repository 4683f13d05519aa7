// Files mapped into memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hgt/disk/file.h"

namespace hgt {

// A file from its beginning, mapped as long as this object lives; the File may be closed before.
// The mapping is shared: it shows what others write to the file. If anybody shortens the file,
// reading past its new end kills the process.
class Mapping {
 public:
  Mapping() = default;  // of nothing

  // Throws Error: the file has fewer bytes, or cannot be mapped. 0 bytes are an empty mapping.
  static Mapping to_read(const File& file, uint64_t bytes);
  static Mapping to_write(const File& file, uint64_t bytes);  // opened for writing; changes it

  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::span<std::byte> writable_bytes() {
    assert(writable_ || size_ == 0);
    return {data_, size_};
  }
  void drop_pages();  // releases the memory; nothing is lost, the file has it

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  bool writable_ = false;
};

}  // namespace hgt
