#include "hgt/disk/staged_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMarker = ".hgt-partial";
constexpr const char* kOldMarker = ".lock";  // of versions that locked the folder from inside

Path without_trailing_slash(const Path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

// Of the path itself: a link is a link, wherever it leads.
fs::file_type type_at(const Path& path) {
  std::error_code unknown;
  return fs::symlink_status(path, unknown).type();
}

bool is_old_marker(const Path& path) {
  std::error_code unknown;
  return type_at(path) == fs::file_type::regular && fs::is_empty(path, unknown);
}

void require_name_and_place(const Path& folder) {
  const Path name = folder.filename();
  if (name.empty() || name == "." || name == "..") {
    throw Error(fmt::format("{}: has no name of its own; go one folder up and name it from there",
                            folder.string()));
  }
  if (!fs::is_directory(folder_of(folder))) {
    throw Error(fmt::format("{}: there is no folder {} to write to", folder.string(),
                            folder_of(folder).string()));
  }
}

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

// The marker goes last: what is left of a folder when a process is killed here is still ours.
void remove_marked(const Path& partial, std::error_code& error) {
  for (fs::directory_iterator at(partial, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename() != kMarker) fs::remove_all(at->path(), error);
    if (error) return;
  }
  if (!error) fs::remove_all(partial, error);
}

// Removes what a killed process left, and nothing else.
void remove_leftover(const Path& partial) {
  const fs::file_type type = type_at(partial);
  if (type == fs::file_type::not_found) return;
  std::error_code error;
  const bool ours = type == fs::file_type::directory &&
                    (type_at(partial / kMarker) == fs::file_type::regular ||
                     is_old_marker(partial / kOldMarker) ||
                     fs::is_empty(partial, error));  // killed before it made the marker
  if (!ours) {
    throw Error(
        fmt::format("{}: is in the way, and hgt did not make it; move it or choose another name",
                    partial.string()));
  }
  remove_marked(partial, error);
  if (error) {
    throw Error(fmt::format("{}: a killed process left it, and it cannot be removed: {}",
                            partial.string(), error.message()));
  }
}

}  // namespace

StagedFolder::StagedFolder(const Path& folder, RequireOwn replaceable)
    : folder_(without_trailing_slash(folder)),
      partial_(folder_),
      replaceable_(std::move(replaceable)) {
  partial_ += ".partial";
  require_name_and_place(folder_);
  static_cast<void>(is_vacant());  // before the work begins
  const Lock alone = Lock::of_folder(folder_of(folder_));
  take_lock();
  try {
    make_partial();
  } catch (...) {
    ::rmdir(partial_.c_str());  // only if it is empty
    end_lock();
    throw;
  }
}

bool StagedFolder::is_vacant() const {
  const fs::file_type type = type_at(folder_);
  if (type == fs::file_type::not_found) return true;
  if (type == fs::file_type::symlink) {
    throw Error(fmt::format("{}: is a link; name the folder that it leads to, or remove the link",
                            folder_.string()));
  }
  if (!replaceable_) {
    throw Error(
        fmt::format("{} already exists; choose another name or remove it", folder_.string()));
  }
  if (type != fs::file_type::directory) {
    throw Error(fmt::format("{}: is a file, which is not replaced by a folder; choose another name",
                            folder_.string()));
  }
  replaceable_(folder_);
  return false;
}

void StagedFolder::take_lock() {
  const Path file = partial_.string() + ".lock";
  bool busy = is_old_marker(partial_ / kOldMarker) && Lock::is_held(partial_ / kOldMarker);
  try {
    if (!busy) lock_ = Lock::try_take(file);
    busy = !lock_;
  } catch (const Error&) {  // a file system that knows no locks goes without
    lock_.reset();
  }
  if (busy) {
    throw Error(fmt::format("{} is being written by another process; wait for it or stop it",
                            folder_.string()));
  }
}

void StagedFolder::make_partial() {
  remove_leftover(partial_);
  if (::mkdir(partial_.c_str(), 0755) != 0) fail_on_disk(partial_, "create the folder");
  marker_ = File::create(partial_ / kMarker);
}

// Not when somebody removed the partial folder by hand, and perhaps made another one.
bool StagedFolder::is_still_ours() const {
  struct stat made {};
  struct stat found {};
  return ::fstat(marker_.descriptor(), &made) == 0 &&
         ::lstat((partial_ / kMarker).c_str(), &found) == 0 && made.st_ino == found.st_ino &&
         made.st_dev == found.st_dev;
}

void StagedFolder::end_lock() {
  if (lock_) lock_->remove_file();
  lock_.reset();
}

StagedFolder::~StagedFolder() {
  if (committed_) return;
  const Lock alone = Lock::of_folder(folder_of(folder_));
  std::error_code ignored;  // a destructor has nobody to tell
  if (is_still_ours()) remove_marked(partial_, ignored);
  end_lock();
}

void StagedFolder::write_text(const std::string& file, const std::string& text) const {
  File out = File::create(partial_ / file);
  out.write(text.data(), text.size());
  out.close();
}

void StagedFolder::commit() {
  sync_file_system(partial_);
  const Lock alone = Lock::of_folder(folder_of(folder_));
  if (!is_still_ours()) {
    throw Error(fmt::format("{}: somebody removed it while it was being written; try again",
                            partial_.string()));
  }
  const bool exchange = !is_vacant();
  // Killed after the exchange, this process leaves the old folder under the partial name.
  if (exchange) File::open_to_write(folder_ / kMarker).close();
  // Exchanging the two names leaves no moment without a graph of that name.
  const unsigned flags = exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  std::error_code error;
  if (::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, folder_.c_str(), flags) != 0) {
    const std::string reason = std::strerror(errno);
    if (exchange) fs::remove(folder_ / kMarker, error);
    throw Error(fmt::format("{}: cannot rename {} into place: {}", folder_.string(),
                            partial_.string(), reason));
  }
  committed_ = true;
  fs::remove(folder_ / kMarker, error);  // an empty file more does no harm
  sync_folder(folder_of(folder_));
  error.clear();
  if (exchange) remove_marked(partial_, error);
  end_lock();
  if (error) {
    throw Error(fmt::format("{} is written, but {}, what it replaced, cannot be removed: {}",
                            folder_.string(), partial_.string(), error.message()));
  }
}

}  // namespace hgt
