#include "hgt/disk/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hgt/error.h"

namespace hgt {

uint64_t checksum(std::span<const std::byte> data) { return XXH3_64bits(data.data(), data.size()); }

void fail_on_disk(const Path& path, std::string_view action) {
  const std::string reason = std::strerror(errno);
  const std::string_view remedy = errno == ENOSPC ? "; free some disk space and run it again" : "";
  throw Error(fmt::format("{}: cannot {}: {}{}", path.string(), action, reason, remedy));
}

File File::create(const Path& path) {
  File file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file.descriptor_ < 0) fail_on_disk(path, "create the file");
  return file;
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
