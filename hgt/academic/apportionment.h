// Dividing a total among many receivers in integer arithmetic, one receiver at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hgt/random.h"

namespace hgt {

// floor(factor * numerator / denominator); the product may exceed 64 bits, the result may not.
constexpr uint64_t scaled(uint64_t factor, uint64_t numerator, uint64_t denominator) {
  return static_cast<uint64_t>(static_cast<Uint128>(factor) * numerator / denominator);
}

// Gives out exactly `total` units to receivers that come one after the other with integer weights.
// With S the running sum of the weights, receiver i gets floor(S_(i+1) * total / S_n) -
// floor(S_i * total / S_n). Units that a receiver could not take are handed on to later ones.
class Quota {
 public:
  Quota() : Quota(0, 0) {}
  // `weight_sum` is the sum of the weights of all receivers, `before` that of those who had their
  // turn already, and took all they should.
  Quota(uint64_t total, uint64_t weight_sum, uint64_t before = 0)
      : total_(total), weight_sum_(weight_sum), running_(before), given_(due()) {}

  // What the next receiver should take: its share, and a little of what is owed.
  uint64_t next(uint64_t weight) {
    running_ += weight;
    const uint64_t share = due() - given_;
    given_ += share;
    const uint64_t repaid = std::min(debt_, 1 + share / 2);
    debt_ -= repaid;
    return share + repaid;
  }

  // The last receiver could not take this many units.
  void hand_on(uint64_t units) { debt_ += units; }

  // Units that found no receiver so far.
  uint64_t debt() const { return debt_; }

 private:
  uint64_t due() const { return weight_sum_ == 0 ? 0 : scaled(running_, total_, weight_sum_); }

  uint64_t total_;
  uint64_t weight_sum_;
  uint64_t running_;
  uint64_t given_;
  uint64_t debt_ = 0;
};

}  // namespace hgt
