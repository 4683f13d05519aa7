#include "hgt/disk/json_text.h"

#include <fmt/format.h>

namespace hgt {

namespace {

constexpr bool opens(char c) { return c == '[' || c == '{'; }
constexpr bool closes(char c) { return c == ']' || c == '}'; }

}  // namespace

JsonExcess json_excess(std::string_view text) {
  if (text.size() > kMaxJsonBytes) {
    return {kMaxJsonBytes, fmt::format("the text is larger than {} MB", kMaxJsonBytes >> 20U)};
  }
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (opens(c)) ++depth;
    if (closes(c) && depth > 0) --depth;
    if (depth > kMaxJsonDepth) {
      return {i + 1, fmt::format("it is nested deeper than {} levels", kMaxJsonDepth)};
    }
  }
  return {};
}

}  // namespace hgt
