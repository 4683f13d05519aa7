// A folder that appears whole or not at all: written as "<folder>.partial", flushed to disk
// and renamed at the end. From before it is made until after the rename, "<folder>.partial.lock",
// beside it, is locked: that distinguishes a partial folder that is being written from one that a
// killed process left behind. The first file in it, ".hgt-partial", says that it is ours: a folder
// of that name without it is somebody else's and is never removed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hgt/disk/file.h"
#include "hgt/disk/lock.h"

namespace hgt {

// Throws Error, with the reason, unless hgt made the folder and everything in it: then it may be
// replaced.
using RequireOwn = std::function<void(const Path& folder)>;

class StagedFolder {
 public:
  // Makes "<folder>.partial", after removing one that a killed process left behind. Throws Error
  // when another process is writing the folder right now, when "<folder>.partial" is not ours, and
  // when something is at `folder`, unless that is a folder (not a link to one) that `replaceable`
  // accepts.
  explicit StagedFolder(const Path& folder, RequireOwn replaceable = nullptr);
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();  // removes the partial folder unless commit() was reached

  const Path& path() const { return partial_; }  // write here
  void write_text(const std::string& file, const std::string& text) const;
  void commit();  // flushes to disk and renames into place; removes the folder that was there

 private:
  bool is_vacant() const;  // false: a folder that may be replaced is there; others are an Error
  void take_lock();
  void make_partial();
  bool is_still_ours() const;
  void end_lock();

  Path folder_;
  Path partial_;
  RequireOwn replaceable_;
  std::optional<Lock> lock_;
  File marker_;
  bool committed_ = false;
};

}  // namespace hgt
