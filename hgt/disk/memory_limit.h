// How much memory the process may have (ulimit -v, ulimit -d, the control group of a container).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "hgt/disk/file.h"

namespace hgt {

// Bytes that this process may map in all; no value: as many as it likes.
std::optional<uint64_t> memory_limit();

// Whether that much more memory could be mapped now.
bool can_map(size_t bytes);

// Bytes that the control groups of a process leave to it, swap included; no value: no limit that
// the machine itself does not have. `groups` is /proc/self/cgroup, `mounted` /sys/fs/cgroup.
std::optional<uint64_t> container_memory(const Path& groups, const Path& mounted);

// Bytes of memory that this process may come to use, together with the pages of the files that it
// reads: of the machine, or what its control groups allow.
uint64_t memory_here();

// Other things need memory, too: three quarters of it is as much as files that are read may take.
constexpr bool fits_memory(uint64_t bytes, uint64_t memory) { return bytes <= memory / 4 * 3; }

// A line of a file such as /proc/meminfo or /proc/self/status, in bytes; 0: not told.
uint64_t memory_told(const Path& file, const std::string& name);

}  // namespace hgt
