#include "hgt/task/name_parts.h"

namespace hgt {

std::optional<NodeType> find_type(const Schema& schema, std::string_view name) {
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    if (schema.node_types()[i].name == name) return NodeType(i);
  }
  return std::nullopt;
}

std::vector<LeadingType> leading_types(const Schema& schema, std::string_view text,
                                       char separator) {
  std::vector<LeadingType> found;
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    const std::string prefix = schema.node_types()[i].name + separator;
    if (!text.starts_with(prefix)) continue;
    found.push_back({.type = NodeType(i), .rest = std::string(text.substr(prefix.size()))});
  }
  return found;
}

std::vector<std::string> edges_between(const Schema& schema, NodeType node, NodeType other,
                                       std::string_view suffix) {
  std::vector<std::string> edges;
  for (const RelationSpec& relation : schema.relations()) {
    const bool joins = (relation.source == node && relation.target == other) ||
                       (relation.source == other && relation.target == node);
    if (!joins || relation.reverse || !relation.edge.ends_with(suffix)) continue;
    edges.push_back(relation.edge);
  }
  return edges;
}

}  // namespace hgt
