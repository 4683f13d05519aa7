// A sampled sub-graph: instances (a node at a time) and every edge among them, laid out for a
// graph neural network.
//
// Rows number the instances. They are contiguous by node type; within a type the seeds come first,
// in the order in which they were asked for (component after component, where there are several),
// then the others in the order in which they were drawn.
// Edges are grouped by target row, within it by meta relation, within that by position in the
// store; `self` comes last. All vectors are public: a Subgraph is data.
//
//   for (uint32_t target : subgraph.rows(paper))
//     for (uint64_t edge : subgraph.incoming(target))
//       use(subgraph.sources[edge], subgraph.relations[edge], subgraph.gaps[edge]);
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

// An instance whose representation is asked for.
struct Seed {
  NodeType type{};
  NodeId node = 0;
  Time time = kNoTime;  // an event node has its own: leave it out. A plain node without: no time
};

// One edge of the graph, and all that agree with it in relation and ends.
struct HiddenEdge {
  Relation relation{};
  NodeId source = 0;
  NodeId target = 0;
  friend auto operator<=>(const HiddenEdge&, const HiddenEdge&) = default;
};

constexpr EdgePosition kSelfEdge = std::numeric_limits<EdgePosition>::max();

// The meta relation <type, self, type>: numbered after the relations of the schema.
inline Relation self_relation(const Schema& schema, NodeType type) {
  return Relation(schema.relations().size() + index(type));
}

// Delta T(t, s) = T(t) - T(s); 0 when one of the two has no time.
inline int64_t time_gap(Time target, Time source) {
  return target == kNoTime || source == kNoTime ? 0 : int64_t{target} - source;
}

// The numbers first, first + 1, ..., last - 1, to be walked through with a for loop.
template <typename Number>
struct Numbers {
  struct Iterator {
    Number at;
    Number operator*() const { return at; }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;
  };
  Number first, last;

  Iterator begin() const { return {first}; }
  Iterator end() const { return {last}; }
  Number size() const { return last - first; }
};

struct Subgraph {
  // --- instances ---
  std::vector<uint32_t> type_offsets;  // [types + 1] first row of each type
  std::vector<NodeId> nodes;           // [rows]
  std::vector<Time> times;             // [rows] T(v); kNoTime: none
  std::vector<uint32_t> hops;          // [rows] the step that drew it; 0: a seed
  // [rows] Edges join instances of one component only. More than one: TimeBound::seed.
  std::vector<uint32_t> components;
  std::vector<uint32_t> seed_rows;  // [seeds as asked] equal seeds share a row

  // --- edges ---
  std::vector<uint64_t> edge_offsets;   // [rows + 1] the incoming edges of a row
  std::vector<uint32_t> sources;        // [edges] row of the source
  std::vector<Relation> relations;      // [edges] ascending within a target
  std::vector<int64_t> gaps;            // [edges] time_gap of target and source
  std::vector<EdgePosition> positions;  // [edges] in the store of the target's type; kSelfEdge

  // --- features ---
  // By node type: hidden edges into its nodes that went into their features, by target, then
  // source; visible_features.h leaves them out. Empty: no features are such means.
  std::vector<std::vector<HiddenEdge>> hidden_from_means;

  uint32_t num_rows() const { return static_cast<uint32_t>(nodes.size()); }
  uint64_t num_edges() const { return sources.size(); }
  uint32_t num_rows(NodeType type) const {
    return type_offsets[index(type) + 1] - type_offsets[index(type)];
  }
  NodeType type_of(uint32_t row) const {
    const auto next = std::upper_bound(type_offsets.begin(), type_offsets.end(), row);
    return NodeType(next - type_offsets.begin() - 1);
  }
  Numbers<uint32_t> rows(NodeType type) const {
    return {type_offsets[index(type)], type_offsets[index(type) + 1]};
  }
  std::span<const NodeId> nodes_of(NodeType type) const {  // of its rows
    return std::span(nodes).subspan(type_offsets[index(type)], num_rows(type));
  }
  Numbers<uint64_t> incoming(uint32_t row) const {
    return {edge_offsets[row], edge_offsets[row + size_t{1}]};
  }

  friend bool operator==(const Subgraph&, const Subgraph&) = default;
};

}  // namespace hgt
