// Link prediction between any two types: of some nodes of the other type, which one is linked?
//
// An example is an edge. Its pairs are its node with the true end and with nodes drawn from those
// that have such edges by the end of the split but none to this node: in training a new draw for
// each batch, shared by its examples; in evaluation one draw for the whole split. An example whose
// node is linked to all of them has no pairs. Plain nodes are asked for at the end of the split, so
// that a batch needs each of them once. In a random split all edges between two nodes lie together.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hgt/task/task.h"

namespace hgt {

class LinkTask : public Task {
 public:
  LinkTask(const HeteroGraph& graph, const TaskSpec& spec);
  // link:EDGE.
  static std::optional<TaskSpec> find(const Schema& schema, const std::string& name);
  static void append_names(const Schema& schema, std::vector<std::string>& names);
  uint64_t num_examples(Split split) const override { return links(split).size(); }
  Time example_time(Split split, uint32_t example) const override;
  Question question(Split split, std::span<const uint32_t> examples,
                    uint64_t random_seed) const override;
  std::string describe_example(Split split, uint32_t example) const override;
  std::vector<std::string> metrics() const override;
  std::string answer_columns() const override;

 protected:
  void append_links(Split split, std::vector<HiddenEdge>& links) const override;

 private:
  struct Link {
    Relation relation;
    NodeId node;
    NodeId other;
  };
  std::span<const Link> links(Split split) const { return links_[static_cast<size_t>(split)]; }
  template <typename Visit>
  void visit_links(NodeId node, const Visit& visit) const;
  void collect_links();
  void add_link(const Link& link, Time time);
  Time link_time(const Neighbors& list, size_t i, NodeId node) const;
  Time time_of_split(Split split) const;
  uint64_t pair_number(NodeId node, NodeId other) const;
  void append_link(const Link& link, std::span<const NodeId> drawn, Time time,
                   Question& question) const;
  std::vector<NodeId> draw_others(Split split, uint64_t random_seed) const;

  std::array<std::vector<Link>, 4> links_;
  // By node of the other type: since when it has such an edge; none: it never has.
  std::vector<std::optional<Time>> first_links_;
  std::vector<NodeId> others_;  // those that have one, by that time
};

}  // namespace hgt
