// Files that are whole or absent: whoever finds one finds all of it, even after a power cut.
//
//   WholeFile out("answers.tsv");
//   for (const std::string& line : lines) out.write(line);
//   out.commit();
//
// The one way in which finished files are written: beside, brought to disk, renamed, and the new
// name brought to disk. Everything that writes a file for others to read uses it; folders of files
// have StagedFolder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "hgt/disk/file.h"

namespace hgt {

// A file in the making. Until commit() what was at the path is untouched, and without it nothing
// remains. It is written as "<file>.partial.<process>-<number>", a name of its own and locked, so
// that writers of one file do not disturb each other: the last to commit wins. What killed
// processes left of the same file is removed by the next writer. Errors name the file itself;
// after one there is nothing to be done but to let this go.
class WholeFile {
 public:
  // Throws Error: no folder to write to, a folder or a device of that name, a failing disk.
  explicit WholeFile(const Path& file);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();

  void write(std::string_view text);  // gathered: short pieces cost little
  void write(std::span<const std::byte> bytes);

  // Instead of write(), for libraries that open a file by themselves: where they may write. They
  // must write in place, and close it before commit().
  const Path& partial() const { return partial_; }

  void commit();  // once

 private:
  void create_partial();
  void flush();

  Path file_;
  Path partial_;
  File out_;
  std::string gathered_;
};

// The whole text in one go. Throws Error: it cannot be written.
void write_text(const Path& file, std::string_view text);

std::string read_text(const Path& file);  // throws Error: it cannot be read

}  // namespace hgt
