// How much memory the process uses.
#pragma once

#include <fstream>
#include <string>

namespace hgt {

// A line of /proc/self/status, in MB.
inline double memory_line(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    double kilobytes = 0;
    if (word == name && in >> kilobytes) return kilobytes / 1000;
  }
  return 0;
}

}  // namespace hgt
