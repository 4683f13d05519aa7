// A folder that appears whole or not at all: written as "<folder>.partial", renamed at the end.
#pragma once

#include "hgt/disk/file.h"

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
  void commit();  // renames into place; with `replace`, what was there goes

 private:
  Path folder_;
  Path partial_;
  File lock_;
  bool replace_;
  bool committed_ = false;
};

}  // namespace hgt
