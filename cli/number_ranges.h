// Bounds for every number on a command line, so that none is taken that no machine can serve.
#pragma once

#include <CLI/CLI.hpp>

namespace hgt::cli {

// Gives each number that has no check of its own a range by its name (--threads: 0 to 1024), which
// the message shows.
void bound_numbers(CLI::App& verb);

// A size of memory, such as 512M or 4G, as a number of bytes.
CLI::Validator memory_size();

}  // namespace hgt::cli
