// The schema of a graph: node types, edge types, meta relations, the unit of time, and the list of
// the array files that hold the data. Strings are kept here; everything else uses numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hgt/enum_words.h"
#include "hgt/graph/types.h"

namespace hgt {

enum class NodeKind { plain, event };  // an event node carries a time of its own
constexpr auto words_of(NodeKind) {
  return enum_words<NodeKind>("kind of node",
                              {{NodeKind::plain, "plain"}, {NodeKind::event, "event"}});
}

enum class TimeUnit { year, month, day, hour, minute, second };
constexpr auto words_of(TimeUnit) {
  return enum_words<TimeUnit>("time unit", {{TimeUnit::year, "year"},
                                            {TimeUnit::month, "month"},
                                            {TimeUnit::day, "day"},
                                            {TimeUnit::hour, "hour"},
                                            {TimeUnit::minute, "minute"},
                                            {TimeUnit::second, "second"}});
}

enum class FeatureType { float32, float16, int8 };  // stored_features.h
constexpr auto words_of(FeatureType) {
  return enum_words<FeatureType>("precision", {{FeatureType::float32, "float32"},
                                               {FeatureType::float16, "float16"},
                                               {FeatureType::int8, "int8"}});
}

// Of features that are the means of those of neighbors, what it takes to leave single neighbors out
// of them again (mean_features.h).
struct MeanSpec {
  std::string source = {};              // type of the neighbors
  std::vector<std::string> edges = {};  // of the relations from it, as the schema calls these
  std::optional<Time> until = {};       // later neighbors and edges do not count
  std::string counts = {};              // file of the numbers of neighbors that count, by node
};

// Input vectors of one node type: one row per node.
struct FeatureSpec {
  uint64_t width = 0;
  FeatureType type = FeatureType::float32;
  std::string origin = {};  // where the numbers came from, in words
  uint64_t missing = 0;     // nodes that had none; their rows are zero
  bool flagged = false;     // the last column is 1 for nodes that had none and 0 for the others
  std::optional<Time> until = {};       // nothing later went into what they were made with
  std::string key = {};                 // tells what was made in one way from what was not; see
                                        // feature_writer.h
  std::string file = "features.npy";    // in the folder of the type
  std::vector<std::string> edges = {};  // types of the edges that they came by, as declared
  std::string mean_of = {};             // file of the features that they are the mean of
  std::optional<MeanSpec> mean = {};    // then they are float32 and flagged
};

// A named choice of input vectors for all node types (feature_sets.h). Once finished it never
// changes; sets may have files in common.
struct FeatureSet {
  std::string name = {};
  std::string key = {};                           // what tells it from one made in another way
  std::map<std::string, FeatureSpec> types = {};  // by node type; the others have none
  // Of an unfinished set: the step of its recipe, counted from 1, that made the features of a type.
  std::map<std::string, uint64_t> steps = {};
};

// A categorical column of one node type; a node may have none, one or several classes.
struct LabelSpec {
  std::string name = {};
  std::vector<std::string> classes = {};      // the value as the table spelled it
  std::vector<std::string> class_names = {};  // to be shown; empty, or one for each class
  bool split = false;  // tables said which nodes are for training and testing
};

struct NodeTypeSpec {
  std::string name = {};
  NodeKind kind = NodeKind::plain;
  uint64_t nodes = 0;
  // Ids that simply count up from a first number are not stored as text.
  std::optional<int64_t> first_id = {};
  bool names = false;                        // nodes have a name or title
  std::optional<FeatureSpec> features = {};  // imported, or those of a chosen set
  std::vector<LabelSpec> labels = {};
};

struct EdgeTypeSpec {
  std::string name;
  std::string reverse;  // equal to name: symmetric
};

// Of the numbers of incoming edges of one relation, over all nodes of its target type.
struct DegreeSummary {
  double mean = 0;
  double median = 0;
  uint64_t maximum = 0;
  uint64_t without = 0;  // targets that have no such edge
};

struct RelationSpec {  // the meta relation <tau(s), phi(e), tau(t)>
  NodeType source{};
  std::string edge = {};
  NodeType target{};
  uint32_t slot = 0;     // place among the relations that enter `target`
  bool reverse = false;  // made by the system as the other direction of a declared relation
  bool times = false;    // edges carry a time of their own
  bool weights = false;  // edges carry a weight
  bool unique = false;   // of edges that agree in both ends and time, one is kept
  uint64_t edges = 0;
  uint64_t repeated = 0;  // edges that agreed with another one so; kept unless `unique`
  DegreeSummary degrees = {};
};

// One .npy file of the graph folder.
struct ArrayRecord {
  std::string file;   // relative to the folder
  std::string dtype;  // as in the .npy header: "<u4"
  std::vector<uint64_t> shape;
  uint64_t checksum = 0;  // XXH3-64 of the data, header excluded
};

// How a relation is declared: the reverse is added automatically.
struct RelationDeclaration {
  std::string source, edge, target;
  std::string reverse = {};  // default: "rev_" + edge
  bool symmetric = false;    // stored in both directions under one name
  bool times = false;
  bool weights = false;
  bool unique = false;
};

// Of the folder's arrays: 2, or 1 as written before there were blocks of lists (list_index.h).
constexpr int kFormatVersion = 2;

class Schema {
 public:
  // --- building: declare all, then number_relations() once ---
  NodeType add_node_type(std::string name, NodeKind kind);
  void add_relation(const RelationDeclaration& declaration);
  // Sorts the relations by target type, then edge name, then source type, and numbers them: the
  // numbers do not depend on the order of declaration. Afterwards Relation values are stable.
  void number_relations();

