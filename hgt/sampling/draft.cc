#include "hgt/sampling/draft.h"

namespace hgt {

void Draft::clear() {
  for (Columns& columns : columns_) {
    columns.nodes.clear();
    columns.times.clear();
    columns.hops.clear();
    columns.components.clear();
  }
  for (KeyTable<>& numbers : seed_numbers_) numbers.clear();
}

void Draft::begin_component(uint32_t component) {
  component_ = component;
  hop_ = 0;
  for (Budget& budget : budgets_) budget.clear();
  for (size_t type = 0; type < num_types(); ++type) {
    columns_[type].component_begin = size(NodeType(type));
  }
}

uint32_t Draft::add_seed(const Seed& seed) {
  const uint32_t number =
      seed_numbers_[index(seed.type)].insert(instance_key(seed.node, seed.time));
  if (budget(seed.type).take(seed.node, seed.time)) add(seed.type, seed.node, seed.time);
  return number;
}

void Draft::add(NodeType type, NodeId node, Time time) {
  Columns& columns = columns_[index(type)];
  columns.nodes.push_back(node);
  columns.times.push_back(time);
  columns.hops.push_back(hop_);
  columns.components.push_back(component_);
}

Targets Draft::range(NodeType type, uint32_t first, uint32_t last) const {
  const Columns& columns = columns_[index(type)];
  return {.type = type,
          .nodes = std::span(columns.nodes).subspan(first, last - first),
          .times = std::span(columns.times).subspan(first, last - first)};
}

template <typename Predicate>
void Draft::Columns::write(Subgraph& subgraph, const Predicate& wanted) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!wanted(hops[i])) continue;
    subgraph.nodes.push_back(nodes[i]);
    subgraph.times.push_back(times[i]);
    subgraph.hops.push_back(hops[i]);
    subgraph.components.push_back(components[i]);
  }
}

void Draft::write(Subgraph& subgraph) const {
  subgraph.type_offsets.assign(1, 0);
  subgraph.nodes.clear();
  subgraph.times.clear();
  subgraph.hops.clear();
  subgraph.components.clear();
  for (const Columns& columns : columns_) {
    columns.write(subgraph, [](uint32_t hop) { return hop == 0; });
    columns.write(subgraph, [](uint32_t hop) { return hop != 0; });
    subgraph.type_offsets.push_back(subgraph.num_rows());
  }
}

}  // namespace hgt
