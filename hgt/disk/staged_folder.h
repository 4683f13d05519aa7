// A folder that appears whole or not at all: written as "<folder>.partial", flushed to disk
// and renamed at the end. While it is written, "<folder>.partial/.lock" is locked, which
// distinguishes it from one that a killed process left behind.
#pragma once

#include <optional>
#include <string>

#include "hgt/disk/file.h"
#include "hgt/disk/lock.h"

namespace hgt {

class StagedFolder {
 public:
  // Makes "<folder>.partial", after removing one that a killed process left behind. Throws Error
  // when `folder` exists (unless `replace`) or another process is writing it right now.
  StagedFolder(const Path& folder, bool replace);
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();  // removes the partial folder unless commit() was reached

  const Path& path() const { return partial_; }  // write here
  void write_text(const std::string& file, const std::string& text) const;
  void commit();  // flushes to disk and renames into place; `replace`: removes the old folder

 private:
  Path folder_;
  Path partial_;
  std::optional<Lock> lock_;
  bool replace_;
  bool committed_ = false;
};

}  // namespace hgt
