// Nodes of a type by the labels that the graph carries, as people write it: "kind=conference".
//
//   const std::vector conditions = {parse_condition(graph, venue, "kind=conference")};
//   for (const NodeId node : nodes_where(graph, venue, conditions)) ...
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/hetero_graph.h"

namespace hgt {

// A node meets it with any of these classes of the label; none are named: if it has no class of it.
struct LabelCondition {
  uint32_t label = 0;
  std::vector<uint32_t> classes = {};
  friend bool operator==(const LabelCondition&, const LabelCondition&) = default;
};

// LABEL=CLASS: a class by its value in the table or, where none has that value, by the name that is
// shown for it, which several classes may have. "LABEL=": no class of the label. Throws Error: no
// '=', no such label, no such class; names those there are.
LabelCondition parse_condition(const HeteroGraph& graph, NodeType type, std::string_view text);

// The nodes that meet the conditions, ascending: one of those about each label that is mentioned.
// No conditions: all nodes. Throws Error: no node does.
std::vector<NodeId> nodes_where(const HeteroGraph& graph, NodeType type,
                                std::span<const LabelCondition> conditions);

// "kind=conference and level=1 or 2"; "kind=none"
std::string describe(const Schema& schema, NodeType type,
                     std::span<const LabelCondition> conditions);

}  // namespace hgt
