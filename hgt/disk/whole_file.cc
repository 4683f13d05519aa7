#include "hgt/disk/whole_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hgt/disk/file.h"
#include "hgt/error.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

void write_whole(const Path& partial, const Path& file, const std::string& text) {
  File out = File::open_to_write(partial);
  out.truncate(0);
  out.write(text.data(), text.size());
  if (::fsync(out.descriptor()) != 0) {
    throw Error(
        fmt::format("{}: cannot be brought to disk: {}", file.string(), std::strerror(errno)));
  }
  out.close();
  std::error_code error;
  fs::rename(partial, file, error);
  if (error) {
    throw Error(fmt::format("{}: cannot be written: {}", file.string(), error.message()));
  }
  const Path folder = file.has_parent_path() ? file.parent_path() : Path(".");
  ::fsync(File::open_to_read(folder).descriptor());  // the new name; not all file systems can
}

}  // namespace

std::string read_text(const Path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw Error(fmt::format("{}: cannot be read; is this the folder of a run?", file.string()));
  }
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const Path& file, const std::string& text) {
  const Path partial = file.string() + ".partial";
  try {
    write_whole(partial, file, text);
  } catch (const Error&) {
    std::error_code ignored;  // what went wrong is on its way
    fs::remove(partial, ignored);
    throw;
  }
}

std::string text_checksum(const std::string& text) {
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(text))));
}

}  // namespace hgt
