// Files that are complete or absent, even after a power cut.
//
//   WholeFile out("answers.tsv");
//   for (const std::string& line : lines) out.write(line);
//   out.commit();
//
// All finished files are written in this way: under a temporary name, flushed to disk and renamed,
// and the new name is flushed to disk. Everything that writes a file for others to read uses it;
// for folders of files there is StagedFolder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "hgt/disk/file.h"

namespace hgt {

// A file that is being written. Until commit() whatever was at the path is untouched, and without
// it nothing remains. It is written as "<file>.partial.<process>-<number>", a unique name, and
// locked, so that writers of the same file do not disturb each other: the last to commit wins. What
// killed processes left behind is removed by the next writer of the file. Errors name the file
// itself; after an Error the object can only be destroyed.
class WholeFile {
 public:
  // Throws Error if the folder is missing, the path is a folder or a device, or the disk fails.
  explicit WholeFile(Path file);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();

  void write(std::string_view text);  // buffered: short pieces are cheap
  void write(std::span<const std::byte> bytes);

  // Instead of write(), for libraries that open a file themselves: where they may write. They must
  // write in place and close the file before commit().
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

// Writes the whole text at once. Throws Error if it cannot be written.
void write_text(const Path& file, std::string_view text);

// For logs: adds a line and brings it to disk. A process that is killed meanwhile may leave a part
// of it as the last line. Throws Error if it cannot be written.
void append_line(const Path& file, std::string_view line);

std::string read_text(const Path& file);  // throws Error: it cannot be read

}  // namespace hgt
