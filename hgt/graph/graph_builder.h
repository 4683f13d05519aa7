// Builds a graph folder from a stream of nodes and edges, in bounded memory.
//
//   Schema schema;                                   // declare types and relations
//   schema.add_node_type("paper", NodeKind::event);
//   schema.add_node_type("author", NodeKind::plain);
//   schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
//   schema.number_relations();
//   GraphBuilder builder("cs.graph", schema);
//   builder.add_node(paper, {.id = "P19-1001", .name = "A title", .time = 2019});
//   builder.add_edge(writes, {.source = 0, .target = 0});
//   builder.finish();                                // sorts, writes, renames into place
//
// Everything is written to "<folder>.partial" and renamed at the end. If finish() is not reached
// (an exception, Ctrl-C), the destructor removes what was written; after kill -9 the next builder
// of the same folder does. Edges are sorted through runs on disk when they exceed the memory bound.
// The bytes of the result depend only on the nodes, in their order, and on the edges, in any order.
// To be used by one thread, unless said otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"
#include "hgt/progress.h"

namespace hgt {

struct BuildOptions {
  uint64_t memory = uint64_t{4} << 30U;  // bytes; at least kMinBuildMemory
  bool replace = false;  // a graph of that name is replaced at the end; nothing else ever is
  unsigned threads = 0;  // that work for the caller; 0: one per core
  ProgressSink progress = no_progress;
};

constexpr uint64_t kMinBuildMemory = uint64_t{64} << 20U;

struct NodeRow {
  std::string_view id = {};  // empty: the node's own number, 0, 1, 2, ...
  std::string_view name = {};
  Time time = kNoTime;
};

struct Edge {
  NodeId source = 0;
  NodeId target = 0;
  Time time = kNoTime;
  float weight = 1.0F;
};

struct PlacedEdge {
  Relation relation{};
  Edge edge;
};

enum class Split : uint8_t { none = 0, train = 1, validation = 2, test = 3 };
constexpr auto words_of(Split) {
  return enum_words<Split>(
      "split", {{Split::train, "train"}, {Split::validation, "validation"}, {Split::test, "test"}},
      "none");
}

class GraphBuilder {
 public:
  // Takes only the declarations of `schema`, no counts. Throws Error when the folder exists (unless
  // options.replace, and it holds nothing but a graph) or another process is writing it.
  GraphBuilder(const Path& folder, const Schema& schema, BuildOptions options = {});
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;
  ~GraphBuilder();

  const Schema& schema() const;
  const Path& folder() const;  // where the graph is being written; what else is put there stays
  uint64_t num_nodes(NodeType type) const;

  // --- nodes: numbered 0, 1, 2, ... per type in the order of the calls ---
  // No value: a node of this type already has that id; nothing is added.
  std::optional<NodeId> add_node(NodeType type, const NodeRow& row);
  // On any thread, while no node is added.
  std::optional<NodeId> find_node(NodeType type, std::string_view id) const;

  // --- features: declare the width once, then set rows in any order; unset rows are zero ---
  void declare_features(NodeType type, const FeatureSpec& spec);
  // False: the node already has features and keeps them. Requires values.size() == width; throws
  // Error unless features_fit().
  bool set_features(NodeType type, NodeId node, std::span<const float> values);

  // --- labels: `label` counts the labels declared for the type ---
  uint32_t declare_label(NodeType type, const std::string& name);
  void add_label(NodeType type, uint32_t label, NodeId node, std::string_view value);
  void name_class(NodeType type, uint32_t label, std::string_view value, std::string_view name);
  void set_split(NodeType type, uint32_t label, NodeId node, Split split);
  // The first class of a node as the table spelled it; no value: it has none. On any thread, while
  // no label is declared or added.
  std::optional<std::string_view> label(NodeType type, uint32_t label, NodeId node) const;

  // --- edges: `relation` is a declared one; the reverse is added automatically ---
  // Both ends must exist, the weight must be finite. A time or weight that the relation does not
  // carry is ignored. Repeated edges are kept unless the relation is declared unique.
  void add_edge(Relation relation, const Edge& edge);

  void add_edges(std::span<const PlacedEdge> edges);

  // Edges added so far. Counted once, not per direction.
  uint64_t num_edges() const;

  // Sorts the edges, writes all arrays and schema.json, and renames the folder into place.
  // Returns the schema as written. Call once.
  Schema finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
