// IEEE 754 half precision (fp16) to and from float, bit by bit; no compiler extension needed.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace hgt {

// Rounds to nearest, ties to even. Overflow gives infinity; NaN stays NaN.
constexpr uint16_t to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16U) & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude >= 0x7f800000U) {  // infinity, NaN
    return static_cast<uint16_t>(sign | 0x7c00U | (magnitude > 0x7f800000U ? 0x200U : 0U));
  }
  if (magnitude >= 0x477ff000U) return static_cast<uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x33000001U) return static_cast<uint16_t>(sign);  // below half of 2^-24
  uint32_t mantissa = magnitude & 0x7fffffU;
  int exponent = static_cast<int>(magnitude >> 23U) - 127 + 15;
  unsigned shift = 13;
  if (exponent <= 0) {  // a subnormal half
    mantissa |= 0x800000U;
    shift = static_cast<unsigned>(14 - exponent);
    exponent = 0;
  }
  const uint32_t kept = mantissa >> shift;
  const uint32_t rest = mantissa & ((1U << shift) - 1);
  const uint32_t halfway = 1U << (shift - 1);
  const uint32_t up = rest > halfway || (rest == halfway && (kept & 1U) != 0) ? 1 : 0;
  return static_cast<uint16_t>(sign + (static_cast<uint32_t>(exponent) << 10U) + kept + up);
}

constexpr float from_half(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16U;
  const uint32_t exponent = (half >> 10U) & 0x1fU;
  const uint32_t mantissa = half & 0x3ffU;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24, exact in float
    const float magnitude = static_cast<float>(mantissa) * 0x1.0p-24F;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23U) | (mantissa << 13U));
}

// from_half() for many. Requires room for as many floats. Free of branches, so that compilers
// vectorize it: the bits of the half, read as a float, are its value times 2^-112.
inline void from_halves(std::span<const uint16_t> halves, float* floats) {
  for (size_t i = 0; i < halves.size(); ++i) {
    const uint32_t half = halves[i];
    const uint32_t magnitude = (half & 0x7fffU) << 13U;
    const uint32_t not_finite = magnitude >= 0x0f800000U ? 0x7f800000U : 0U;
    const auto value = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1.0p112F);
    floats[i] = std::bit_cast<float>(value | not_finite | ((half & 0x8000U) << 16U));
  }
}

}  // namespace hgt
