#include "hgt/sampling/visibility.h"

#include <fmt/format.h>

#include "hgt/error.h"

namespace hgt {

namespace {

constexpr uint64_t edge_key(NodeId source, NodeId target) {
  return (uint64_t{source} << 32U) | target;
}

void check_relation(const Schema& schema, Relation relation) {
  if (index(relation) < schema.relations().size()) return;
  throw Error(fmt::format("relation {} cannot be hidden: the graph has only {} relations",
                          index(relation), schema.relations().size()));
}

}  // namespace

Visibility::Visibility(const HeteroGraph& graph, const HiddenEdges& hidden)
    : schema_(graph.schema()),
      rules_(schema_.relations().size()),
      seeds_(schema_.node_types().size()),
      hidden_edges_(schema_.relations().size()),
      always_hidden_(schema_.relations().size()) {
  for (const Relation relation : hidden.everywhere) {
    check_relation(schema_, relation);
    rules_[index(relation)].everywhere = true;
    rules_[index(schema_.reverse(relation))].everywhere = true;
  }
  for (const HiddenEdge& edge : hidden.edges) hide_always(edge);
  for (const Relation relation : hidden.at_seeds) {
    check_relation(schema_, relation);
    rules_[index(relation)].at_seeds = true;
    rules_[index(schema_.reverse(relation))].at_seeds = true;
  }
}

void Visibility::begin(std::span<const Seed> seeds, std::span<const HiddenEdge> hidden) {
  for (KeyTable<>& nodes : seeds_) nodes.clear();
  for (const Seed& seed : seeds) seeds_[index(seed.type)].insert(seed.node);
  for (const Relation relation : touched_) {
    rules_[index(relation)].some = false;
    hidden_edges_[index(relation)].clear();
  }
  touched_.clear();
  for (const HiddenEdge& edge : hidden) hide(edge);
}

void Visibility::hide_always(const HiddenEdge& edge) {
  check_relation(schema_, edge.relation);
  const Relation reverse = schema_.reverse(edge.relation);
  for (const Relation relation : {edge.relation, reverse}) rules_[index(relation)].always = true;
  always_hidden_[index(edge.relation)].insert(edge_key(edge.source, edge.target));
  always_hidden_[index(reverse)].insert(edge_key(edge.target, edge.source));
}

void Visibility::hide(const HiddenEdge& edge) {
  check_relation(schema_, edge.relation);
  hide_one_way(edge.relation, edge.source, edge.target);
  hide_one_way(schema_.reverse(edge.relation), edge.target, edge.source);
}

void Visibility::hide_one_way(Relation relation, NodeId source, NodeId target) {
  Rule& rule = rules_[index(relation)];
  if (!rule.some) touched_.push_back(relation);
  rule.some = true;
  hidden_edges_[index(relation)].insert(edge_key(source, target));
}

bool Visibility::hides(Relation relation, NodeId source, NodeId target) const {
  const Rule& rule = rules_[index(relation)];
  if (rule.everywhere) return true;
  if (rule.always && always_hidden_[index(relation)].contains(edge_key(source, target))) {
    return true;
  }
  if (rule.some && hidden_edges_[index(relation)].contains(edge_key(source, target))) return true;
  const RelationSpec& spec = schema_.at(relation);
  return rule.at_seeds && (seeds_[index(spec.source)].contains(source) ||
                           seeds_[index(spec.target)].contains(target));
}

}  // namespace hgt
