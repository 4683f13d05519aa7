// Files whose every failure is an Error that names the file, the action and the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace hgt {

using Path = std::filesystem::path;

uint64_t checksum(std::span<const std::byte> data);  // XXH3-64

// Throws the Error of what errno tells: "PATH: cannot ACTION: REASON", with a remedy for a full
// disk.
[[noreturn]] void fail_on_disk(const Path& path, std::string_view action);

// A file descriptor that closes itself. Errors name the file.
class File {
 public:
  File() = default;
  static File create(const Path& path);         // for reading and writing; must not exist
  static File open_to_read(const Path& path);   // missing: an Error
  static File open_to_write(const Path& path);  // for reading too; made where it is missing
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  void write(const void* data, size_t bytes);                       // at the current position
  void write_at(const void* data, size_t bytes, uint64_t offset);   // position unchanged
  size_t read_at(void* data, size_t bytes, uint64_t offset) const;  // less only at the end
  void reserve(uint64_t bytes);  // grows to `bytes` with disk blocks behind it
  void truncate(uint64_t bytes);
  void close();
  uint64_t size() const;
  int descriptor() const { return descriptor_; }
  const Path& path() const { return path_; }

 private:
  Path path_;
  int descriptor_ = -1;
};

}  // namespace hgt
