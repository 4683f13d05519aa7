// Files whose every failure is an Error that names the file, the action and the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace hgt {

using Path = std::filesystem::path;

// Throws the Error of what errno tells: "PATH: cannot ACTION: REASON", with a remedy for a full
// disk or memory.
[[noreturn]] void fail_on_disk(const Path& path, std::string_view action);

Path folder_of(const Path& path);  // where it lies: "." for a bare name

// The names in the folder are on disk after it: a new file is there after a power cut. File systems
// that cannot do it for folders go without.
void sync_folder(const Path& folder);

// Renames a file whose content is on disk already; what was at `file` goes. The new name is on disk
// after it.
void move_into_place(const Path& partial, const Path& file);

// A file descriptor that closes itself. Errors name the file.
class File {
 public:
  File() = default;
  static File create(const Path& path);  // for reading and writing; must not exist
  // Nothing where it exists. Errors name `shown`.
  static std::optional<File> try_create(const Path& path, const Path& shown);
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
  void sync() const;  // all that was written is on disk after it
  // Until it is closed, no other descriptor can have the lock of this file. False: one has it.
  // Throws Error: the file system knows no locks.
  bool try_lock();
  void close();
  bool is_open() const { return descriptor_ >= 0; }
  uint64_t size() const;
  int descriptor() const { return descriptor_; }
  const Path& path() const { return path_; }  // as errors show it

 private:
  Path path_;
  int descriptor_ = -1;
};

}  // namespace hgt
