// The incoming edges of a node, as views into the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hgt/graph/types.h"

namespace hgt {

// The times of the edges in a list, as they are stored: in 2 bytes each or in 4.
class EdgeTimes {
 public:
  EdgeTimes() = default;
  explicit EdgeTimes(std::span<const int16_t> stored) : short_(stored) {}
  explicit EdgeTimes(std::span<const Time> stored) : long_(stored) {}

  size_t size() const { return short_.size() + long_.size(); }
  bool empty() const { return size() == 0; }
  // Where `count` of them are, from the first-th on.
  std::span<const std::byte> memory(size_t first, size_t count) const {
    return short_.empty() ? std::as_bytes(long_.subspan(first, count))
                          : std::as_bytes(short_.subspan(first, count));
  }
  Time operator[](size_t i) const {
    if (short_.empty()) return long_[i];
    return short_[i] == kNoShortTime ? kNoTime : Time{short_[i]};
  }

 private:
  std::span<const int16_t> short_;
  std::span<const Time> long_;
};

// The incoming edges of one target node for one relation, sorted by source (then time, weight).
struct Neighbors {
  std::span<const NodeId> sources;
  EdgeTimes times;                 // empty: the relation's edges carry no time of their own
  std::span<const float> weights;  // empty: the relation's edges carry no weight
  EdgePosition first = 0;          // store position of sources[0]; sources[i] has first + i

  size_t size() const { return sources.size(); }
};

}  // namespace hgt
