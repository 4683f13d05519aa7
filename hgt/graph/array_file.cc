#include "hgt/graph/array_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
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

ArrayStream::ArrayStream(const Path& folder, std::string file, std::string_view dtype)
    : file_(File::create(folder / file)),
      record_{.file = std::move(file), .dtype = std::string(dtype), .shape = {}},
      item_size_(item_size(dtype)) {
  buffer_.reserve(kStreamBuffer);
  const std::string room(kArrayHeaderBytes, '\0');  // no valid header before close()
  file_.write(room.data(), room.size());
}

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
  checksum_.add(buffer_);
  file_.write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

ArrayRecord ArrayStream::close(std::vector<uint64_t> shape) {
  if (shape.empty()) shape = {items()};
  assert(num_items(shape) == items());
  flush();
  record_.shape = std::move(shape);
  record_.checksum = checksum_.value();
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

void GrowingArray::map(uint64_t capacity) {
  file_.reserve(capacity);
  mapping_ = Mapping::to_write(file_, capacity);
}

void GrowingArray::resize(uint64_t items) {
  const uint64_t needed = kArrayHeaderBytes + items * item_size_;
  if (items < items_) {
    const auto gone = mapping_.writable_bytes().subspan(needed, (items_ - items) * item_size_);
    std::fill(gone.begin(), gone.end(), std::byte{0});
  }
  const uint64_t capacity = mapping_.bytes().size();
  if (needed > capacity) map(std::max(needed, capacity + capacity / 2));
  items_ = items;
}

void GrowingArray::drop_pages() { mapping_.drop_pages(); }

ArrayRecord GrowingArray::close(std::vector<uint64_t> shape) {
  assert(num_items(shape) == items_);
  record_.shape = std::move(shape);
  const uint64_t bytes = items_ * item_size_;
  record_.checksum = checksum(mapping_.bytes().subspan(kArrayHeaderBytes, bytes));
  const std::string header = array_header(record_.dtype, record_.shape);
  const auto header_bytes = std::as_bytes(std::span(header));
  std::copy(header_bytes.begin(), header_bytes.end(), mapping_.writable_bytes().begin());
  mapping_ = Mapping();
  file_.truncate(kArrayHeaderBytes + bytes);
  file_.close();
  return record_;
}

// --- MappedArray ---

MappedArray::MappedArray(const Path& folder, const ArrayRecord& record)
    : path_(folder / record.file) {
  const File file = File::open_to_read(path_);
  const uint64_t expected = kArrayHeaderBytes + num_items(record.shape) * item_size(record.dtype);
  if (file.size() != expected) {
    throw Error(fmt::format(
        "{}: has {} bytes, but schema.json calls for {}; the file is damaged or incomplete, make "
        "the graph again",
        file.path().string(), file.size(), expected));
  }
  const std::string wanted = array_header(record.dtype, record.shape);
  std::string header(kArrayHeaderBytes, '\0');
  file.read_at(header.data(), header.size(), 0);
  if (header != wanted) {
    throw Error(
        fmt::format("{}: its .npy header does not give the dtype {} and the shape in schema.json; "
                    "the file is damaged, make the graph again",
                    file.path().string(), record.dtype));
  }
  mapping_ = Mapping::to_read(file, expected);
}

}  // namespace hgt
