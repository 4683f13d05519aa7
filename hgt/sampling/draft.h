// The instances of a sub-graph while they are being drawn, component after component.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/graph/types.h"
#include "hgt/sampling/budget.h"
#include "hgt/sampling/candidate_reader.h"
#include "hgt/sampling/key_table.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

class Draft {
 public:
  explicit Draft(size_t types) : columns_(types), budgets_(types), seed_numbers_(types) {}

  size_t num_types() const { return columns_.size(); }
  void clear();  // keeps the memory

  // The next component: empty budgets, hop 0. Its seeds come before anything is drawn.
  void begin_component(uint32_t component);
  // Places a seed unless it is there; its number among the seeds of its type.
  uint32_t add_seed(const Seed& seed);

  void begin_hop(uint32_t hop) { hop_ = hop; }
  uint32_t hop() const { return hop_; }
  uint32_t component() const { return component_; }

  // OS and NS of Algorithm 1, read as one: sampled instances of the component at hand.
  void add(NodeType type, NodeId node, Time time);
  Budget& budget(NodeType type) { return budgets_[index(type)]; }

  // Instances of a type, over all components, as numbered by their order.
  uint32_t size(NodeType type) const {
    return static_cast<uint32_t>(columns_[index(type)].nodes.size());
  }
  uint32_t component_begin(NodeType type) const { return columns_[index(type)].component_begin; }
  Targets range(NodeType type, uint32_t first, uint32_t last) const;

  // Fills the instance arrays: by type, within a type seeds first.
  void write(Subgraph& subgraph) const;

 private:
  struct Columns {
    std::vector<NodeId> nodes;
    std::vector<Time> times;
    std::vector<uint32_t> hops;
    std::vector<uint32_t> components;
    uint32_t component_begin = 0;  // first instance of the component at hand

    // Appends the instances of the wanted hops.
    template <typename Predicate>
    void write(Subgraph& subgraph, const Predicate& wanted) const;
  };

  std::vector<Columns> columns_;          // by type
  std::vector<Budget> budgets_;           // by type, of the component at hand
  std::vector<KeyTable<>> seed_numbers_;  // by type, of all components
  uint32_t component_ = 0;
  uint32_t hop_ = 0;
};

}  // namespace hgt
