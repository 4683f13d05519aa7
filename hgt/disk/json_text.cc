#include "hgt/disk/json_text.h"

#include <fmt/format.h>

namespace hgt {

JsonExcess json_excess(std::string_view text) {
  if (text.size() > kMaxJsonBytes) {
    return {kMaxJsonBytes, fmt::format("the text is larger than {} MB", kMaxJsonBytes >> 20U)};
  }
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) {
        return {i + 1, fmt::format("it is nested deeper than {} levels", kMaxJsonDepth)};
      }
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return {};
}

}  // namespace hgt