  // --- reading ---
  std::span<const NodeTypeSpec> node_types() const { return node_types_; }
  std::span<const EdgeTypeSpec> edge_types() const { return edge_types_; }
  std::span<const RelationSpec> relations() const { return relations_; }
  const NodeTypeSpec& at(NodeType type) const { return node_types_[index(type)]; }
  NodeTypeSpec& at(NodeType type) { return node_types_[index(type)]; }
  const RelationSpec& at(Relation relation) const { return relations_[index(relation)]; }
  RelationSpec& at(Relation relation) { return relations_[index(relation)]; }

  NodeType node_type(std::string_view name) const;  // unknown: an Error that lists the known ones
  Relation relation(std::string_view source, std::string_view edge, std::string_view target) const;
  std::optional<Relation> find_relation(NodeType source, std::string_view edge,
                                        NodeType target) const;
  // The relation that holds the same edges in the other direction; itself when symmetric.
  Relation reverse(Relation relation) const;
  // The relations that enter a type, in slot order.
  std::span<const Relation> incoming(NodeType target) const { return incoming_[index(target)]; }
  // The declarations alone, in the present format: no nodes, edges, features, labels, times or
  // arrays.
  Schema without_contents() const;
  std::string describe(Relation relation) const;  // "author -writes-> paper"
  // Times of edges are stored in 2 bytes: the time range allows it.
  bool short_edge_times() const;

  int format_version = kFormatVersion;
  TimeUnit time_unit = TimeUnit::year;
  std::optional<std::pair<Time, Time>> time_range;  // of all node and edge times
  std::map<std::string, std::string> origin;        // how the graph was made
  std::vector<FeatureSet> feature_sets;             // besides the imported one; oldest first
  std::vector<ArrayRecord> arrays;

  // The text of schema.json, and back. `file` is named in the errors of from_json.
  std::string to_json() const;
  static Schema from_json(const std::string& text, const Path& file);

 private:
  friend struct SchemaReader;
  void add_edge_type(const std::string& name, const std::string& reverse);

  std::vector<NodeTypeSpec> node_types_;
  std::vector<EdgeTypeSpec> edge_types_;
  std::vector<RelationSpec> relations_;
  std::vector<std::vector<Relation>> incoming_;
};

// Names become file names and command-line words: letters, digits, '_', '-', '.'; no leading dot.
bool is_valid_name(std::string_view name);

}  // namespace hgt
