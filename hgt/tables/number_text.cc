#include "hgt/tables/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace hgt {

std::optional<int64_t> parse_whole(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<float> parse_real(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return std::nullopt;
  }
  // Out of range: from_chars does not tell too small from too large, strtod does.
  if (error == std::errc::result_out_of_range) {
    number = std::strtod(std::string(text).c_str(), nullptr);
  }
  const auto real = static_cast<float>(number);
  return std::isfinite(real) ? std::optional(real) : std::nullopt;
}

}  // namespace hgt
