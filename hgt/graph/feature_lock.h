// The right to make features for a graph, which one process at a time has.
#pragma once

#include "hgt/disk/lock.h"

namespace hgt {

// While it lives, no other process makes features for the graph.
class FeatureLock {
 public:
  explicit FeatureLock(const Path& folder);  // throws Error: no graph, another process does
  const Path& folder() const { return folder_; }

 private:
  Path folder_;
  Lock lock_;
};

}  // namespace hgt
