#include "hgt/tables/table_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/tables/number_text.h"

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

// For messages about a cell without text.
std::string_view emptiness(std::string_view cell) { return is_null(cell) ? "null" : "empty"; }

void log_unknown(DefectLog& log, Defect defect, const Row& row, const std::string& type,
                 std::string_view id) {
  log.add(defect, row.position,
          fmt::format("there is no node of type {} with the id {}", type, quoted_cell(id)));
}

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

// --- TimeCell ---

TimeCell::TimeCell(const std::optional<TimeColumn>& spec, TimeUnit unit, const RowSource& table)
    : spec_(spec ? &*spec : nullptr), unit_(unit) {
  if (spec_ != nullptr) column_ = table.column(spec_->column);
}

std::optional<Time> TimeCell::read(const Row& row, DefectLog& log) const {
  if (spec_ == nullptr) return kNoTime;
  const std::string_view text = row.cell(column_);
  if (text.empty() && spec_->keep_missing) return kNoTime;
  if (text.empty()) {
    log.add(Defect::missing_time, row.position,
            fmt::format("column {} is {} (missing_time = \"keep\" would keep the row)",
                        spec_->column, emptiness(text)));
    return std::nullopt;
  }
  const auto time = parse_time(text, spec_->format, unit_);
  if (!time) {
    const bool too_fine = unit_ == TimeUnit::second && spec_->format != TimeFormat::number &&
                          parse_time(text, spec_->format, TimeUnit::minute).has_value();
    log.add(Defect::bad_time, row.position,
            fmt::format(
                "{} '{}' is not a time in the unit {}{}", spec_->column, text, to_string(unit_),
                too_fine ? ", which covers 1901 to 2038; choose minute or a coarser unit" : ""));
  }
  return time;
}

// --- NodeRows ---

NodeRows::NodeRows(ImportContext& context, const NodeTable& spec, const RowSource& table,
                   TableReport& report, DefectLog& log)
    : context_(context),
      spec_(spec),
      report_(report),
      log_(log),
      type_(context.node_type(spec.type, spec.source)),
      id_(table.column(spec.id)),
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
  const std::string_view id = row.cell(id_);
  if (id.empty()) {
    log_.add(Defect::empty_id, row.position,
             fmt::format("column {} is {}", spec_.id, emptiness(id)));
    return false;
  }
  const auto time = time_.read(row, log_);
  if (!time) return false;
  if (features_ && !features_->parse(row)) {
    log_.add(Defect::bad_features, row.position, features_->defect());
    return false;
  }
  const auto node = context_.builder.add_node(
      type_, {.id = id, .name = name_ ? row.cell(*name_) : std::string_view{}, .time = *time});
  if (!node && spec_.ignore_duplicates) {
    ++report_.ignored;
    return false;
  }
  if (!node) {
    log_.add(Defect::duplicate_id, row.position,
             fmt::format("there is already a node of type {} with the id '{}'", spec_.type, id));
    return false;
  }
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
                         TableReport& /*report*/, DefectLog& log)
    : context_(context),
      spec_(spec),
      log_(log),
      type_(context.node_type(spec.type, spec.source)),
      id_(table.column(spec.id)),
      features_(spec.features, table, context.declared_width(type_)) {}

bool FeatureRows::read(const Row& row) {
  const auto node = context_.builder.find_node(type_, row.cell(id_));
  if (!node) {
    log_unknown(log_, Defect::unknown_node, row, spec_.type, row.cell(id_));
    return false;
  }
  if (!features_.parse(row)) {
    log_.add(Defect::bad_features, row.position, features_.defect());
    return false;
  }
  context_.set_features(type_, spec_.features, *node, features_.values());
  return true;
}

// --- LabelRows, ClassRows ---

LabelRows::LabelRows(ImportContext& context, const LabelTable& spec, const RowSource& table,
                     TableReport& /*report*/, DefectLog& log)
    : context_(context),
      spec_(spec),
      log_(log),
      type_(context.node_type(spec.type, spec.source)),
      label_(context.builder.declare_label(type_, spec.label.name)),
      id_(table.column(spec.id)),
      column_(table.column(spec.label.column)) {}

