// A row of features as it is stored: in float32, in float16, or in int8, where the row begins with
// the largest magnitude of its numbers (float32) and each number is a byte from -127 to 127:
//
//   number = byte / 127 * largest
//
// So the largest number, zeros and a flag that stands alone are exact, and storing a row that was
// read gives the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hgt/graph/schema.h"

namespace hgt {

// The array that holds the rows: its dtype, its number of columns, and bytes.
std::string_view stored_dtype(FeatureType type);
uint64_t stored_columns(FeatureType type, uint64_t width);
uint64_t stored_row_bytes(FeatureType type, uint64_t width);

// All values are finite, and stay so when they are stored as `type`.
bool features_fit(std::span<const float> values, FeatureType type);

// Both: stored_row_bytes() at `stored`, which need not be aligned. Requires features_fit().
void store_row(std::span<const float> row, FeatureType type, std::byte* stored);
// `stored` may lie in the memory of `row`, as long as it ends with it or behind it. False: it is
// damaged, its largest magnitude is not finite; `row` is unchanged.
[[nodiscard]] bool load_row(const std::byte* stored, FeatureType type, std::span<float> row);

// Whether store_row() can have written this.
bool is_stored_row(const std::byte* stored, FeatureType type, uint64_t width);

}  // namespace hgt
