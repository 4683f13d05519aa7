// B[tau] of Algorithm 1: the candidates of one node type with their accumulated normalized degree,
// and the instances that have been sampled, so that none is sampled twice.
//
// A candidate is an instance: the same plain node at two times is two candidates. Slots number the
// instances in the order in which they were first met.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "hgt/graph/types.h"
#include "hgt/random.h"
#include "hgt/sampling/key_table.h"

namespace hgt {

constexpr uint64_t instance_key(NodeId node, Time time) {
  return (uint64_t{static_cast<uint32_t>(time)} << 32U) | node;
}

class Budget {
 public:
  void clear() { candidates_.clear(); }  // keeps the memory

  // Algorithm 2, line 8. No effect on an instance that has been sampled.
  void add(NodeId node, Time time, double share) {
    candidates_[slot_of(node, time)].value += share;
  }

  // Marks an instance as sampled; false: it had been.
  bool take(NodeId node, Time time) {
    double& weight = candidates_[slot_of(node, time)].value;
    return !std::isnan(std::exchange(weight, kSampled));
  }

  // Algorithm 1, lines 8 to 11 and 15: draws n candidates, or all when there are fewer, one after
  // the other without replacement, each with probability proportional to the square of its weight.
  // They leave the budget. Returns their slots, ascending, until the next draw.
  const std::vector<uint32_t>& draw(uint32_t n, Draws& draws);

  uint32_t size() const {
    return candidates_.size();
  }  // slots, those of sampled instances included
  NodeId node(uint32_t slot) const { return static_cast<NodeId>(candidates_[slot].key); }
  Time time(uint32_t slot) const { return static_cast<Time>(candidates_[slot].key >> 32U); }
  // The accumulated normalized degree; NaN: the instance has been sampled.
  double weight(uint32_t slot) const { return candidates_[slot].value; }
  uint32_t find(NodeId node, Time time) const { return candidates_.find(instance_key(node, time)); }

  void prefetch(NodeId node, Time time) const { candidates_.prefetch(instance_key(node, time)); }

 private:
  struct Arrival {
    double time;
    uint32_t slot;
    friend bool operator<(const Arrival& a, const Arrival& b) {
      return a.time != b.time ? a.time < b.time : a.slot < b.slot;
    }
  };

  // Nothing can be added to it and no comparison with it holds, so what is sampled drops out of
  // every loop without a test of its own.
  static constexpr double kSampled = std::numeric_limits<double>::quiet_NaN();

  uint32_t slot_of(NodeId node, Time time) { return candidates_.insert(instance_key(node, time)); }
  double keep_first(uint32_t n);

  KeyTable<double> candidates_;    // with their accumulated normalized degree
  std::vector<Arrival> arrivals_;  // scratch of draw()
  std::vector<uint32_t> drawn_;
};

}  // namespace hgt
