// Warnings of the library, for people.
#pragma once

#include <vector>

#include "cli/streams.h"
#include "hgt/run/warnings.h"

namespace hgt::cli {

// On stderr, whatever else is printed.
inline void show_warnings(const std::vector<Warning>& warnings) {
  for (const Warning& warning : warnings) tell("warning: " + warning.text + "\n");
}

}  // namespace hgt::cli
