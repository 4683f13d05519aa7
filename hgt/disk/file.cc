#include "hgt/disk/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace {

std::string_view remedy_of(int error) {
  if (error == ENOSPC || error == EDQUOT) return "; free some disk space and try again";
  return error == ENOMEM ? "; free some memory and try again" : "";
}

}  // namespace

void fail_on_disk(const Path& path, std::string_view action) {
  const int error = errno;
  throw Error(fmt::format("{}: cannot {}: {}{}", path.string(), action, std::strerror(error),
                          remedy_of(error)));
}

Path folder_of(const Path& path) { return path.has_parent_path() ? path.parent_path() : Path("."); }

void sync_folder(const Path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // a folder that may be written but not read
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != EIO && error != ENOSPC && error != EDQUOT) return;
  errno = error;
  fail_on_disk(folder, "flush it to disk");
}

void move_into_place(const Path& partial, const Path& file) {
  if (::rename(partial.c_str(), file.c_str()) != 0) {
    fail_on_disk(file, "rename the finished file to it");
  }
  sync_folder(folder_of(file));
}

File File::create(const Path& path) {
  std::optional<File> file = try_create(path, path);
  if (file) return std::move(*file);
  errno = EEXIST;
  fail_on_disk(path, "create the file");
}

std::optional<File> File::try_create(const Path& path, const Path& shown) {
  File file;
  file.path_ = shown;
  file.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file.descriptor_ >= 0) return file;
  if (errno != EEXIST) fail_on_disk(shown, "create the file");
  return std::nullopt;
}

File File::open_to_read(const Path& path) {
  File file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.descriptor_ < 0) fail_on_disk(path, "open the file");
  return file;
}

File File::open_to_write(const Path& path) {
  File file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file.descriptor_ < 0) fail_on_disk(path, "open the file");
  return file;
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::write(const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_on_disk(path_, "write");
    at += written;
    bytes -= static_cast<size_t>(written);
  }
}

void File::write_at(const void* data, size_t bytes, uint64_t offset) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_, at, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_on_disk(path_, "write");
    at += written;
    offset += static_cast<uint64_t>(written);
    bytes -= static_cast<size_t>(written);
  }
}

size_t File::read_at(void* data, size_t bytes, uint64_t offset) const {
  auto* at = static_cast<char*>(data);
  size_t total = 0;
  while (total < bytes) {
    const ssize_t got =
        ::pread(descriptor_, at + total, bytes - total, static_cast<off_t>(offset + total));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_on_disk(path_, "read");
    if (got == 0) break;
    total += static_cast<size_t>(got);
  }
  return total;
}

void File::reserve(uint64_t bytes) {
  // posix_fallocate and not ftruncate: a full disk must be an error here, not a SIGBUS later.
  const int result = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes));
  if (result == 0) return;
  errno = result;
  fail_on_disk(path_, "grow the file");
}

void File::truncate(uint64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
    fail_on_disk(path_, "resize the file");
}

void File::give_back(uint64_t begin, uint64_t end) {
  static_cast<void>(::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(begin), static_cast<off_t>(end - begin)));
}

void File::sync() const {
  if (::fsync(descriptor_) != 0) fail_on_disk(path_, "flush it to disk");
}

bool File::try_lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK) fail_on_disk(path_, "lock the file");
  return false;
}

void File::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0) fail_on_disk(path_, "close the file");
}

uint64_t File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail_on_disk(path_, "inspect the file");
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace hgt
