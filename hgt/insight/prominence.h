// Which nodes of a type matter most, by what the graph says of them, and since when they are there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hgt/graph/hetero_graph.h"

namespace hgt {

enum class Standing {
  citations,  // of an event: edges from events of its type that lead to it; else those of its
              // events
  links,      // edges into the node, of all relations
};
std::string_view to_string(Standing standing);

// Citations where the graph has any (papers that cite papers), else links.
Standing natural_standing(const Schema& schema);

// Of each node. Throws Error: citations are asked for and the graph has none.
std::vector<uint64_t> standings(const HeteroGraph& graph, NodeType type, Standing by);

// The nodes with the highest standing, highest first, ties by number; at most `count`.
std::vector<NodeId> most_prominent(const HeteroGraph& graph, NodeType type, Standing by,
                                   uint64_t count);
// Of these nodes alone.
std::vector<NodeId> most_prominent(const HeteroGraph& graph, NodeType type, Standing by,
                                   uint64_t count, std::vector<NodeId> nodes);

// Of each node: the time of the first event that is linked to it, its own if it is an event, or
// kNoTime where there is none.
std::vector<Time> first_times(const HeteroGraph& graph, NodeType type);

}  // namespace hgt
