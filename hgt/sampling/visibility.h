// What a sub-graph may contain: nothing later than the time bound, no edge that the task predicts.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/key_table.h"
#include "hgt/sampling/sampling_options.h"

namespace hgt {

class Visibility {
 public:
  // Throws Error: a hidden relation or edge that the graph cannot have.
  Visibility(const HeteroGraph& graph, const HiddenEdges& hidden);

  // Starts a batch: its seeds and what is hidden for it alone.
  void begin(std::span<const Seed> seeds, std::span<const HiddenEdge> hidden);
  void set_last_time(Time last) { last_ = last; }

  // Later than the bound. Nodes and edges without a time never are.
  bool too_late(Time time) const { return time > last_; }
  bool has_bound() const { return last_ != std::numeric_limits<Time>::max(); }

  bool hides_all(Relation relation) const { return rules_[index(relation)].everywhere; }
  // False: no edge of the relation is hidden, so there is no need to ask hides().
  bool may_hide(Relation relation) const {
    const Rule& rule = rules_[index(relation)];
    return rule.at_seeds || rule.some || rule.always;
  }
  // Says the same of an edge and of its reverse.
  bool hides(Relation relation, NodeId source, NodeId target) const;

 private:
  struct Rule {
    bool everywhere = false;
    bool at_seeds = false;
    bool some = false;    // single edges are hidden for this batch
    bool always = false;  // single edges are hidden for all batches
  };
  void hide_always(const HiddenEdge& edge);
  void hide(const HiddenEdge& edge);
  void hide_one_way(Relation relation, NodeId source, NodeId target);

  const Schema& schema_;
  std::vector<Rule> rules_;               // by relation
  std::vector<KeyTable<>> seeds_;         // by node type
  std::vector<KeyTable<>> hidden_edges_;  // by relation: the key is (source, target)
  std::vector<KeyTable<>> always_hidden_;
  std::vector<Relation> touched_;  // relations with single hidden edges in this batch
  Time last_ = std::numeric_limits<Time>::max();
};

}  // namespace hgt
