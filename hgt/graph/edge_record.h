// Edges as they are sorted: numbers that compare as (target, source, time, weight) do.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "hgt/graph/graph_builder.h"

namespace hgt {

// Of relations without times and weights.
struct PlainRecord {
  static constexpr size_t kWords = 1;
  uint64_t key = 0;  // target, source

  uint64_t word(size_t /*number*/) const { return key; }  // the least significant one is 0
  static PlainRecord from(const Edge& edge) { return {uint64_t{edge.target} << 32U | edge.source}; }
  void to(Edge& edge) const {
    edge.target = static_cast<NodeId>(key >> 32U);
    edge.source = static_cast<NodeId>(key);
  }
  bool operator<(const PlainRecord& other) const { return key < other.key; }
};

// Time and weight sit in one number that orders them as they are ordered: time first, then weight.
struct RichRecord {
  static constexpr size_t kWords = 2;
  uint64_t key = 0;  // target, source
  uint64_t payload = 0;

  uint64_t word(size_t number) const { return number == 0 ? payload : key; }

  // Bits of a float, turned so that they compare like the float.
  static uint32_t ordered(float weight) {
    const auto bits = std::bit_cast<uint32_t>(weight);
    return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
  }
  static float weight(uint32_t ordered) {
    const bool negative = (ordered & 0x80000000U) == 0;
    return std::bit_cast<float>(negative ? ~ordered : ordered & 0x7fffffffU);
  }
  static RichRecord from(const Edge& edge) {
    const auto time = static_cast<uint32_t>(edge.time) ^ 0x80000000U;
    return {PlainRecord::from(edge).key, uint64_t{time} << 32U | ordered(edge.weight)};
  }
  void to(Edge& edge) const {
    PlainRecord{key}.to(edge);
    edge.time = static_cast<Time>(static_cast<uint32_t>(payload >> 32U) ^ 0x80000000U);
    edge.weight = weight(static_cast<uint32_t>(payload));
  }
  bool operator<(const RichRecord& other) const {
    return key != other.key ? key < other.key : payload < other.payload;
  }
};

}  // namespace hgt
