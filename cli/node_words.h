// Nodes and times as people write them on a command line.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/subgraph.h"

namespace hgt::cli {

// Divides "TYPE:REST"; type names have no colon. No value: there is none.
std::optional<std::pair<std::string, std::string>> divide(const std::string& word);

// TYPE:ID or TYPE:ID@TIME. An id may hold ':' and '@': what is an id as a whole is taken as one.
// Throws Error: no such node, no time.
Seed parse_seed(const HeteroGraph& graph, const std::string& word);

// The same, or TYPE:NAME where no node has that id and only one has that name.
Seed named_node(const HeteroGraph& graph, const std::string& word);

// Throws Error: `text`, found at `where`, is not a time; gives an example of one.
[[noreturn]] void report_time(const Schema& schema, const std::string& where,
                              const std::string& text);

}  // namespace hgt::cli
