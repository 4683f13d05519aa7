#include "hgt/graph/text_features.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "hgt/graph/words.h"
#include "hgt/random.h"

namespace hgt {

namespace {

constexpr uint64_t kFnvBasis = 0xcbf29ce484222325U;
constexpr uint64_t kFnvPrime = 0x100000001b3U;

void add_word(std::string_view word, std::span<float> row) {
  uint64_t fnv = kFnvBasis;
  for (const char c : word) fnv = (fnv ^ static_cast<unsigned char>(c)) * kFnvPrime;
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
  for_each_word(text, [&](std::string_view word) { add_word(word, row); });
  scale_to_unit_length(row);
}

}  // namespace hgt
