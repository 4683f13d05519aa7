#include "cli/node_words.h"

#include <fmt/format.h>

#include <vector>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/sampling/time_split.h"

namespace hgt::cli {

namespace {

std::string time_example(const Schema& schema) {
  const Time time = schema.time_range ? schema.time_range->second
                                      : default_time_split(schema.time_unit).train_end;
  return format_time(time, schema.time_unit);
}

[[noreturn]] void report_id(const HeteroGraph& graph, NodeType type, const std::string& id) {
  const std::string& name = graph.schema().at(type).name;
  if (graph.num_nodes(type) == 0) {
    throw Error(fmt::format(
        "there is no node of type {} with the id '{}'; the graph has no nodes of type {}", name, id,
        name));
  }
  throw Error(fmt::format(
      "there is no node of type {} with the id '{}'; the first node of type {} has the id '{}'",
      name, id, name, graph.id(type, 0)));
}

}  // namespace

std::optional<std::pair<std::string, std::string>> divide(const std::string& word) {
  const size_t colon = word.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return std::pair(word.substr(0, colon), word.substr(colon + 1));
}

void report_time(const Schema& schema, const std::string& where, const std::string& text) {
  throw Error(fmt::format("{}: '{}' is not a time in the unit {}; an example is {}", where, text,
                          to_string(schema.time_unit), time_example(schema)));
}

Seed parse_seed(const HeteroGraph& graph, const std::string& word) {
  const auto parts = divide(word);
  if (!parts) throw Error(fmt::format("'{}' is not TYPE:ID or TYPE:ID@TIME", word));
  const auto& [type_name, rest] = *parts;
  const NodeType type = graph.schema().node_type(type_name);
  if (const auto node = graph.find(type, rest)) return {.type = type, .node = *node};
  const size_t at = rest.rfind('@');
  if (at == std::string::npos) report_id(graph, type, rest);
  const std::string id = rest.substr(0, at);
  const std::string text = rest.substr(at + 1);
  const auto node = graph.find(type, id);
  const auto time = parse_time(text, TimeFormat::date, graph.schema().time_unit);
  if (!node) report_id(graph, type, time ? id : rest);
  if (!time) report_time(graph.schema(), "--node " + word, text);
  return {.type = type, .node = *node, .time = *time};
}

Seed named_node(const HeteroGraph& graph, const std::string& word) {
  const auto parts = divide(word);
  if (!parts) return parse_seed(graph, word);
  const NodeType type = graph.schema().node_type(parts->first);
  if (graph.find(type, parts->second) || !graph.schema().at(type).names) {
    return parse_seed(graph, word);
  }
  std::vector<NodeId> found;
  for (NodeId node = 0; node < graph.num_nodes(type); ++node) {
    if (graph.name(type, node) == parts->second) found.push_back(node);
  }
  if (found.size() == 1) return {.type = type, .node = found.front()};
  if (found.empty()) return parse_seed(graph, word);
  throw Error(
      fmt::format("{} nodes of type {} have the name '{}', the first two with the ids {} "
                  "and {}; choose one by its id",
                  found.size(), parts->first, parts->second, graph.id(type, found[0]),
                  graph.id(type, found[1])));
}

}  // namespace hgt::cli
