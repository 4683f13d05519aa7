#include "hgt/disk/mapping.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace {

// nullptr for 0 bytes, of which the system makes no mapping.
std::byte* mapped(const File& file, uint64_t bytes, int protection) {
  if (const uint64_t size = file.size(); size < bytes) {
    throw Error(fmt::format(
        "{}: has {} bytes, but {} are needed; the file is damaged or incomplete, create it again",
        file.path().string(), size, bytes));
  }
  if (bytes == 0) return nullptr;
  void* const at = ::mmap(nullptr, bytes, protection, MAP_SHARED, file.descriptor(), 0);
  if (at == MAP_FAILED) fail_on_disk(file.path(), fmt::format("map its {} bytes", bytes));
  return static_cast<std::byte*>(at);
}

}  // namespace

Mapping Mapping::to_read(const File& file, uint64_t bytes) {
  Mapping mapping;
  mapping.data_ = mapped(file, bytes, PROT_READ);
  mapping.size_ = bytes;
  return mapping;
}

Mapping Mapping::to_write(const File& file, uint64_t bytes) {
  Mapping mapping;
  mapping.data_ = mapped(file, bytes, PROT_READ | PROT_WRITE);
  mapping.size_ = bytes;
  mapping.writable_ = true;
  return mapping;
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      writable_(other.writable_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(writable_, other.writable_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

void Mapping::drop_pages() {
  if (data_ != nullptr) ::madvise(data_, size_, MADV_DONTNEED);
}

}  // namespace hgt
