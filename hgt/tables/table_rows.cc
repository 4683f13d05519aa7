#include "hgt/tables/table_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/tables/number_text.h"
#include "hgt/tables/remedies.h"

namespace hgt {

namespace {

std::optional<int32_t> parse_position(std::string_view text) {
  const auto number = parse_whole(text);
  if (!number || *number != static_cast<int32_t>(*number)) return std::nullopt;
  return static_cast<int32_t>(*number);
}

// Calls `use` for each class in a cell; without a separator the cell is one class.
template <typename Use>
void each_class(std::string_view cell, const std::string& separator, const Use& use) {
  if (separator.empty()) {
    if (!cell.empty()) use(cell);
    return;
  }
  while (!cell.empty()) {
    const size_t end = std::min(cell.find(separator), cell.size());
    if (end > 0) use(cell.substr(0, end));
    cell.remove_prefix(std::min(cell.size(), end + separator.size()));
  }
}

Split split_of(const std::string& name) { return find_word<Split>(name).value_or(Split::none); }

}  // namespace

// --- ImportContext ---

NodeType declared_type(const Manifest& manifest, const Schema& schema, const std::string& name,
                       uint64_t line) {
  try {
    return schema.node_type(name);
  } catch (const Error& error) {
    throw Error(fmt::format("{}:{}: {}", manifest.file.string(), line, error.what()));
  }
}

NodeType ImportContext::node_type(const std::string& name, const TableSource& source) const {
  return declared_type(manifest, builder.schema(), name, source.line);
}

std::string ImportContext::known_id(NodeType type) const {
  const auto found = first_ids.find(type);
  if (found != first_ids.end()) return found->second;
  return builder.num_nodes(type) > 0 ? "0" : "";  // nodes given by 'count'
}

uint64_t ImportContext::declared_width(NodeType type) const {
  const auto found = declared_features.find(type);
  return found == declared_features.end() ? 0 : found->second.width;
}

void ImportContext::set_features(NodeType type, const FeatureColumns& spec, NodeId node,
                                 std::span<const float> values) {
  const auto [place, is_new] = declared_features.try_emplace(
      type, FeatureSpec{.width = values.size(), .type = spec.type, .origin = describe(spec)});
  if (is_new) builder.declare_features(type, place->second);
  const FeatureSpec& declared = place->second;
  if (declared.width != values.size() || declared.type != spec.type) {
    throw Error(
        fmt::format("{}: the features of type {} have width {} and precision {} in one table, but "
                    "width {} and precision {} in another",
                    manifest.file.string(), builder.schema().at(type).name, declared.width,
                    to_string(declared.type), values.size(), to_string(spec.type)));
  }
  builder.set_features(type, node, values);
}

// --- UnknownIds ---

void UnknownIds::add(Defect defect, const Row& row, NodeType type, std::string_view id,
                     RowLog& log) const {
  if (skip_ && !id.empty()) return log.ignore();
  const std::string& name = context_.builder.schema().at(type).name;
  log.add(defect, row.position,
          fmt::format("there is no node of type {} with the id {}", name, quoted_cell(id)),
          unknown_remedy(id, name, context_.known_id(type), defect != Defect::unknown_node));
}

// --- NodeRows ---

NodeRows::NodeRows(ImportContext& context, const NodeTable& spec, const RowSource& table,
                   RowLog& log)
    : context_(context),
      spec_(spec),
      log_(log),
      type_(context.node_type(spec.type, spec.source)),
      id_(spec.id, table),
      time_(spec.time, context.manifest.time_unit, table) {
  if (spec.name) name_ = table.column(*spec.name);
  for (const LabelColumnSpec& label : spec.labels) {
    labels_.emplace_back(context.builder.declare_label(type_, label.name),
                         table.column(label.column));
  }
  if (spec.features && spec.features->form != FeatureColumns::Form::npy) {
    features_.emplace(*spec.features, table, context.declared_width(type_));
  }
}

bool NodeRows::read(const Row& row) {
  const std::string_view id = id_.read(row);
  if (id.empty()) {
    log_.add(Defect::empty_id, row.position, id_.complaint(row),
             "give each row an id, or leave such rows out with 'where'");
    return false;
  }
  const auto time = time_.read(row, log_);
  if (!time) return false;
  if (features_ && !features_->parse(row)) {
    log_.add(Defect::bad_features, row.position, features_->defect(), features_->remedy());
    return false;
  }
  const auto node = context_.builder.add_node(
      type_, {.id = id, .name = name_ ? row.cell(*name_) : std::string_view{}, .time = *time});
  if (!node && spec_.ignore_duplicates) {
    log_.ignore();
    return false;
  }
  if (!node) {
    log_.add(Defect::duplicate_id, row.position,
             fmt::format("there is already a node of type {} with the id '{}'", spec_.type, id),
             fmt::format("if column {} alone does not tell the rows apart, write id = [\"{}\", "
                         "...]; duplicates = \"ignore\" keeps the first row of each id",
                         id_.names(), fmt::join(spec_.id, "\", \"")));
    return false;
  }
  context_.first_ids.try_emplace(type_, id);
  if (features_) context_.set_features(type_, *spec_.features, *node, features_->values());
  add_labels(row, *node);
  return true;
}

void NodeRows::add_labels(const Row& row, NodeId node) {
  for (size_t i = 0; i < labels_.size(); ++i) {
    const uint32_t label = labels_[i].first;
    each_class(row.cell(labels_[i].second), spec_.labels[i].separator, [&](std::string_view value) {
      context_.builder.add_label(type_, label, node, value);
    });
  }
}

// --- FeatureRows ---

FeatureRows::FeatureRows(ImportContext& context, const FeatureTable& spec, const RowSource& table,
                         RowLog& log)
    : context_(context),
      spec_(spec),
      log_(log),
      unknown_(context, spec.skip_unknown),
      type_(context.node_type(spec.type, spec.source)),
      id_(spec.id, table),
      features_(spec.features, table, context.declared_width(type_)) {}

bool FeatureRows::read(const Row& row) {
  const std::string_view id = id_.read(row);
  const auto node = context_.builder.find_node(type_, id);
  if (!node) {
    unknown_.add(Defect::unknown_node, row, type_, id, log_);
    return false;
  }
  if (!features_.parse(row)) {
    log_.add(Defect::bad_features, row.position, features_.defect(), features_.remedy());
    return false;
  }
  context_.set_features(type_, spec_.features, *node, features_.values());
  return true;
}

// --- LabelRows, ClassRows ---

LabelRows::LabelRows(ImportContext& context, const LabelTable& spec, const RowSource& table,
                     RowLog& log)
    : context_(context),
      spec_(spec),
      log_(log),
      unknown_(context, spec.skip_unknown),
      type_(context.node_type(spec.type, spec.source)),
      label_(context.builder.declare_label(type_, spec.label.name)),
      id_(spec.id, table),
      column_(table.column(spec.label.column)) {}

bool LabelRows::read(const Row& row) {
  const std::string_view id = id_.read(row);
  const auto node = context_.builder.find_node(type_, id);
  if (!node) {
    unknown_.add(Defect::unknown_node, row, type_, id, log_);
    return false;
  }
  each_class(row.cell(column_), spec_.label.separator, [&](std::string_view value) {
    context_.builder.add_label(type_, label_, *node, value);
  });
  if (!spec_.split.empty()) {
    context_.builder.set_split(type_, label_, *node, split_of(spec_.split));
  }
  return true;
}

ClassRows::ClassRows(ImportContext& context, const ClassTable& spec, const RowSource& table,
                     RowLog& /*log*/)
    : context_(context),
      type_(context.node_type(spec.type, spec.source)),
      label_(context.builder.declare_label(type_, spec.label)),
      value_(table.column(spec.value)),
      name_(table.column(spec.name)) {}

bool ClassRows::read(const Row& row) {
  context_.builder.name_class(type_, label_, row.cell(value_), row.cell(name_));
  return true;
}

// --- OrderRows ---

OrderRows::OrderRows(const ImportContext& context, const EdgeTable& spec, const RowSource& table,
                     std::vector<PositionRange>& groups)
    : context_(context),
      group_type_(context.node_type(spec.split.within_target ? spec.target.type : spec.source.type,
                                    spec.source_table)),
      group_(spec.split.within_target ? spec.target.columns : spec.source.columns, table),
      position_(table.column(spec.split.column)),
      groups_(groups) {
  groups_.resize(context.builder.num_nodes(group_type_));
}

bool OrderRows::read(const Row& row) {
  const auto group = context_.builder.find_node(group_type_, group_.read(row));
  const auto position = parse_position(row.cell(position_));
  if (!group || !position) return false;
  groups_[*group].least = std::min(groups_[*group].least, *position);
  groups_[*group].most = std::max(groups_[*group].most, *position);
  return true;
}

// --- EdgeRows ---

EdgeRows::EdgeRows(const ImportContext& context, const EdgeTable& spec, const RowSource& table,
                   const std::vector<PositionRange>& groups)
    : context_(context),
      spec_(spec),
      unknown_(context, spec.skip_unknown),
      groups_(groups),
      source_type_(context.node_type(spec.source.type, spec.source_table)),
      target_type_(context.node_type(spec.target.type, spec.source_table)),
      source_(spec.source.columns, table),
      target_(spec.target.columns, table),
      time_(spec.time, context.manifest.time_unit, table) {
  if (spec.weight) weight_ = table.column(*spec.weight);
  bind_split(table);
}

void EdgeRows::bind_split(const RowSource& table) {
  const auto relation = [&](const std::string& type) {
    return context_.builder.schema().relation(spec_.source.type, type, spec_.target.type);
  };
  const EdgeSplit& split = spec_.split;
  for (const auto& [value, type] : split.values) relations_.emplace(value, relation(type));
  if (split.other) other_ = relation(*split.other);
  switch (split.by) {
    case EdgeSplit::By::nothing:
      other_ = relation(spec_.type);
      break;
    case EdgeSplit::By::order:
    case EdgeSplit::By::column:
      split_column_ = table.column(split.column);
      break;
    case EdgeSplit::By::source_label:
      split_label_ = context_.builder.declare_label(source_type_, split.column);
      break;
    case EdgeSplit::By::target_label:
      split_label_ = context_.builder.declare_label(target_type_, split.column);
      break;
  }
}

std::optional<NodeId> EdgeRows::find_end(const Row& row, bool target, RowLog& log) {
  const std::string_view id = (target ? target_ : source_).read(row);
  const NodeType type = target ? target_type_ : source_type_;
  const auto node = context_.builder.find_node(type, id);
  if (!node) {
    unknown_.add(target ? Defect::unknown_target : Defect::unknown_source, row, type, id, log);
  }
  return node;
}

std::optional<float> EdgeRows::weight_of(const Row& row, RowLog& log) const {
  if (!weight_) return Edge{}.weight;
  const std::string_view cell = row.cell(*weight_);
  if (cell.empty() && spec_.missing_weight.policy == MissingNumber::Policy::fill) {
    return spec_.missing_weight.number;
  }
  const auto weight = parse_real(cell);
  if (!weight) {
    log.add(Defect::bad_number, row.position,
            fmt::format("{} {} is not a finite number", *spec_.weight, quoted_cell(cell)),
            number_remedy(cell, "missing_weight = 1"));
  }
  return weight;
}

std::optional<std::string_view> EdgeRows::place_of(const Row& row, const Edge& edge,
                                                   RowLog& log) const {
  const auto position = parse_position(row.cell(split_column_));
  if (!position) {
    log.add(Defect::bad_number, row.position,
            fmt::format("{} {} is not a whole number", spec_.split.column,
                        quoted_cell(row.cell(split_column_))),
            "by_order needs a whole number in every row");
    return std::nullopt;
  }
  const PositionRange& range = groups_[spec_.split.within_target ? edge.target : edge.source];
  if (*position == range.least) return "first";
  return *position == range.most ? "last" : "other";
}

std::optional<Relation> EdgeRows::relation_of(const Row& row, const Edge& edge, RowLog& log) const {
  std::optional<std::string_view> value;
  switch (spec_.split.by) {
    case EdgeSplit::By::nothing:
      return other_;
    case EdgeSplit::By::order:
      value = place_of(row, edge, log);
      if (!value) return std::nullopt;
      break;
    case EdgeSplit::By::column:
      value = row.cell(split_column_);
      break;
    case EdgeSplit::By::source_label:
      value = context_.builder.label(source_type_, split_label_, edge.source);
      break;
    case EdgeSplit::By::target_label:
      value = context_.builder.label(target_type_, split_label_, edge.target);
      break;
  }
  const auto found = relations_.find(value.value_or(""));
  if (found != relations_.end()) return found->second;
  if (!other_) {
    log.add(Defect::unlisted_value, row.position,
            fmt::format("no edge type for {} {} (list it in 'values', or give 'other')",
                        spec_.split.column, quoted_cell(value.value_or(""))),
            "give 'other' an edge type for all values that are not listed");
  }
  return other_;
}

bool EdgeRows::read(const Row& row, RowLog& log, std::vector<PlacedEdge>& edges) {
  if (spec_.skip_empty && (source_.read(row).empty() || target_.read(row).empty())) {
    log.ignore();
    return false;
  }
  const auto source = find_end(row, false, log);
  if (!source) return false;
  const auto target = find_end(row, true, log);
  if (!target) return false;
  const auto time = time_.read(row, log);
  if (!time) return false;
  const auto weight = weight_of(row, log);
  if (!weight) return false;
  const Edge edge{.source = *source, .target = *target, .time = *time, .weight = *weight};
  const auto relation = relation_of(row, edge, log);
  if (!relation) return false;
  edges.push_back({*relation, edge});
  return true;
}

}  // namespace hgt
