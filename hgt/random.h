// Randomness without hidden state: every draw is a function of (seed, stream, counter).
//
// hash(seed, a, b, ...) gives 64 well-mixed bits for a tuple of numbers, so that anything random
// can be computed alone, in any order and on any thread. Draws is a short-lived sequence that
// starts at such a hash. Neither depends on the platform or on the standard library.
#pragma once

#include <cmath>
#include <cstdint>

namespace hgt {

__extension__ typedef unsigned __int128 Uint128;  // NOLINT(modernize-use-using)

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014): a bijection on 64 bits.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// Folds any number of integers into one well-mixed value; the order of the arguments matters.
template <typename... Parts>
constexpr uint64_t hash(uint64_t seed, Parts... parts) {
  uint64_t state = mix64(seed);
  ((state = mix64(state ^ static_cast<uint64_t>(parts))), ...);
  return state;
}

// A real number in [0, 1) from 64 random bits.
constexpr double to_unit(uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1.0p-53; }

// A sequence of draws. Cheap to make: one per node, edge or batch.
class Draws {
 public:
  explicit constexpr Draws(uint64_t start) : state_(start) {}

  constexpr uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15U;
    return mix64(state_);
  }

  // A real number in [0, 1).
  constexpr double unit() { return to_unit(bits()); }

  // A whole number in [0, n), each with the same probability. Requires n > 0.
  // Lemire's multiplication method with its rejection step, so exactly uniform.
  constexpr uint64_t below(uint64_t n) {
    while (true) {
      const auto product = static_cast<Uint128>(bits()) * n;
      const auto low = static_cast<uint64_t>(product);
      if (low >= n || low >= (0 - n) % n) return static_cast<uint64_t>(product >> 64U);
    }
  }

  constexpr bool chance(double probability) { return unit() < probability; }

  // A whole number >= 0, geometrically distributed with the given mean.
  uint64_t geometric(double mean) {
    return static_cast<uint64_t>(std::log1p(-unit()) / std::log(mean / (1.0 + mean)));
  }

 private:
  uint64_t state_;
};

// A keyed random permutation of 0..size-1 that needs no memory: a four-round Feistel network on the
// next even number of bits, walked along its cycle until it lands inside the range.
class Permutation {
 public:
  Permutation(uint64_t size, uint64_t key) : size_(size), key_(key) {
    while (half_bits_ < 32 && (uint64_t{1} << (2 * half_bits_)) < size) ++half_bits_;
    mask_ = (uint64_t{1} << half_bits_) - 1;
  }

  // Requires position < size.
  uint64_t operator()(uint64_t position) const {
    do position = shuffle(position);
    while (position >= size_);
    return position;
  }

  uint64_t inverse(uint64_t position) const {
    do position = unshuffle(position);
    while (position >= size_);
    return position;
  }

 private:
  uint64_t shuffle(uint64_t x) const {
    uint64_t left = x >> half_bits_;
    uint64_t right = x & mask_;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (mix64(key_ + round * 0x632be59bd9b4e019U + right) & mask_);
      left = right;
      right = next;
    }
    return (left << half_bits_) | right;
  }

  uint64_t unshuffle(uint64_t x) const {
    uint64_t left = x >> half_bits_;
    uint64_t right = x & mask_;
    for (uint64_t round = 4; round-- > 0;) {
      const uint64_t before = right ^ (mix64(key_ + round * 0x632be59bd9b4e019U + left) & mask_);
      right = left;
      left = before;
    }
    return (left << half_bits_) | right;
  }

  uint64_t size_;
  uint64_t key_;
  unsigned half_bits_ = 1;
  uint64_t mask_ = 1;
};

}  // namespace hgt
