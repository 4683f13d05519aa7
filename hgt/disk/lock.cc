#include "hgt/disk/lock.h"

#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "hgt/error.h"

namespace hgt {

Lock::Lock(File file) : file_(std::move(file)) {}

Lock::Lock(const Path& file, const std::string& busy) : file_(File::open_to_write(file)) {
  if (!file_.try_lock()) throw Error(busy);
}

std::optional<Lock> Lock::try_take(const Path& file) {
  Lock lock(File::open_to_write(file));
  if (!lock.file_.try_lock()) return std::nullopt;
  return lock;
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

}  // namespace hgt
