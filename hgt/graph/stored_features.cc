#include "hgt/graph/stored_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "hgt/graph/array_file.h"
#include "hgt/graph/half.h"

namespace hgt {

namespace {

constexpr float kLargestByte = 127.0F;
constexpr float kUnit = 1.0F / kLargestByte;
static_assert(kLargestByte * kUnit == 1.0F, "the largest number of a row stays what it is");

void store_bytes(std::span<const float> row, std::byte* stored) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  std::memcpy(stored, &largest, sizeof(largest));
  stored += sizeof(largest);
  for (size_t i = 0; i < row.size(); ++i) {
    const float share = largest > 0 ? row[i] / largest : 0.0F;
    stored[i] = static_cast<std::byte>(std::lround(share * kLargestByte));
  }
}

float largest_of(const std::byte* stored) {
  float largest = 0;
  std::memcpy(&largest, stored, sizeof(largest));
  return largest;
}

bool is_magnitude(float value) { return std::isfinite(value) && value >= 0; }

template <typename Number>
void copy_numbers(const std::byte* from, std::span<Number> into) {
  std::memcpy(into.data(), from, into.size_bytes());
}

// Calls decode(numbers, floats) for a piece of the row at a time, whose stored numbers were copied
// before their place may be overwritten.
template <typename Number, typename Decode>
void decode_pieces(const std::byte* stored, std::span<float> row, const Decode& decode) {
  std::array<Number, 1024> piece;
  for (size_t done = 0; done < row.size(); done += piece.size()) {
    const size_t count = std::min(piece.size(), row.size() - done);
    copy_numbers(stored + done * sizeof(Number), std::span(piece).first(count));
    decode(std::span<const Number>(piece).first(count), row.data() + done);
  }
}

}  // namespace

std::string_view stored_dtype(FeatureType type) {
  if (type == FeatureType::float32) return dtype_of<float>();
  return type == FeatureType::float16 ? dtype_of<uint16_t>() : dtype_of<int8_t>();
}

uint64_t stored_columns(FeatureType type, uint64_t width) {
  return type == FeatureType::int8 ? width + sizeof(float) : width;
}

uint64_t stored_row_bytes(FeatureType type, uint64_t width) {
  return stored_columns(type, width) * item_size(stored_dtype(type));
}

bool features_fit(std::span<const float> values, FeatureType type) {
  return std::all_of(values.begin(), values.end(), [&](float value) {
    return std::isfinite(type == FeatureType::float16 ? from_half(to_half(value)) : value);
  });
}

void store_row(std::span<const float> row, FeatureType type, std::byte* stored) {
  if (type == FeatureType::int8) return store_bytes(row, stored);
  if (type == FeatureType::float32) {
    std::memcpy(stored, row.data(), row.size_bytes());
    return;
  }
  for (size_t i = 0; i < row.size(); ++i) {
    const uint16_t half = to_half(row[i]);
    std::memcpy(stored + i * sizeof(half), &half, sizeof(half));
  }
}

bool load_row(const std::byte* stored, FeatureType type, std::span<float> row) {
  if (type == FeatureType::float32) {
    if (stored != std::as_bytes(row).data()) std::memmove(row.data(), stored, row.size_bytes());
    return true;
  }
  if (type == FeatureType::float16) {
    decode_pieces<uint16_t>(stored, row, from_halves);
    return true;
  }
  const float largest = largest_of(stored);
  if (!is_magnitude(largest)) return false;
  const auto decode = [largest](std::span<const int8_t> bytes, float* floats) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      floats[i] = static_cast<float>(bytes[i]) * kUnit * largest;
    }
  };
  decode_pieces<int8_t>(stored + sizeof(largest), row, decode);
  return true;
}

bool is_stored_row(const std::byte* stored, FeatureType type, uint64_t width) {
  if (type == FeatureType::int8) {
    const std::byte* const numbers = stored + sizeof(float);
    return is_magnitude(largest_of(stored)) &&
           std::none_of(numbers, numbers + width,
                        [](std::byte number) { return number == std::byte{0x80}; });
  }
  for (uint64_t i = 0; i < width; ++i) {
    float value = 0;
    const size_t bytes = item_size(stored_dtype(type));
    if (!load_row(stored + i * bytes, type, {&value, 1}) || !std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace hgt
