// Draws k of n positions, every set of k with the same probability.
#pragma once

#include <cstdint>

#include "hgt/random.h"
#include "hgt/sampling/key_table.h"

namespace hgt {

class UniformChoice {
 public:
  // Calls visit(position) for k distinct positions of 0..n-1. Requires k <= n.
  // Floyd's algorithm (Bentley and Floyd 1987): k draws, whatever n is.
  template <typename Visit>
  void choose(uint64_t n, uint64_t k, Draws& draws, const Visit& visit) {
    chosen_.clear();
    for (uint64_t last = n - k; last < n; ++last) {
      const uint64_t position = draws.below(last + 1);
      const uint32_t before = chosen_.size();
      const bool is_new = chosen_.insert(position) == before;
      if (!is_new) chosen_.insert(last);  // `last` itself cannot have been chosen yet
      visit(is_new ? position : last);
    }
  }

 private:
  KeyTable<> chosen_;
};

}  // namespace hgt
