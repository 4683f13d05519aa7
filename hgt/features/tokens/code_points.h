// Text as Unicode code points. For sources: utf8proc is not installed.
#pragma once

#include <utf8proc.h>

#include <string>
#include <string_view>
#include <vector>

namespace hgt {

using CodePoint = utf8proc_int32_t;

// Every byte that is part of no UTF-8 counts as U+FFFD.
std::vector<CodePoint> code_points(std::string_view text);
void append_code(CodePoint code, std::string& text);

// What Python's split() takes for white space: more than Unicode's separators.
bool is_white_space(CodePoint code);

// The canonical or, with UTF8PROC_COMPAT, compatible decomposition of one. Marks are in the order
// in which they come, which is as good as any for those who drop them.
std::vector<CodePoint> decomposed(CodePoint code, int options = 0);

}  // namespace hgt
