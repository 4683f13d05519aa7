// Warnings of the library, for people.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "hgt/run/warnings.h"

namespace hgt::cli {

// On stderr, whatever else is printed.
inline void show_warnings(const std::vector<Warning>& warnings) {
  for (const Warning& warning : warnings) fmt::print(stderr, "warning: {}\n", warning.text);
}

}  // namespace hgt::cli
