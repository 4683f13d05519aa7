// Files. Every failure is an Error that names the file, the action and the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace hgt {

using Path = std::filesystem::path;

// Throws the Error that errno describes: "PATH: cannot ACTION: REASON", with a remedy for a full
// disk or memory.
[[noreturn]] void fail_on_disk(const Path& path, std::string_view action);

Path folder_of(const Path& path);  // the folder that contains it: "." for a bare name

// Afterwards the names in the folder are on disk: a new file survives a power cut. Has no effect on
// file systems that cannot do this for folders.
void sync_folder(const Path& folder);

// Renames a file whose content is already on disk; whatever was at `file` is replaced. Afterwards
// the new name is on disk.
void move_into_place(const Path& partial, const Path& file);

// A file descriptor that closes itself. Errors name the file.
class File {
 public:
  File() = default;
  static File create(const Path& path);  // for reading and writing; must not exist
  // No value: the file exists. Errors name `shown`.
  static std::optional<File> try_create(const Path& path, const Path& shown);
  static File open_to_read(const Path& path);   // missing: an Error
  static File open_to_write(const Path& path);  // and to read; creates it if it is missing
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  void write(const void* data, size_t bytes);                       // at the current position
  void write_at(const void* data, size_t bytes, uint64_t offset);   // position unchanged
  size_t read_at(void* data, size_t bytes, uint64_t offset) const;  // fewer only at the end
  void reserve(uint64_t bytes);  // grows to `bytes` and allocates the disk blocks
  void truncate(uint64_t bytes);
  // Gives the disk blocks of this part back; it reads as zeros afterwards. Has no effect where the
  // file system cannot do this.
  void give_back(uint64_t begin, uint64_t end);
  void sync() const;  // afterwards everything written is on disk
  // Until it is closed, no other descriptor can lock this file. False: another one has locked it.
  // Throws Error if the file system does not support locks.
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
