#include "hgt/graph/text_features.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "hgt/random.h"

namespace hgt {

namespace {

constexpr uint64_t kFnvBasis = 0xcbf29ce484222325U;
constexpr uint64_t kFnvPrime = 0x100000001b3U;

// The byte as it counts in a word; 0: it separates words.
constexpr unsigned char word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 'A' && byte <= 'Z') return static_cast<unsigned char>(byte - 'A' + 'a');
  const bool is_word = byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
  return is_word ? byte : 0;
}

void add_word(uint64_t fnv, std::span<float> row) {
  const uint64_t bits = mix64(fnv);
  row[(bits >> 1U) % row.size()] += (bits & 1U) == 0 ? 1.0F : -1.0F;
}

void scale_to_unit_length(std::span<float> row) {
  double squares = 0;
  for (const float value : row) squares += static_cast<double>(value) * value;
  if (squares == 0) return;
  const double factor = 1.0 / std::sqrt(squares);
  for (float& value : row) value = static_cast<float>(value * factor);
}

}  // namespace

void hashed_words(std::string_view text, std::span<float> row) {
  assert(!row.empty());
  std::fill(row.begin(), row.end(), 0.0F);
  uint64_t fnv = kFnvBasis;
  bool in_word = false;
  for (const char c : text) {
    const unsigned char byte = word_byte(c);
    if (byte != 0) {
      fnv = (fnv ^ byte) * kFnvPrime;
    } else if (in_word) {
      add_word(fnv, row);
      fnv = kFnvBasis;
    }
    in_word = byte != 0;
  }
  if (in_word) add_word(fnv, row);
  scale_to_unit_length(row);
}

}  // namespace hgt
