#include "cli/number_ranges.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace hgt::cli {

namespace {

using Ends = std::pair<double, double>;

constexpr Ends kOtherNumbers = {0, 1e9};
constexpr uint64_t kMostMemory = uint64_t{1} << 50U;

const std::map<std::string_view, Ends>& ranges_by_name() {
  static const std::map<std::string_view, Ends> ranges = {
      {"--threads", {0, 1024}}, {"--workers", {0, 1024}},
      {"--port", {0, 65535}},   {"--seed", {0, 18446744073709551615.0}},
      {"--papers", {0, 1e10}},
  };
  return ranges;
}

// What CLI11 calls the type of an option that is a number and has no check.
bool is_unbounded(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type == "INT" || type == "UINT" || type == "FLOAT";
}

}  // namespace

void bound_numbers(CLI::App& verb) {
  for (CLI::Option* option : verb.get_options()) {
    if (!is_unbounded(*option)) continue;
    const auto found = ranges_by_name().find(option->get_name());
    const Ends ends = found == ranges_by_name().end() ? kOtherNumbers : found->second;
    option->check(CLI::Validator(
        [ends](std::string& text) -> std::string {
          double number = 0;
          const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
          const bool read = error == std::errc{} && end == text.data() + text.size();
          if (read && number >= ends.first && number <= ends.second) return "";
          return fmt::format("'{}' is not a number from {:.20g} to {:.20g}", text, ends.first,
                             ends.second);
        },
        ""));
  }
}

CLI::Validator memory_size() {
  const auto to_bytes = [](std::string& text) -> std::string {
    const std::string given = text;
    uint64_t bytes = 0;
    const bool negative = given.find('-') != std::string::npos;  // would wrap around
    const bool read = !negative && CLI::AsSizeValue(false)(text).empty() &&
                      CLI::detail::lexical_cast(text, bytes) && bytes <= kMostMemory;
    return read ? "" : fmt::format("'{}' is not a size from 64M to 1024T", given);
  };
  return CLI::Validator(to_bytes, "");
}

}  // namespace hgt::cli
