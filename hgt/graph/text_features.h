// Input vectors from text without a language model: hashed words.
#pragma once

#include <span>
#include <string_view>

namespace hgt {

// The hashing trick (Weinberger et al. 2009). Words are those of words.h. The 64-bit FNV-1a
// hash of a word's bytes goes through mix64; the lowest bit of the result is the sign (0: +1, 1:
// -1), the other 63 bits modulo row.size() are the column. The signs are summed per column, and the
// row is scaled to Euclidean length 1. Text without words gives the zero row, as does text whose
// words cancel out. The row is overwritten. Requires a non-empty row. The same text gives the same
// bits on every platform with IEEE floats.
void hashed_words(std::string_view text, std::span<float> row);

}  // namespace hgt
