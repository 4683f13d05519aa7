#include "hgt/insight/label_conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "hgt/error.h"

namespace hgt {

namespace {

constexpr size_t kListed = 20;  // of the names that an error lists

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  const size_t shown = std::min(kListed, names.size());
  std::string list = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
  if (shown < names.size()) list += fmt::format(" and {} more", names.size() - shown);
  return list;
}

uint32_t label_by(const HeteroGraph& graph, NodeType type, std::string_view name) {
  if (const auto label = graph.find_label(type, name)) return *label;
  std::vector<std::string> known;
  for (const LabelSpec& label : graph.schema().at(type).labels) known.push_back(label.name);
  throw Error(fmt::format("nodes of type {} have no label '{}'; their labels: {}",
                          graph.schema().at(type).name, name, listed(known)));
}

std::vector<uint32_t> places_of(std::string_view word, const std::vector<std::string>& words) {
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) places.push_back(i);
  }
  return places;
}

// What all conditions about one label allow.
struct Allowed {
  std::vector<uint32_t> classes = {};
  bool none = false;
};

std::map<uint32_t, Allowed> by_label(std::span<const LabelCondition> conditions) {
  std::map<uint32_t, Allowed> labels;
  for (const auto& [label, classes] : conditions) {
    Allowed& allowed = labels[label];
    allowed.classes.insert(allowed.classes.end(), classes.begin(), classes.end());
    allowed.none = allowed.none || classes.empty();
  }
  return labels;
}

bool is_allowed(std::span<const uint32_t> own, const Allowed& allowed) {
  if (own.empty()) return allowed.none;
  return std::ranges::any_of(own, [&](uint32_t number) {
    return std::ranges::find(allowed.classes, number) != allowed.classes.end();
  });
}

}  // namespace

LabelCondition parse_condition(const HeteroGraph& graph, NodeType type, std::string_view text) {
  const size_t sign = text.find('=');
  if (sign == std::string_view::npos || sign == 0) {
    throw Error(fmt::format("'{}' is not LABEL=CLASS, such as kind=conference", text));
  }
  const std::string_view value = text.substr(sign + 1);
  LabelCondition condition{.label = label_by(graph, type, text.substr(0, sign))};
  if (value.empty()) return condition;
  const LabelSpec& label = graph.schema().at(type).labels[condition.label];
  condition.classes = places_of(value, label.classes);
  if (condition.classes.empty()) condition.classes = places_of(value, label.class_names);
  if (!condition.classes.empty()) return condition;
  throw Error(fmt::format("label '{}' of type {} has no class '{}'; its classes: {}", label.name,
                          graph.schema().at(type).name, value, listed(label.classes)));
}

std::vector<NodeId> nodes_where(const HeteroGraph& graph, NodeType type,
                                std::span<const LabelCondition> conditions) {
  std::vector<NodeId> nodes(graph.num_nodes(type));
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  for (const auto& [label, allowed] : by_label(conditions)) {
    std::erase_if(nodes, [&, label = label, &wanted = allowed](NodeId node) {
      return !is_allowed(graph.label_classes(type, label, node), wanted);
    });
  }
  if (nodes.empty() && !conditions.empty()) {
    throw Error(fmt::format("no node of type {} has {}", graph.schema().at(type).name,
                            describe(graph.schema(), type, conditions)));
  }
  return nodes;
}

std::string describe(const Schema& schema, NodeType type,
                     std::span<const LabelCondition> conditions) {
  std::string text;
  for (const auto& [number, allowed] : by_label(conditions)) {
    const LabelSpec& label = schema.at(type).labels[number];
    std::vector<std::string> values;
    for (const uint32_t place : allowed.classes) values.push_back(label.classes[place]);
    if (allowed.none) values.emplace_back("none");
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : " and ", label.name, fmt::join(values, " or "));
  }
  return text;
}

}  // namespace hgt
