#include "hgt/graph/array_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "hgt/error.h"

namespace hgt {

static_assert(std::endian::native == std::endian::little, "the graph format is little-endian");

namespace {

constexpr size_t kStreamBuffer = size_t{1} << 20U;
constexpr uint64_t kFirstCapacity = uint64_t{1} << 20U;

}  // namespace

size_t item_size(std::string_view dtype) { return static_cast<size_t>(dtype.back() - '0'); }

uint64_t num_items(std::span<const uint64_t> shape) {
  uint64_t items = 1;
  for (const uint64_t extent : shape) items *= extent;
  return items;
}

std::string array_header(std::string_view dtype, std::span<const uint64_t> shape) {
  std::string extents;
  for (const uint64_t extent : shape) extents += fmt::format("{}, ", extent);
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (shape.size() == 1) extents.pop_back();
  std::string header("\x93NUMPY\x01\x00\x76\x00", 10);  // 0x76 = 118 bytes follow
  header +=
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, extents);
  header.resize(kArrayHeaderBytes - 1, ' ');
  return header + '\n';
}

// --- ArrayStream ---

struct ArrayStream::Digest {
  XXH3_state_t state;
};

ArrayStream::ArrayStream(const Path& folder, std::string file, std::string_view dtype)
    : file_(File::create(folder / file)),
      record_{.file = std::move(file), .dtype = std::string(dtype), .shape = {}},
      item_size_(item_size(dtype)),
      digest_(new Digest) {
  XXH3_64bits_reset(&digest_->state);
  buffer_.reserve(kStreamBuffer);
  const std::string room(kArrayHeaderBytes, '\0');  // no valid header before close()
  file_.write(room.data(), room.size());
}

ArrayStream::ArrayStream(ArrayStream&& other) noexcept
    : file_(std::move(other.file_)),
      record_(std::move(other.record_)),
      item_size_(other.item_size_),
      items_bytes_(other.items_bytes_),
      buffer_(std::move(other.buffer_)),
      digest_(std::exchange(other.digest_, nullptr)) {}

ArrayStream& ArrayStream::operator=(ArrayStream&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(record_, other.record_);
  std::swap(item_size_, other.item_size_);
  std::swap(items_bytes_, other.items_bytes_);
  std::swap(buffer_, other.buffer_);
  std::swap(digest_, other.digest_);
  return *this;
}

ArrayStream::~ArrayStream() { delete digest_; }

void ArrayStream::append_bytes(const void* data, size_t bytes) {
  const auto* at = static_cast<const std::byte*>(data);
  items_bytes_ += bytes;
  while (bytes > 0) {
    const size_t room = std::min(bytes, kStreamBuffer - buffer_.size());
    buffer_.insert(buffer_.end(), at, at + room);
    at += room;
    bytes -= room;
    if (buffer_.size() == kStreamBuffer) flush();
  }
}

void ArrayStream::flush() {
  XXH3_64bits_update(&digest_->state, buffer_.data(), buffer_.size());
  file_.write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

ArrayRecord ArrayStream::close() {
  flush();
  record_.shape = {items()};
  record_.checksum = XXH3_64bits_digest(&digest_->state);
  const std::string header = array_header(record_.dtype, record_.shape);
  file_.write_at(header.data(), header.size(), 0);
  file_.close();
  return record_;
}

// --- GrowingArray ---

GrowingArray::GrowingArray(const Path& folder, std::string file, std::string_view dtype)
    : file_(File::create(folder / file)),
      record_{.file = std::move(file), .dtype = std::string(dtype), .shape = {}},
      item_size_(item_size(dtype)) {
  map(kFirstCapacity);
}

GrowingArray::GrowingArray(GrowingArray&& other) noexcept
    : file_(std::move(other.file_)),
      record_(std::move(other.record_)),
      item_size_(other.item_size_),
      items_(other.items_),
      capacity_bytes_(other.capacity_bytes_),
      mapping_(std::exchange(other.mapping_, nullptr)) {}

GrowingArray::~GrowingArray() { unmap(); }

void GrowingArray::unmap() {
  if (mapping_ != nullptr) ::munmap(mapping_, capacity_bytes_);
  mapping_ = nullptr;
}

void GrowingArray::map(uint64_t capacity) {
  file_.reserve(capacity);
  unmap();
  void* mapping =
      ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, file_.descriptor(), 0);
  if (mapping == MAP_FAILED) fail_on_disk(file_.path(), "map the file");
  mapping_ = static_cast<std::byte*>(mapping);
  capacity_bytes_ = capacity;
}

void GrowingArray::resize(uint64_t items) {
  const uint64_t needed = kArrayHeaderBytes + items * item_size_;
  if (items < items_) {
    std::fill(mapping_ + needed, mapping_ + kArrayHeaderBytes + items_ * item_size_, std::byte{0});
  }
  if (needed > capacity_bytes_) map(std::max(needed, capacity_bytes_ + capacity_bytes_ / 2));
  items_ = items;
}

void GrowingArray::drop_pages() { ::madvise(mapping_, capacity_bytes_, MADV_DONTNEED); }

ArrayRecord GrowingArray::close(std::vector<uint64_t> shape) {
  assert(num_items(shape) == items_);
  record_.shape = std::move(shape);
  const uint64_t bytes = items_ * item_size_;
  record_.checksum = checksum({mapping_ + kArrayHeaderBytes, bytes});
  const std::string header = array_header(record_.dtype, record_.shape);
  std::copy_n(reinterpret_cast<const std::byte*>(header.data()), header.size(), mapping_);
  unmap();
  file_.truncate(kArrayHeaderBytes + bytes);
  file_.close();
  return record_;
}

// --- MappedArray ---

MappedArray::MappedArray(const Path& folder, const ArrayRecord& record) {
  const File file = File::open_to_read(folder / record.file);
  const uint64_t expected = kArrayHeaderBytes + num_items(record.shape) * item_size(record.dtype);
  if (file.size() != expected) {
    throw Error(fmt::format(
        "{}: has {} bytes where schema.json calls for {}; the file is damaged or incomplete, make "
        "the graph again",
        file.path().string(), file.size(), expected));
  }
  const std::string wanted = array_header(record.dtype, record.shape);
  std::string header(kArrayHeaderBytes, '\0');
  file.read_at(header.data(), header.size(), 0);
  if (header != wanted) {
    throw Error(fmt::format(
        "{}: its .npy header does not say {} with the shape in schema.json; the file is damaged, "
        "make the graph again",
        file.path().string(), record.dtype));
  }
  void* mapping = ::mmap(nullptr, expected, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapping == MAP_FAILED) fail_on_disk(file.path(), "map the file");
  mapping_ = static_cast<const std::byte*>(mapping);
  mapped_bytes_ = expected;
}

MappedArray::MappedArray(MappedArray&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)) {}

MappedArray& MappedArray::operator=(MappedArray&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  return *this;
}

MappedArray::~MappedArray() {
  if (mapping_ != nullptr) ::munmap(const_cast<std::byte*>(mapping_), mapped_bytes_);
}

}  // namespace hgt
