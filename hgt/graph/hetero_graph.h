// HeteroGraph: a graph folder, opened.
//
//   const auto graph = HeteroGraph::open("cs.graph");
//   const NodeType paper = graph.schema().node_type("paper");
//   const Relation writes = graph.schema().relation("author", "writes_first", "paper");
//   if (const auto node = graph.find(paper, "P19-1001"))
//     for (NodeId author : graph.incoming(writes, *node).sources) ...
//
// The arrays are mapped, not read: opening costs the same whatever the number of edges, the graph
// need not fit in memory, and all threads and processes share its pages. Immutable: cheap to copy,
// safe to use from any number of threads. Spans and views live as long as any copy of the graph.
//
// Opening checks the schema and, for every file, header and size. Offsets, sources, times and
// classes are checked to be in range when they are used, so that a damaged file gives an Error and
// never a crash. Damage within these ranges is found by checksums: open_verified() in
// verified_arrays.h compares them once, verify() in graph_check.h checks every byte.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/disk/mapping.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/neighbors.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

// The feature matrix of a node type, as stored: exactly one of the spans is used.
struct Features {
  uint64_t width = 0;                     // 0: the type has no features; of the columns of known
                                          // labels, which are not stored, only the number is here
  std::span<const float> floats = {};     // [nodes * width]
  std::span<const uint16_t> halves = {};  // [nodes * width], bits of fp16; see half.h
  std::span<const int8_t> bytes = {};     // [nodes * (4 + width)]: see stored_features.h
};

// Classes of some nodes of a type, that are known and may be read like features.
struct KnownLabels {
  NodeType type{};
  uint32_t classes = 0;
  std::vector<uint64_t> offsets = {};  // [nodes + 1]
  std::vector<uint32_t> entries = {};  // classes of each node

  std::span<const uint32_t> of(NodeId node) const {
    return std::span(entries).subspan(offsets[node], offsets[node + size_t{1}] - offsets[node]);
  }
};

class HeteroGraph {
 public:
  // With the features of one set (feature_sets.h); empty: the newest finished one. What other sets
  // hold is neither looked at nor seen. Throws Error: no graph folder, no such set, a damaged or
  // incomplete file.
  static HeteroGraph open(const Path& folder, const std::string& feature_set = {});

  // The same graph, in which the features of a type end with a column for each class: 1 at the
  // nodes that have it. A type without features has these columns alone.
  HeteroGraph with_known_labels(KnownLabels labels) const;
  HeteroGraph without_known_labels() const;
  const KnownLabels* known_labels() const;  // nullptr: there are none

  // How lists, times and labels are going to be read, by whoever has this graph open.
  void expect(Access access) const;
  uint64_t bytes_on_disk() const;  // of all arrays, the chosen features included

  const Path& folder() const;
  const std::string& feature_set() const;  // the name of the chosen one
  const Schema& schema() const;            // as if the graph had no other features
  uint64_t num_nodes(NodeType type) const { return schema().at(type).nodes; }
  uint64_t num_edges(Relation relation) const { return schema().at(relation).edges; }
  uint64_t num_entries(NodeType target) const;  // incoming entries over all relations

  // --- edges. Requires target < num_nodes ---
  // Checked: the sources are nodes of the relation's source type, the times are those of the
  // schema.
  Neighbors incoming(Relation relation, NodeId target) const;
  // Only the offsets are checked: for those who count or compare sources, and index nothing by
  // them.
  Neighbors unchecked_incoming(Relation relation, NodeId target) const;
  // Of the entry at this position in the target's list; kNoTime: the relation carries none, or this
  // edge has none. Not checked.
  Time edge_time(Relation relation, NodeId target, EdgePosition position) const;
  // The store positions of the entries of slots `first` up to, not including, `last`.
  ListRange incoming_range(NodeType type, NodeId target, uint32_t first, uint32_t last) const;
  // The whole incoming list of a target: offsets[slot] .. offsets[slot + 1] are the store positions
  // of each relation's part. [relations entering the type + 1], in `buffer`
  std::span<const EdgePosition> incoming_offsets(NodeType type, NodeId target,
                                                 std::vector<EdgePosition>& buffer) const;
  void prefetch_offsets(NodeType type, NodeId target) const;  // to have them cached soon
  // Where these offsets are, and these store positions of a list with the times of its edges: for
  // will_need() (hgt/disk/mapping.h).
  void append_offset_memory(NodeType type, NodeId target, std::vector<MemoryRange>& ranges) const;
  void append_entry_memory(Relation relation, NodeId target, const ListRange& entries,
                           std::vector<MemoryRange>& ranges) const;
  std::span<const NodeId> incoming_sources(NodeType type) const;  // by store position
  // Throws Error unless all lists of the type's nodes, one after another, are what is stored:
  // incoming edges, ids, names and classes.
  void check_lists(NodeType type) const;
  // Throws Error unless all sources, which were read at these positions, are nodes of the
  // relation's source type: a damaged file may hold anything.
  void check_sources(Relation relation, std::span<const NodeId> sources,
                     std::span<const EdgePosition> positions) const;

  // --- nodes. Requires node < num_nodes ---
  // kNoTime: a plain node, or an event node whose table gave no time.
  Time time(NodeType type, NodeId node) const;
  std::span<const Time> times(NodeType type) const;  // empty: a plain type. Not checked
  // Throws Error unless all times, which were read for these nodes, are in the schema's range.
  void check_times(NodeType type, std::span<const NodeId> nodes, std::span<const Time> times) const;
  Features features(NodeType type) const;
  void copy_features(NodeType type, NodeId node, std::span<float> row) const;
  // The features of several nodes, one row after the other. rows: [nodes * width]
  // Read, not mapped: rows at random would bring pages of neighbors into memory. What is not in
  // memory is asked for all together, so ask for many rows at once.
  void copy_features(NodeType type, std::span<const NodeId> nodes, std::span<float> rows) const;
  // Of features with a mean in their spec: how many neighbors count, by node.
  std::span<const uint32_t> mean_counts(NodeType type) const;
  std::string_view name(NodeType type, NodeId node) const;  // "": the type has no names
  std::string id(NodeType type, NodeId node) const;         // the user's own
  std::optional<NodeId> find(NodeType type, std::string_view id) const;

  // --- labels: `label` counts the labels of the type, as in the schema ---
  std::optional<uint32_t> find_label(NodeType type, std::string_view name) const;
  std::span<const uint32_t> label_classes(NodeType type, uint32_t label, NodeId node) const;
  Split split(NodeType type, uint32_t label, NodeId node) const;

 private:
  [[noreturn]] void report_damage(NodeType type, std::string_view file,
                                  std::string_view what) const;
  [[noreturn]] void report_source(Relation relation, EdgePosition position, NodeId source) const;
  [[noreturn]] void report_edge_time(Relation relation, const Neighbors& list) const;
  std::pair<Time, Time> time_range() const;

  struct State;
  struct Shown;  // known labels, and the schema with their columns
  std::shared_ptr<const State> state_;
  std::shared_ptr<const Shown> shown_;
};

}  // namespace hgt
