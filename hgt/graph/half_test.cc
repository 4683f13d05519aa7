#include "hgt/graph/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

constexpr bool is_nan(uint16_t half) { return (half & 0x7fffU) > 0x7c00U; }

// The value of a half by the definition of the format.
double value_of(uint16_t half) {
  const int exponent = half >> 10U & 0x1fU;
  const int mantissa = half & 0x3ffU;
  const double sign = (half & 0x8000U) != 0 ? -1 : 1;
  if (exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

// Rounding in double arithmetic: to a multiple of the spacing of halves there, ties to even.
uint16_t reference(float value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isnan(magnitude)) return 0x7e00;
  if (std::isinf(magnitude)) return sign | 0x7c00U;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  const double rounded = std::ldexp(steps, exponent - 10);
  if (rounded >= 65536) return sign | 0x7c00U;
  if (rounded < std::ldexp(1, -14)) return sign | static_cast<uint16_t>(std::ldexp(rounded, 24));
  const int final_exponent = std::ilogb(rounded);
  const auto mantissa = static_cast<int>(std::ldexp(rounded, 10 - final_exponent)) - 1024;
  return sign | static_cast<uint16_t>(((final_exponent + 15) << 10) + mantissa);
}

void expect_reference(float value) {
  const uint16_t half = to_half(value);
  if (std::isnan(value)) {
    ASSERT_TRUE(is_nan(half));
  } else {
    ASSERT_EQ(half, reference(value)) << std::hexfloat << value;
  }
}

static_assert(to_half(1.0F) == 0x3c00 && to_half(-2.0F) == 0xc000 && from_half(0x3800) == 0.5F);

TEST(Half, AllHalvesHaveTheValueOfTheirDefinition) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = from_half(half);
    if (is_nan(half)) {
      ASSERT_TRUE(std::isnan(value));
    } else {
      ASSERT_EQ(static_cast<double>(value), value_of(half));
      ASSERT_EQ(std::signbit(value), (half & 0x8000U) != 0);
    }
  }
}

TEST(Half, AllHalvesRoundTripThroughFloat) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (is_nan(half)) {
      ASSERT_TRUE(is_nan(to_half(from_half(half)))) << half;
    } else {
      ASSERT_EQ(to_half(from_half(half)), half);
    }
  }
}

TEST(Half, RoundsToNearestEvenAtAndAroundEveryTie) {
  const float inf = std::numeric_limits<float>::infinity();
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double low = value_of(static_cast<uint16_t>(bits));
    const double high = bits == 0x7bff ? 65536.0 : value_of(static_cast<uint16_t>(bits + 1));
    const auto tie = static_cast<float>((low + high) / 2);
    ASSERT_EQ(static_cast<double>(tie), (low + high) / 2);
    ASSERT_EQ(to_half(tie), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(to_half(std::nextafter(tie, -inf)), bits);
    ASSERT_EQ(to_half(std::nextafter(tie, inf)), bits + 1);
    for (const float value : {tie, std::nextafter(tie, -inf), std::nextafter(tie, inf)}) {
      expect_reference(value);
      expect_reference(-value);
    }
  }
}

TEST(Half, AgreesWithDoubleArithmeticOnRandomFloats) {
  Draws draws(71);
  for (int i = 0; i < 300000; ++i) {
    expect_reference(std::bit_cast<float>(static_cast<uint32_t>(draws.bits())));
    // Most random bits lie outside the range of halves: these lie inside.
    const auto exponent = static_cast<int>(draws.below(44)) - 27;
    expect_reference(static_cast<float>(std::ldexp(1 + draws.unit(), exponent)));
  }
}

TEST(Half, OverflowGivesInfinityAndNothingLess) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_half(65504.0F), 0x7bff);
  EXPECT_EQ(to_half(std::nextafter(65520.0F, 0.0F)), 0x7bff);
  EXPECT_EQ(to_half(65520.0F), 0x7c00);
  EXPECT_EQ(to_half(-65520.0F), 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(to_half(inf), 0x7c00);
  EXPECT_EQ(to_half(-inf), 0xfc00);
}

TEST(Half, TheSmallestValuesRoundToZeroOrToTheSmallestSubnormal) {
  EXPECT_EQ(to_half(0x1.0p-25F), 0);  // a tie: zero is even
  EXPECT_EQ(to_half(std::nextafter(0x1.0p-25F, 1.0F)), 1);
  EXPECT_EQ(to_half(-0x1.8p-25F), 0x8001);
  EXPECT_EQ(to_half(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(to_half(-0.0F), 0x8000);
}

TEST(Half, NotANumberStaysSo) {
  EXPECT_TRUE(is_nan(to_half(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(is_nan(to_half(std::numeric_limits<float>::signaling_NaN())));
  EXPECT_TRUE(is_nan(to_half(std::bit_cast<float>(0x7f800001U))));
  EXPECT_TRUE(is_nan(to_half(std::bit_cast<float>(0xff800001U))));
}

TEST(Half, ManyAreConvertedAsOneIs) {
  std::vector<uint16_t> halves(65536);
  std::iota(halves.begin(), halves.end(), uint16_t{0});
  std::vector<float> floats(halves.size());
  from_halves(halves, floats.data());
  for (const uint16_t half : halves) {
    ASSERT_EQ(std::bit_cast<uint32_t>(floats[half]), std::bit_cast<uint32_t>(from_half(half)))
        << half;
  }
}

}  // namespace
}  // namespace hgt
