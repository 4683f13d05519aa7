// Flags of our own in front of Google Benchmark's.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace hgt {

// The value of `--name=` when that is the first argument, which is then taken away.
inline std::optional<std::string> take_flag(const std::string& name, int& argc, char**& argv) {
  const std::string flag = "--" + name + "=";
  if (argc < 2 || !std::string(argv[1]).starts_with(flag)) return std::nullopt;
  const std::string value = argv[1] + flag.size();
  std::swap(argv[0], argv[1]);
  --argc;
  ++argv;
  return value;
}

}  // namespace hgt