bool LabelRows::read(const Row& row) {
  const auto node = context_.builder.find_node(type_, row.cell(id_));
  if (!node) {
    log_unknown(log_, Defect::unknown_node, row, spec_.type, row.cell(id_));
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
                     TableReport& /*report*/, DefectLog& /*log*/)
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
      group_(table.column(spec.split.within_target ? spec.target.column : spec.source.column)),
      position_(table.column(spec.split.column)),
      groups_(groups) {
  groups_.resize(context.builder.num_nodes(group_type_));
}

bool OrderRows::read(const Row& row) {
  const auto group = context_.builder.find_node(group_type_, row.cell(group_));
  const auto position = parse_position(row.cell(position_));
  if (!group || !position) return false;
  groups_[*group].least = std::min(groups_[*group].least, *position);
  groups_[*group].most = std::max(groups_[*group].most, *position);
  return true;
}

// --- EdgeRows ---

EdgeRows::EdgeRows(ImportContext& context, const EdgeTable& spec, const RowSource& table,
                   TableReport& report, DefectLog& log, const std::vector<PositionRange>& groups)
    : context_(context),
      spec_(spec),
      report_(report),
      log_(log),
      groups_(groups),
      source_type_(context.node_type(spec.source.type, spec.source_table)),
      target_type_(context.node_type(spec.target.type, spec.source_table)),
      source_(table.column(spec.source.column)),
      target_(table.column(spec.target.column)),
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

std::optional<NodeId> EdgeRows::find_end(const Row& row, bool target) const {
  const std::string_view id = row.cell(target ? target_ : source_);
  const auto node = context_.builder.find_node(target ? target_type_ : source_type_, id);
  if (!node) {
    log_unknown(log_, target ? Defect::unknown_target : Defect::unknown_source, row,
                target ? spec_.target.type : spec_.source.type, id);
  }
  return node;
}

std::optional<std::string_view> EdgeRows::place_of(const Row& row, const Edge& edge) const {
  const auto position = parse_position(row.cell(split_column_));
  if (!position) {
    log_.add(Defect::bad_number, row.position,
             fmt::format("{} {} is not a whole number", spec_.split.column,
                         quoted_cell(row.cell(split_column_))));
    return std::nullopt;
  }
  const PositionRange& range = groups_[spec_.split.within_target ? edge.target : edge.source];
  if (*position == range.least) return "first";
  return *position == range.most ? "last" : "other";
}

std::optional<Relation> EdgeRows::relation_of(const Row& row, const Edge& edge) const {
  std::optional<std::string_view> value;
  switch (spec_.split.by) {
    case EdgeSplit::By::nothing:
      return other_;
    case EdgeSplit::By::order:
      value = place_of(row, edge);
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
    log_.add(Defect::unlisted_value, row.position,
             fmt::format("no edge type for {} {} (list it in 'values', or give 'other')",
                         spec_.split.column, quoted_cell(value.value_or(""))));
  }
  return other_;
}

bool EdgeRows::read(const Row& row) {
  if (spec_.skip_empty && (row.cell(source_).empty() || row.cell(target_).empty())) {
    ++report_.ignored;
    return false;
  }
  const auto source = find_end(row, false);
  if (!source) return false;
  const auto target = find_end(row, true);
  if (!target) return false;
  const auto time = time_.read(row, log_);
  if (!time) return false;
  Edge edge{.source = *source, .target = *target, .time = *time};
  if (weight_) {
    const auto weight = parse_real(row.cell(*weight_));
    if (!weight) {
      log_.add(Defect::bad_number, row.position,
               fmt::format("{} {} is not a finite number", *spec_.weight,
                           quoted_cell(row.cell(*weight_))));
      return false;
    }
    edge.weight = *weight;
  }
  const auto relation = relation_of(row, edge);
  if (!relation) return false;
  context_.builder.add_edge(*relation, edge);
  return true;
}

}  // namespace hgt
