#include "hgt/disk/staged_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

Path without_trailing_slash(const Path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

// The lock lies inside the partial folder and dies with its process.
bool is_being_written(const Path& lock_file) {
  const int descriptor = ::open(lock_file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool busy = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0;
  ::close(descriptor);
  return busy;
}

// Brings everything written so far to disk, in one go for all files of the folder: the rename must
// not reach the disk before what it names.
void sync_file_system(const Path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::syncfs(descriptor) == 0;
  const std::string reason = std::strerror(errno);
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) {
    throw Error(fmt::format("{}: cannot be brought to disk: {}", folder.string(), reason));
  }
}

Path parent_of(const Path& folder) {
  const Path parent = folder.parent_path();
  return parent.empty() ? Path(".") : parent;
}

}  // namespace

StagedFolder::StagedFolder(const Path& folder, bool replace)
    : folder_(without_trailing_slash(folder)), partial_(folder_), replace_(replace) {
  partial_ += ".partial";
  if (fs::exists(folder_) && !replace_) {
    throw Error(
        fmt::format("{} exists already; choose another name or remove it", folder_.string()));
  }
  if (!fs::is_directory(parent_of(folder_))) {
    throw Error(fmt::format("{}: there is no folder {} to write to", folder_.string(),
                            parent_of(folder_).string()));
  }
  const Path lock_file = partial_ / ".lock";
  if (is_being_written(lock_file)) {
    throw Error(fmt::format("{} is being written by another process; wait for it or stop it",
                            folder_.string()));
  }
  std::error_code error;
  fs::remove_all(partial_, error);
  if (!fs::create_directory(partial_, error) || error) {
    throw Error(
        fmt::format("{}: cannot create the folder: {}", partial_.string(), error.message()));
  }
  lock_ = File::create(lock_file);
  ::flock(lock_.descriptor(), LOCK_EX | LOCK_NB);
}

StagedFolder::~StagedFolder() {
  if (committed_) return;
  std::error_code ignored;  // a destructor has nobody to tell
  fs::remove_all(partial_, ignored);
}

void StagedFolder::write_text(const std::string& file, const std::string& text) const {
  File out = File::create(partial_ / file);
  out.write(text.data(), text.size());
  out.close();
}

void StagedFolder::commit() {
  fs::remove(partial_ / ".lock");
  sync_file_system(partial_);
  // Exchanging the two names leaves no moment without a graph of that name.
  const bool exchange = replace_ && fs::exists(folder_);
  const unsigned flags = exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, folder_.c_str(), flags) != 0) {
    throw Error(fmt::format("{}: cannot rename {} into place: {}", folder_.string(),
                            partial_.string(), std::strerror(errno)));
  }
  committed_ = true;
  if (exchange) fs::remove_all(partial_);
}

}  // namespace hgt
