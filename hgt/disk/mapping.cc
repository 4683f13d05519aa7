#include "hgt/disk/mapping.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
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

void Mapping::expect(Access access) const {
  if (data_ == nullptr) return;
  ::madvise(data_, size_, access == Access::at_random ? MADV_RANDOM : MADV_NORMAL);
}

void Mapping::drop_pages() {
  if (data_ != nullptr) ::madvise(data_, size_, MADV_DONTNEED);
}

// --- will_need ---

namespace {

MemoryRange whole_pages(MemoryRange range, size_t page) {
  const size_t before = reinterpret_cast<uintptr_t>(range.data()) % page;
  return {range.data() - before, (before + range.size() + page - 1) / page * page};
}

// Sorted by address; those that touch each other become one.
void sort_and_join(std::vector<MemoryRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](MemoryRange a, MemoryRange b) { return a.data() < b.data(); });
  size_t kept = 0;
  for (const MemoryRange range : ranges) {
    MemoryRange& before = ranges[kept == 0 ? 0 : kept - 1];
    if (kept == 0 || range.data() > before.data() + before.size()) {
      ranges[kept++] = range;
    } else {
      const std::byte* const end =
          std::max(before.data() + before.size(), range.data() + range.size());
      before = {before.data(), end};
    }
  }
  ranges.resize(kept);
}

// As pieces that the system takes whole: of longer ones it reads only the beginning.
std::vector<iovec> pieces_of(std::span<const MemoryRange> ranges) {
  constexpr size_t kPiece = size_t{1} << 17U;
  std::vector<iovec> pieces;
  for (const MemoryRange range : ranges) {
    for (size_t at = 0; at < range.size(); at += kPiece) {
      pieces.push_back({.iov_base = const_cast<std::byte*>(range.data() + at),
                        .iov_len = std::min(kPiece, range.size() - at)});
    }
  }
  return pieces;
}

// False: the system cannot be told of many pieces at once.
bool advise_at_once(std::span<const iovec> pieces) {
  const auto self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  if (self < 0) return false;
  bool told = true;
  for (size_t done = 0; told && done < pieces.size(); done += IOV_MAX) {
    const size_t count = std::min<size_t>(IOV_MAX, pieces.size() - done);
    told = ::syscall(SYS_process_madvise, self, &pieces[done], count, MADV_WILLNEED, 0) >= 0;
  }
  ::close(self);
  return told;
}

}  // namespace

void will_need(std::vector<MemoryRange>& ranges) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::erase_if(ranges, [](MemoryRange range) { return range.empty(); });
  for (MemoryRange& range : ranges) range = whole_pages(range, page);
  sort_and_join(ranges);
  const std::vector<iovec> pieces = pieces_of(ranges);
  if (pieces.empty() || advise_at_once(pieces)) return;
  for (const iovec& piece : pieces) ::madvise(piece.iov_base, piece.iov_len, MADV_WILLNEED);
}

}  // namespace hgt
