#include "hgt/graph/stored_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "hgt/graph/half.h"
#include "hgt/random.h"

namespace hgt {
namespace {

constexpr auto kTypes = {FeatureType::float32, FeatureType::float16, FeatureType::int8};
using Floats = std::vector<float>;

Floats random_row(Draws& draws, uint64_t width) {
  Floats row(width);
  const float size = std::exp2(static_cast<float>(draws.below(20)) - 10);
  for (float& value : row) {
    value = draws.chance(0.2) ? 0 : static_cast<float>(2 * draws.unit() - 1) * size;
  }
  return row;
}

std::vector<std::byte> stored(const Floats& row, FeatureType type) {
  std::vector<std::byte> bytes(stored_row_bytes(type, row.size()));
  store_row(row, type, bytes.data());
  return bytes;
}

Floats loaded(const std::vector<std::byte>& bytes, FeatureType type, uint64_t width) {
  Floats row(width, 99.0F);
  EXPECT_TRUE(load_row(bytes.data(), type, row));
  return row;
}

float magnitude(const Floats& row) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  return largest;
}

TEST(StoredFeatures, ComeBackAsCloseAsTheirTypeAllows) {
  Draws draws(1);
  for (int round = 0; round < 300; ++round) {
    const Floats row = random_row(draws, 1 + draws.below(40));
    EXPECT_EQ(loaded(stored(row, FeatureType::float32), FeatureType::float32, row.size()), row);
    const Floats halves =
        loaded(stored(row, FeatureType::float16), FeatureType::float16, row.size());
    const Floats bytes = loaded(stored(row, FeatureType::int8), FeatureType::int8, row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(halves[i], from_half(to_half(row[i])));
      EXPECT_LE(std::abs(bytes[i] - row[i]), magnitude(row) / 254 * 1.0001F);
    }
  }
}

TEST(StoredFeatures, InBytesKeepTheLargestNumberZerosAndSigns) {
  Draws draws(2);
  for (int round = 0; round < 300; ++round) {
    const Floats row = random_row(draws, 1 + draws.below(10));
    Floats negative = row;
    for (float& value : negative) value = -value;
    const Floats got = loaded(stored(row, FeatureType::int8), FeatureType::int8, row.size());
    const Floats mirrored =
        loaded(stored(negative, FeatureType::int8), FeatureType::int8, row.size());
    EXPECT_EQ(magnitude(got), magnitude(row));
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(got[i], -mirrored[i]);
      if (row[i] == 0) {
        EXPECT_EQ(got[i], 0.0F);
      }
    }
  }
  const Floats flag = {0, 0, 1};
  EXPECT_EQ(loaded(stored(flag, FeatureType::int8), FeatureType::int8, 3), flag);
}

TEST(StoredFeatures, StoredAgainAreTheSameBytes) {
  Draws draws(3);
  for (int round = 0; round < 300; ++round) {
    const Floats row = random_row(draws, 1 + draws.below(2000));
    for (const FeatureType type : kTypes) {
      const auto once = stored(row, type);
      EXPECT_TRUE(is_stored_row(once.data(), type, row.size()));
      EXPECT_EQ(stored(loaded(once, type, row.size()), type), once) << to_string(type);
    }
  }
}

TEST(StoredFeatures, OfTheGreatestAndLeastNumbersStayFinite) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  for (const Floats& row : {Floats{kMost, -kMost, 1}, {kLeast, 0, -kLeast}, {0, 0, 0}}) {
    const auto bytes = stored(row, FeatureType::int8);
    EXPECT_TRUE(is_stored_row(bytes.data(), FeatureType::int8, 3));
    EXPECT_EQ(magnitude(loaded(bytes, FeatureType::int8, 3)), magnitude(row));
  }
}

TEST(StoredFeatures, AreLoadedFromTheEndOfTheirOwnPlace) {
  Draws draws(4);
  for (const uint64_t width : {2U, 3U, 128U, 1023U, 1025U, 5000U}) {
    const Floats row = random_row(draws, width);
    for (const FeatureType type : kTypes) {
      const auto bytes = stored(row, type);
      Floats place(width);
      const auto end = std::as_writable_bytes(std::span(place)).last(bytes.size());
      std::memcpy(end.data(), bytes.data(), bytes.size());
      EXPECT_TRUE(load_row(end.data(), type, place));
      EXPECT_EQ(place, loaded(bytes, type, width)) << to_string(type) << ' ' << width;
    }
  }
}

TEST(StoredFeatures, AreKnownWhenTheyAreDamaged) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  auto bytes = stored({1, 2, 3}, FeatureType::int8);
  bytes.back() = std::byte{0x80};  // -128 is never written
  EXPECT_FALSE(is_stored_row(bytes.data(), FeatureType::int8, 3));
  for (const float bad : {kInfinity, -1.0F, std::nanf("")}) {
    bytes = stored({1, 2, 3}, FeatureType::int8);
    std::memcpy(bytes.data(), &bad, sizeof(bad));
    EXPECT_FALSE(is_stored_row(bytes.data(), FeatureType::int8, 3));
    Floats row = {7, 8, 9};
    EXPECT_FALSE(load_row(bytes.data(), FeatureType::int8, row));
    EXPECT_EQ(row, (Floats{7, 8, 9}));
  }
  for (const FeatureType type : {FeatureType::float32, FeatureType::float16}) {
    bytes = stored({1, kInfinity}, type);
    EXPECT_FALSE(is_stored_row(bytes.data(), type, 2));
    EXPECT_TRUE(is_stored_row(bytes.data(), type, 1));
  }
}

}  // namespace
}  // namespace hgt
