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

void Draft::write(Subgraph& subgraph) const {
  subgraph.type_offsets.assign(num_types() + 1, 0);
  subgraph.nodes.clear();
  subgraph.times.clear();
  subgraph.hops.clear();
  subgraph.components.clear();
  for (size_t type = 0; type < num_types(); ++type) {
    const Columns& columns = columns_[type];
    const auto write = [&](bool seeds) {
      for (size_t i = 0; i < columns.nodes.size(); ++i) {
        if ((columns.hops[i] == 0) != seeds) continue;
        subgraph.nodes.push_back(columns.nodes[i]);
        subgraph.times.push_back(columns.times[i]);
        subgraph.hops.push_back(columns.hops[i]);
        subgraph.components.push_back(columns.components[i]);
      }
    };
    write(true);
    write(false);
    subgraph.type_offsets[type + 1] = subgraph.num_rows();
  }
}

}  // namespace hgt
