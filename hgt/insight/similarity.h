// Which nodes of a type are alike at a time, to a trained model: the paper's case study (section
// 5.4, Table 3) for any type and any times.
//
//   const auto conferences = parse_condition(graph, venue, "kind=conference");
//   Similarity venues(run, venue, {.where = {conferences}, .among = 100});
//   for (const SimilarNode& other : venues.nearest(kdd, 2010, 5)) ...
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hgt/insight/label_conditions.h"
#include "hgt/insight/nearest_rows.h"
#include "hgt/insight/prominence.h"
#include "hgt/insight/representations.h"

namespace hgt {

// Which nodes are compared, and how.
struct SimilarityOptions {
  std::vector<LabelCondition> where = {};  // only nodes that meet these
  uint64_t among = 0;                      // of them this many of the most prominent; 0: all
  std::optional<Standing> standing = {};   // what makes a node prominent; none: natural_standing()
  Distance distance = Distance::euclidean;
  RepresentationOptions representation = {};
  uint64_t exact_rows = NearestRows::kExactRows;
};

struct SimilarNode {
  NodeId node = 0;
  double distance = 0;
  double similarity = 0;  // NodesAtTime::similarity
};

// The nodes that are compared at one time, with their vectors.
struct NodesAtTime {
  std::vector<NodeId> nodes;  // ascending
  NearestRows rows;           // row i: nodes[i]

  // 1 / (1 + distance / mean distance of all pairs)
  double similarity(double distance) const;
};

class Similarity {
 public:
  static constexpr size_t kKeptTimes = 64;

  // `run` must outlive it. Throws Error as Representations and nodes_where() do.
  Similarity(const Run& run, NodeType type, const SimilarityOptions& options);

  // Nodes whose first event comes later than the time are not there yet, so not compared. Made
  // when it is first asked for, and kept until kKeptTimes others have been asked for since.
  // kNoTime, and no other, where instances of the type have no choice: events, graphs without
  // times.
  const NodesAtTime& at(Time time, const ProgressSink& progress = no_progress);

  // The `top` others nearest to any node of the type, compared or not, nearest first.
  std::vector<SimilarNode> nearest(NodeId node, Time time, uint64_t top,
                                   const ProgressSink& progress = no_progress);
  // Of any node of the type.
  std::vector<float> vector(NodeId node, Time time, const ProgressSink& progress = no_progress);
  bool is_there(NodeId node, Time time) const;

  bool has_times() const;  // instances can be asked for at any time
  const HeteroGraph& graph() const { return representations_.graph(); }
  const Representations& representations() const { return representations_; }
  uint64_t num_candidates() const { return candidates_.size(); }
  // "the 100 most cited of 9,131 nodes of type venue with kind=conference"
  std::string describe() const;

 private:
  NodesAtTime make(Time time, const ProgressSink& progress) const;

  Representations representations_;
  SimilarityOptions options_;
  Standing standing_;
  std::vector<NodeId> candidates_;                // ascending
  uint64_t eligible_ = 0;                         // nodes that meet the conditions
  std::vector<Time> first_times_;                 // [nodes]
  std::list<std::pair<Time, NodesAtTime>> made_;  // the one asked for last at the end
};

}  // namespace hgt
