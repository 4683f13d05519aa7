#include "hgt/features/tokens/code_points.h"

#include <array>

namespace hgt {

namespace {

constexpr CodePoint kReplacement = 0xfffd;

}  // namespace

bool is_white_space(CodePoint code) {
  if (code >= 0x09 && code <= 0x0d) return true;
  if (code >= 0x1c && code <= 0x1f) return true;
  if (code == 0x85) return true;
  const utf8proc_category_t category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

std::vector<CodePoint> code_points(std::string_view text) {
  std::vector<CodePoint> codes;
  codes.reserve(text.size());
  while (!text.empty()) {
    CodePoint code = 0;
    const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    utf8proc_ssize_t used =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
    if (used <= 0) {
      used = 1;
      code = kReplacement;
    }
    codes.push_back(code);
    text.remove_prefix(static_cast<size_t>(used));
  }
  return codes;
}

void append_code(CodePoint code, std::string& text) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t size = utf8proc_encode_char(code, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(size));
}

std::vector<CodePoint> decomposed(CodePoint code, int options) {
  std::array<CodePoint, 32> parts{};  // the longest decomposition in Unicode has 18
  int boundary_class = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      code, parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
      static_cast<utf8proc_option_t>(options | UTF8PROC_DECOMPOSE), &boundary_class);
  if (count < 0) return {};
  return {parts.begin(), parts.begin() + count};
}

}  // namespace hgt
