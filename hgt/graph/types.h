// The numbers that stand for nodes, types, relations and times.
#pragma once

#include <cstdint>
#include <limits>

#include "hgt/disk/file.h"

namespace hgt {

enum class NodeType : uint16_t {};  // tau(v), numbered as in the schema
enum class Relation : uint16_t {};  // <tau(s), phi(e), tau(t)>, numbered as in the schema

// Dense numbers: usable as an index into per-type and per-relation arrays.
constexpr uint32_t index(NodeType type) { return static_cast<uint32_t>(type); }
constexpr uint32_t index(Relation relation) { return static_cast<uint32_t>(relation); }

using NodeId = uint32_t;        // index among the nodes of one type
using EdgePosition = uint64_t;  // index among all incoming entries of one target type
using Time = int32_t;           // T(v), in the unit that the schema names

// The items of a list, or of several that follow each other: positions in the array that holds
// them.
struct ListRange {
  uint64_t begin = 0;
  uint64_t end = 0;  // not included

  uint64_t size() const { return end - begin; }
};

// The time of an event node whose table gave none. It then inherits like a plain node.
constexpr Time kNoTime = std::numeric_limits<Time>::min();
// The same, of an edge, where times are stored in 2 bytes.
constexpr int16_t kNoShortTime = std::numeric_limits<int16_t>::min();
// One less than what four bytes hold: the id index stores node + 1.
constexpr uint64_t kMaxNodes = std::numeric_limits<NodeId>::max() - 1;

}  // namespace hgt
