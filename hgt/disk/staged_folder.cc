#include "hgt/disk/staged_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
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

constexpr const char* kLock = ".lock";

// Brings everything written so far to disk, in one go for all files of the folder: the rename must
// not reach the disk before what it names.
void sync_file_system(const Path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::syncfs(descriptor) == 0;
  const std::string reason = std::strerror(errno);
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) {
    throw Error(fmt::format("{}: cannot be flushed to disk: {}", folder.string(), reason));
  }
}

}  // namespace

StagedFolder::StagedFolder(const Path& folder, bool replace)
    : folder_(without_trailing_slash(folder)), partial_(folder_), replace_(replace) {
  partial_ += ".partial";
  if (fs::exists(folder_) && !replace_) {
    throw Error(
        fmt::format("{} already exists; choose another name or remove it", folder_.string()));
  }
  if (!fs::is_directory(folder_of(folder_))) {
    throw Error(fmt::format("{}: there is no folder {} to write to", folder_.string(),
                            folder_of(folder_).string()));
  }
  // Nobody else looks at the partial folder while it has no lock yet.
  const Lock alone = Lock::of_folder(folder_of(folder_));
  if (Lock::is_held(partial_ / kLock)) {
    throw Error(fmt::format("{} is being written by another process; wait for it or stop it",
                            folder_.string()));
  }
  std::error_code error;
  fs::remove_all(partial_, error);
  if (!fs::create_directory(partial_, error) || error) {
    throw Error(
        fmt::format("{}: cannot create the folder: {}", partial_.string(), error.message()));
  }
  try {
    lock_ = Lock::try_take(partial_ / kLock);
  } catch (const Error&) {  // a file system that knows no locks goes without
    lock_.reset();
  }
}

StagedFolder::~StagedFolder() {
  if (committed_) return;
  const Lock alone = Lock::of_folder(folder_of(folder_));
  std::error_code ignored;  // a destructor has nobody to tell
  fs::remove_all(partial_, ignored);
}

void StagedFolder::write_text(const std::string& file, const std::string& text) const {
  File out = File::create(partial_ / file);
  out.write(text.data(), text.size());
  out.close();
}

void StagedFolder::commit() {
  sync_file_system(partial_);
  const Lock alone = Lock::of_folder(folder_of(folder_));
  // Exchanging the two names leaves no moment without a graph of that name.
  const bool exchange = replace_ && fs::exists(folder_);
  const unsigned flags = exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, folder_.c_str(), flags) != 0) {
    throw Error(fmt::format("{}: cannot rename {} into place: {}", folder_.string(),
                            partial_.string(), std::strerror(errno)));
  }
  committed_ = true;
  std::error_code ignored;  // an empty file more does no harm
  fs::remove(folder_ / kLock, ignored);
  sync_folder(folder_of(folder_));
  if (exchange) fs::remove_all(partial_);
}

}  // namespace hgt
