// Numbers in the cells of a table: the whole cell, or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hgt {

std::optional<int64_t> parse_whole(std::string_view text);

// A finite real number that a float can hold; what is too small for one becomes zero.
std::optional<float> parse_real(std::string_view text);

}  // namespace hgt
