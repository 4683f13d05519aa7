// The .npy files of a graph folder: written in a stream, written at random through a mapping, and
// mapped for reading.
//
// Every file is NumPy format 1.0 with a header of exactly 128 bytes, little-endian, C order, so the
// data starts at byte 128 and NumPy reads it without our code.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/disk/checksum.h"
#include "hgt/disk/file.h"
#include "hgt/disk/mapping.h"
#include "hgt/graph/schema.h"

namespace hgt {

constexpr size_t kArrayHeaderBytes = 128;

template <typename T>
constexpr std::string_view dtype_of() {
  if constexpr (std::same_as<T, int64_t>) return "<i8";
  if constexpr (std::same_as<T, int32_t>) return "<i4";
  if constexpr (std::same_as<T, int16_t>) return "<i2";
  if constexpr (std::same_as<T, uint32_t>) return "<u4";
  if constexpr (std::same_as<T, float>) return "<f4";
  if constexpr (std::same_as<T, uint16_t>) return "<f2";  // halves are stored as their bits
  if constexpr (std::same_as<T, int8_t>) return "|i1";
  if constexpr (std::same_as<T, char> || std::same_as<T, uint8_t>) return "|u1";
}

size_t item_size(std::string_view dtype);
uint64_t num_items(std::span<const uint64_t> shape);
std::string array_header(std::string_view dtype, std::span<const uint64_t> shape);

// Appends items to one array. The shape is settled by close(); without close() the file is
// not a valid array.
class ArrayStream {
 public:
  ArrayStream(const Path& folder, std::string file, std::string_view dtype);

  template <typename T>
  void append(const T& item) {
    assert(dtype_of<T>() == record_.dtype);
    append_bytes(&item, sizeof(T));
  }
  template <typename T>
  void append(std::span<const T> items) {
    assert(dtype_of<T>() == record_.dtype);
    append_bytes(items.data(), items.size_bytes());
  }
  uint64_t items() const { return items_bytes_ / item_size_; }

  ArrayRecord close(std::vector<uint64_t> shape = {});  // default: [items]

 private:
  void append_bytes(const void* data, size_t bytes);
  void flush();

  File file_;
  ArrayRecord record_;
  size_t item_size_;
  uint64_t items_bytes_ = 0;
  std::vector<std::byte> buffer_;
  Checksum checksum_;
};

// A file that grows and is read and written in place through a shared mapping, so that it need not
// fit in memory: drop_pages() releases its pages at any time without losing data.
class GrowingArray {
 public:
  GrowingArray(const Path& folder, std::string file, std::string_view dtype);

  const Path& path() const { return file_.path(); }
  uint64_t items() const { return items_; }
  void resize(uint64_t items);  // new items are zero; invalidates what as() gave out

  std::span<std::byte> bytes() {
    return mapping_.writable_bytes().subspan(kArrayHeaderBytes, items_ * item_size_);
  }
  template <typename T>
  std::span<T> as() {
    assert(dtype_of<T>() == record_.dtype);
    return {reinterpret_cast<T*>(mapping_.writable_bytes().data() + kArrayHeaderBytes), items_};
  }
  template <typename T>
  void append(std::span<const T> items) {
    const uint64_t at = items_;
    resize(at + items.size());
    std::copy(items.begin(), items.end(), as<T>().begin() + static_cast<ptrdiff_t>(at));
  }
  template <typename T>
  void append(const T& item) {
    append(std::span(&item, 1));
  }

  void drop_pages();
  ArrayRecord close(std::vector<uint64_t> shape);

 private:
  void map(uint64_t capacity);

  File file_;
  ArrayRecord record_;
  size_t item_size_;
  uint64_t items_ = 0;
  Mapping mapping_;
};

// One array of an opened graph, mapped read-only. Construction checks header and size against the
// record and throws an Error that names the file.
class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(const Path& folder, const ArrayRecord& record);

  const Path& path() const { return path_; }
  std::span<const std::byte> bytes() const { return mapping_.bytes().subspan(kArrayHeaderBytes); }
  void expect(Access access) const { mapping_.expect(access); }
  template <typename T>
  std::span<const T> as() const {
    if (mapping_.bytes().empty()) return {};
    return {reinterpret_cast<const T*>(bytes().data()), bytes().size() / sizeof(T)};
  }

 private:
  Path path_;
  Mapping mapping_;
};

}  // namespace hgt
