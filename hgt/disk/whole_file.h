// The small files of a run: read whole, and replaced whole or not at all.
#pragma once

#include <string>

#include "hgt/disk/file.h"

namespace hgt {

std::string read_text(const Path& file);  // throws Error: it cannot be read

// Written beside, brought to disk and renamed: a file that is there is whole, even after a power
// cut. Throws Error: it cannot be written.
void write_text(const Path& file, const std::string& text);

std::string text_checksum(const std::string& text);

}  // namespace hgt
