// Who may write: at most one process at a time.
//
//   const Lock lock(folder / "lock", "another process is training this run; wait for it");
//
// A lock is held through a file, which is left behind unless it is removed on purpose. It ends with
// the Lock or with its process, however that ends, so a stale lock never has to be removed by hand.
#pragma once

#include <optional>
#include <string>

#include "hgt/disk/file.h"

namespace hgt {

// While it lives, no other Lock of the same file does, in this process or in another.
class Lock {
 public:
  // Throws Error with the text `busy` if somebody else holds it.
  Lock(const Path& file, const std::string& busy);
  static std::optional<Lock> try_take(const Path& file);  // no value: somebody else holds it

  // Waits for its turn. Holds nothing if the file system does not support locks of folders or the
  // folder may not be read.
  static Lock of_folder(const Path& folder);

  static bool is_held(const Path& file);  // by anybody; false if the file is missing

  // Removes the file, so that nothing is left behind; the lock itself ends later. A file in which
  // somebody has written something stays.
  void remove_file() const;

 private:
  explicit Lock(File file);

  File file_;  // created if it is missing
};

}  // namespace hgt
