// For tests: a temporary folder, and files as bytes.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "hgt/error.h"
#include "hgt/graph/types.h"

namespace hgt {

// A new, empty folder, removed at the end of its scope.
class TestFolder {
 public:
  explicit TestFolder(const std::string& parent = testing::TempDir()) {
    std::string name = parent + "/hgt_test_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw Error("cannot create a folder in " + name);
    path_ = name;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const Path& path() const { return path_; }
  Path operator/(const std::string& name) const { return path_ / name; }

 private:
  Path path_;
};

// While it lives, no file can grow beyond it: a full disk, as far as writing files goes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(uint64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit tight{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    if (::setrlimit(RLIMIT_FSIZE, &tight) != 0) throw Error("cannot limit the size of files");
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

inline std::string read_bytes(const Path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A file of that size is overwritten in place: truncating it first would bring it to disk on ext4.
inline void write_bytes(const Path& file, std::string_view bytes) {
  std::error_code missing;
  const bool in_place = std::filesystem::file_size(file, missing) == bytes.size() && !missing;
  std::fstream out(file,
                   std::ios::binary | std::ios::out | (in_place ? std::ios::in : std::ios::trunc));
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Whether something unfinished lies right inside the folder, of a WholeFile or a StagedFolder.
inline bool holds_partial(const Path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().find(".partial") != std::string::npos) return true;
  }
  return false;
}

// Every file below the folder, by its relative path.
inline std::map<std::string, std::string> folder_bytes(const Path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).string()] = read_bytes(entry.path());
  }
  return files;
}

}  // namespace hgt
