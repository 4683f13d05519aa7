#include "hgt/disk/lock.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace {

// Not open: somebody else has locked it.
File locked_file(const Path& path) {
  while (true) {
    File file = File::open_to_write(path);
    if (!file.try_lock()) return {};
    struct stat status {};
    const bool has_name = ::fstat(file.descriptor(), &status) == 0 && status.st_nlink > 0;
    if (has_name) return file;  // otherwise its last holder removed it meanwhile
  }
}

}  // namespace

Lock::Lock(File file) : file_(std::move(file)) {}

Lock::Lock(const Path& file, const std::string& busy) : file_(locked_file(file)) {
  if (!file_.is_open()) throw Error(busy);
}

std::optional<Lock> Lock::try_take(const Path& file) {
  File taken = locked_file(file);
  if (!taken.is_open()) return std::nullopt;
  return Lock(std::move(taken));
}

Lock Lock::of_folder(const Path& folder) {
  try {
    Lock lock(File::open_to_read(folder));
    while (::flock(lock.file_.descriptor(), LOCK_EX) != 0 && errno == EINTR) {
    }
    return lock;
  } catch (const Error&) {
    return Lock(File());
  }
}

bool Lock::is_held(const Path& file) {
  std::error_code unknown;  // opening will tell
  if (std::filesystem::status(file, unknown).type() == std::filesystem::file_type::not_found) {
    return false;
  }
  File opened = File::open_to_write(file);  // NFS locks nothing that is open for reading only
  return !opened.try_lock();
}

void Lock::remove_file() const {
  std::error_code ignored;  // an empty file more does no harm
  if (file_.is_open() && file_.size() == 0) std::filesystem::remove(file_.path(), ignored);
}

}  // namespace hgt
