// What fuzz targets share: their input as a file or a folder, and the one outcome besides success.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "hgt/disk/file.h"
#include "hgt/error.h"

namespace hgt::fuzz {

// Bytes in memory that can be opened by a name.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const uint8_t> bytes) : descriptor_(memfd_create("input", 0)) {
    if (descriptor_ < 0) std::abort();
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count <= 0) std::abort();
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }
  explicit MemoryFile(const std::string& text)
      : MemoryFile(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size())) {}
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  Path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// A folder of its own, in memory where that is possible: many times faster.
class FuzzFolder {
 public:
  FuzzFolder() {
    const bool in_memory = std::filesystem::is_directory("/dev/shm");
    std::string pattern = std::string(in_memory ? "/dev/shm" : "/tmp") + "/hgt-fuzz-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~FuzzFolder() { std::filesystem::remove_all(path_); }
  FuzzFolder(const FuzzFolder&) = delete;
  FuzzFolder& operator=(const FuzzFolder&) = delete;

  const Path& path() const { return path_; }
  void write(const Path& name, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

 private:
  Path path_;
};

// Any input is read or refused with an Error; whatever else happens is a failure.
template <typename Work>
void read_or_refuse(const Work& work) {
  try {
    work();
  } catch (const Error&) {
  }
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// So that reading cannot be optimized away.
inline void use(uint64_t value) {
  [[maybe_unused]] static volatile uint64_t sink = 0;
  sink = sink + value;
}

}  // namespace hgt::fuzz
