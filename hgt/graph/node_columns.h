// The node arrays of one type while a graph is built: ids, names, times, features, labels.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/id_map.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/string_column.h"

namespace hgt {

// One categorical column. A node usually has one class; further ones are kept apart.
class LabelColumn {
 public:
  void add(NodeId node, std::string_view value);
  void name_class(std::string_view value, std::string_view name);
  void set_split(NodeId node, Split split);
  std::optional<std::string_view> first(NodeId node) const;
  // Numbers the classes in their natural order, fills the spec, writes the arrays.
  void write(const Path& folder, const std::string& prefix, uint64_t nodes, LabelSpec& spec,
             std::vector<ArrayRecord>& records) const;

 private:
  uint32_t class_number(std::string_view value);

  std::map<std::string, uint32_t, std::less<>> numbers_;
  std::vector<std::string> values_;
  std::map<std::string, std::string, std::less<>> class_names_;
  std::vector<uint32_t> first_;  // class + 1 of each node; 0: none
  std::vector<std::pair<NodeId, uint32_t>> further_;
  std::vector<Split> splits_;
};

class NodeColumns {
 public:
  NodeColumns(const Path& folder, const NodeTypeSpec& spec);

  uint64_t size() const { return ids_.size(); }
  std::optional<NodeId> add(const NodeRow& row);
  std::optional<NodeId> find(std::string_view id) const { return ids_.find(id); }
  void declare_features(const FeatureSpec& spec);
  bool set_features(NodeId node, std::span<const float> values);
  uint32_t declare_label(const std::string& name);
  LabelColumn& label(uint32_t label) { return labels_[label]; }
  const LabelColumn& label(uint32_t label) const { return labels_[label]; }
  void drop_pages();

  // Writes what is left, fills the spec, adds the records.
  void close(NodeTypeSpec& spec, std::vector<ArrayRecord>& records);
  std::optional<std::pair<Time, Time>> time_range() const { return range_; }

 private:
  Path folder_;
  std::string type_;
  IdMap ids_;
  std::optional<StringColumnStream> names_;
  std::optional<ArrayStream> times_;
  std::optional<std::pair<Time, Time>> range_;
  std::optional<FeatureSpec> feature_spec_;
  std::optional<GrowingArray> features_;
  std::vector<bool> has_features_;
  std::vector<std::string> label_names_;
  std::vector<LabelColumn> labels_;
};

// Widens the range to hold `time`, unless it is kNoTime.
void include_time(std::optional<std::pair<Time, Time>>& range, Time time);
void include_times(std::optional<std::pair<Time, Time>>& range,
                   const std::optional<std::pair<Time, Time>>& other);

}  // namespace hgt
