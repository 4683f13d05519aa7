// Files mapped into memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hgt/disk/file.h"

namespace hgt {

// How a mapping is going to be read. In order, which is what the system assumes, it reads far
// around every page that is missing: megabytes on some machines. At random, it reads just that
// page.
enum class Access { in_order, at_random };

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
  void expect(Access access) const;

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  bool writable_ = false;
};

using MemoryRange = std::span<const std::byte>;

// These parts of mappings will be read soon. What of them is not in memory the system reads all
// together and in the background; who then looks at it waits for that at most. The ranges may
// overlap; they are left sorted and joined. Never fails: what cannot be read, the one who looks at
// it finds out.
void will_need(std::vector<MemoryRange>& ranges);

}  // namespace hgt
