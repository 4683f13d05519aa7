// What becomes of one row of each kind of table. Each class finds its columns when it is made for a
// file; read() then takes the current row, true when the row was kept. A row with a defect is
// logged and dropped whole.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hgt/graph/graph_builder.h"
#include "hgt/tables/feature_text.h"
#include "hgt/tables/id_cells.h"
#include "hgt/tables/import_report.h"
#include "hgt/tables/manifest.h"
#include "hgt/tables/row_source.h"
#include "hgt/tables/time_cell.h"

namespace hgt {

// A node type that an entry of the manifest names; unknown: an Error with the entry's line.
NodeType declared_type(const Manifest& manifest, const Schema& schema, const std::string& name,
                       uint64_t line);

// What all tables of one import share.
struct ImportContext {
  const Manifest& manifest;
  GraphBuilder& builder;

  // Declares the features of a type at their first row; throws Error when a second table gives the
  // type another width or precision.
  void set_features(NodeType type, const FeatureColumns& spec, NodeId node,
                    std::span<const float> values);
  uint64_t declared_width(NodeType type) const;  // 0: no features yet
  NodeType node_type(const std::string& name, const TableSource& source) const;

  // The id of some node of a type, for messages; empty: there is no node.
  std::string known_id(NodeType type) const;

  std::map<NodeType, FeatureSpec> declared_features = {};
  std::map<NodeType, std::string> first_ids = {};
};

// What becomes of rows that name a node that there is not.
class UnknownIds {
 public:
  // `skip`: they are left out, as the manifest says; else they are a defect.
  UnknownIds(const ImportContext& context, bool skip) : context_(context), skip_(skip) {}
  void add(Defect defect, const Row& row, NodeType type, std::string_view id, RowLog& log) const;

 private:
  const ImportContext& context_;
  bool skip_;
};

class NodeRows {
 public:
  NodeRows(ImportContext& context, const NodeTable& spec, const RowSource& table, RowLog& log);
  bool read(const Row& row);

 private:
  void add_labels(const Row& row, NodeId node);

  ImportContext& context_;
  const NodeTable& spec_;
  RowLog& log_;
  NodeType type_;
  IdCells id_;
  std::optional<size_t> name_;
  TimeCell time_;
  std::vector<std::pair<uint32_t, size_t>> labels_;  // (label of the type, column)
  std::optional<FeatureParser> features_;
};

class FeatureRows {
 public:
  FeatureRows(ImportContext& context, const FeatureTable& spec, const RowSource& table,
              RowLog& log);
  bool read(const Row& row);

 private:
  ImportContext& context_;
  const FeatureTable& spec_;
  RowLog& log_;
  UnknownIds unknown_;
  NodeType type_;
  IdCells id_;
  FeatureParser features_;
};

class LabelRows {
 public:
  LabelRows(ImportContext& context, const LabelTable& spec, const RowSource& table, RowLog& log);
  bool read(const Row& row);

 private:
  ImportContext& context_;
  const LabelTable& spec_;
  RowLog& log_;
  UnknownIds unknown_;
  NodeType type_;
  uint32_t label_;
  IdCells id_;
  size_t column_;
};

class ClassRows {
 public:
  ClassRows(ImportContext& context, const ClassTable& spec, const RowSource& table, RowLog& log);
  bool read(const Row& row);

 private:
  ImportContext& context_;
  NodeType type_;
  uint32_t label_;
  size_t value_;
  size_t name_;
};

// Smallest and largest position within each group, to tell first and last from the others.
struct PositionRange {
  int32_t least = std::numeric_limits<int32_t>::max();
  int32_t most = std::numeric_limits<int32_t>::min();
};

// First of two passes over a table that is split by order; logs nothing.
class OrderRows {
 public:
  OrderRows(const ImportContext& context, const EdgeTable& spec, const RowSource& table,
            std::vector<PositionRange>& groups);
  bool read(const Row& row);

 private:
  const ImportContext& context_;
  NodeType group_type_;
  IdCells group_;
  size_t position_;
  std::vector<PositionRange>& groups_;  // per node of the group's type
};

// Changes nothing that another thread's EdgeRows of the same table read.
class EdgeRows {
 public:
  // `groups`: what OrderRows found; needed for a split by order only.
  EdgeRows(const ImportContext& context, const EdgeTable& spec, const RowSource& table,
           const std::vector<PositionRange>& groups);
  // Appends the edge of the row to `edges`.
  bool read(const Row& row, RowLog& log, std::vector<PlacedEdge>& edges);

 private:
  std::optional<NodeId> find_end(const Row& row, bool target, RowLog& log);
  std::optional<float> weight_of(const Row& row, RowLog& log) const;
  // The relation that the row's edge belongs to; no value: none, and logged.
  std::optional<Relation> relation_of(const Row& row, const Edge& edge, RowLog& log) const;
  std::optional<std::string_view> place_of(const Row& row, const Edge& edge, RowLog& log) const;
  void bind_split(const RowSource& table);

  const ImportContext& context_;
  const EdgeTable& spec_;
  UnknownIds unknown_;
  const std::vector<PositionRange>& groups_;
  NodeType source_type_;
  NodeType target_type_;
  IdCells source_;
  IdCells target_;
  TimeCell time_;
  std::optional<size_t> weight_;
  size_t split_column_ = 0;
  uint32_t split_label_ = 0;
  std::map<std::string, Relation, std::less<>> relations_;  // by value of the split
  std::optional<Relation> other_;  // of all other values; of all edges without a split
};

}  // namespace hgt
