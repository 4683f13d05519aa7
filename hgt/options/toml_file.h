// All TOML that hgt reads is read here: toml++'s parser within limits, so that no file can use up
// the stack or the memory. For sources: toml++ is not installed.
#pragma once

#include <toml++/toml.h>

#include <cstddef>
#include <string_view>

#include "hgt/disk/file.h"

namespace hgt {

constexpr size_t kMaxTomlBytes = size_t{64} << 20U;
constexpr size_t kMaxTomlDepth = 32;     // of arrays and inline tables within each other
constexpr size_t kMaxTomlKeyParts = 32;  // [a.b.c] has three

// Throws Error with file and line: it cannot be read, is not TOML, or goes beyond a limit.
toml::table parse_toml_file(const Path& file);
// The same for a text, which messages call `name`.
toml::table parse_toml(std::string_view text, const std::string& name);

}  // namespace hgt
