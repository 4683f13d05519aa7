// The user's text in tables that are separated by tabs.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace hgt {

// A cell may hold no tab and no end of line; blanks take their place.
inline std::string table_cell(std::string_view text) {
  std::string clean(text);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return clean;
}

}  // namespace hgt
