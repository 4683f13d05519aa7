// What the names of tasks are made of: types and edge types of a schema.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/schema.h"

namespace hgt {

std::optional<NodeType> find_type(const Schema& schema, std::string_view name);

// Every type whose name, followed by the separator, begins the text, and what comes after it.
struct LeadingType {
  NodeType type;
  std::string rest;
};
std::vector<LeadingType> leading_types(const Schema& schema, std::string_view text, char separator);

// The edge types that join the two, in either direction, and end in the suffix: of a pair of
// directions the declared one.
std::vector<std::string> edges_between(const Schema& schema, NodeType node, NodeType other,
                                       std::string_view suffix);

}  // namespace hgt
