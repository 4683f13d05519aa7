#include "hgt/disk/memory_limit.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace hgt {

namespace {

// The number in the file; no value: there is none, or it is "max".
std::optional<uint64_t> number_in(const Path& file) {
  std::ifstream in(file);
  uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

// The limit of one group; `folder` is that of version 1 or 2.
std::optional<uint64_t> limit_of_group(const Path& folder, uint64_t swap) {
  if (const auto memory = number_in(folder / "memory.limit_in_bytes")) {
    const auto both = number_in(folder / "memory.memsw.limit_in_bytes");  // with swap; often unset
    return std::min(*memory + swap, both.value_or(*memory + swap));
  }
  const auto memory = number_in(folder / "memory.max");
  if (!memory) return std::nullopt;
  return *memory + std::min(swap, number_in(folder / "memory.swap.max").value_or(swap));
}

}  // namespace

std::optional<uint64_t> memory_limit() {
  uint64_t least = RLIM_INFINITY;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0) least = std::min<uint64_t>(least, limit.rlim_cur);
  }
  if (least == RLIM_INFINITY) return std::nullopt;
  return least;
}

bool can_map(size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::munmap(memory, bytes);
  return true;
}

uint64_t memory_told(const Path& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    uint64_t kilobytes = 0;
    if (word == name && in >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

uint64_t memory_here() {
  static const uint64_t found = [] {  // it takes reading a few files
    const uint64_t machine = memory_told("/proc/meminfo", "MemTotal:");
    return std::min(machine,
                    container_memory("/proc/self/cgroup", "/sys/fs/cgroup").value_or(machine));
  }();
  return found;
}

std::optional<uint64_t> container_memory(const Path& groups, const Path& mounted) {
  const uint64_t machine = memory_told("/proc/meminfo", "MemTotal:");
  const uint64_t swap = memory_told("/proc/meminfo", "SwapTotal:");
  uint64_t least = machine + swap;
  std::ifstream in(groups);
  for (std::string line; std::getline(in, line);) {  // number:controllers:group
    std::istringstream parts(line);
    std::string number;
    std::string controllers;
    std::string group;
    std::getline(std::getline(std::getline(parts, number, ':'), controllers, ':'), group);
    if (controllers != "memory" && !controllers.empty()) continue;
    const Path top = mounted / controllers;
    for (Path at = Path(group).relative_path();; at = at.parent_path()) {  // the least counts
      if (const auto limit = limit_of_group(top / at, swap)) least = std::min(least, *limit);
      if (at.empty()) break;
    }
  }
  if (least == machine + swap) return std::nullopt;
  return least;
}

}  // namespace hgt
