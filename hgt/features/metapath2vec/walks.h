// Typed random walks along meta paths (metapath2vec, Dong et al., KDD 2017).
//
//   const Walks walks(graph, {{.type = author, .steps = {{rev_writes}, {writes}}}}, {.seed = 7});
//   std::vector<WalkNode> nodes;
//   for (uint64_t i = 0; i < walks.size(); ++i) walks.walk(i, nodes);
//
// Walk i is a function of graph, paths, options and i alone: walks are never stored, and any thread
// may work out any of them.
//
// With last_time, nothing later is ever stepped on, and nothing later has any influence: the graph
// without the later nodes and edges has the very same walks, provided that it numbers the others
// alike.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "hgt/features/metapath2vec/allowed_entries.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/graph/types.h"
#include "hgt/progress.h"
#include "hgt/random.h"

namespace hgt {

// A cyclic meta path. steps[i] lists the relations that may be taken in step i, seen from their
// target: from node v one goes to a source of graph.incoming(relation, v). The last step returns to
// `type`, and the walk goes round again until its length is reached.
struct WalkPath {
  NodeType type{};
  std::vector<std::vector<Relation>> steps = {};
};

struct WalkOptions {
  uint32_t walks_per_node = 10;
  uint32_t length = 80;  // nodes of a walk, the first included
  uint64_t seed = 1;
  Time last_time = std::numeric_limits<Time>::max();  // default: no bound
};

constexpr uint32_t kLongestWalk = 10'000;
void check_walk_options(const WalkOptions& options);  // throws Error: out of range

struct WalkNode {
  NodeType type{};
  NodeId node = 0;

  friend bool operator==(const WalkNode&, const WalkNode&) = default;
};

// Immutable after construction: safe to use from any number of threads.
class Walks {
 public:
  // Reads every edge of the paths once if there is a time bound, and keeps a bit for each.
  // Throws Error: no path, a path without steps, a step without relations or with relations that do
  // not lead on from where the step before ended, a path that does not return, no node to start at,
  // damaged files.
  Walks(HeteroGraph graph, const std::vector<WalkPath>& paths, WalkOptions options,
        const ProgressSink& progress = no_progress);

  // Every node of each path's type that is not too late starts walks_per_node of them; the order is
  // shuffled.
  uint64_t size() const { return size_; }

  // Replaces `nodes` by walk i. The next node is drawn uniformly over the allowed edges of the
  // step, all its relations together: a longer list is taken more often. Without an allowed edge
  // the walk ends early. Requires i < size(); throws Error: damaged files.
  void walk(uint64_t i, std::vector<WalkNode>& nodes) const;

  const HeteroGraph& graph() const { return graph_; }
  const WalkOptions& options() const { return options_; }
  std::span<const NodeType> types() const { return types_; }  // that occur in the paths, ascending

 private:
  // Lists of neighboring slots are one stretch of the store.
  struct Slots {
    uint32_t first = 0;
    uint32_t last = 0;  // one past the end
  };
  struct Step {
    NodeType target{};  // where the walk is
    NodeType source{};  // where it goes
    std::vector<Slots> slots = {};
  };
  struct Route {
    std::vector<Step> steps = {};
    uint64_t first_walk = 0;  // before the shuffle
    uint64_t starts = 0;
  };

  Step make_step(const WalkPath& path, size_t number) const;
  Route make_route(const WalkPath& path) const;
  void list_starts(NodeType type);
  void allow_entries(NodeType target, std::span<const Relation> relations,
                     const ProgressSink& progress);
  void allow_list(Relation relation, NodeId node, AllowedEntries& allowed) const;
  std::optional<NodeId> next(const Step& step, NodeId node, Draws& draws) const;

  HeteroGraph graph_;
  WalkOptions options_;
  std::vector<Route> routes_;
  std::vector<NodeType> types_;
  std::vector<std::optional<std::vector<NodeId>>> starts_;  // by type; no list: all nodes
  std::vector<AllowedEntries> allowed_;                     // by type of the target
  uint64_t size_ = 0;
  Permutation order_{1, 0};
};

}  // namespace hgt
