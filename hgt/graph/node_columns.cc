#include "hgt/graph/node_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "hgt/error.h"
#include "hgt/graph/stored_features.h"

namespace hgt {

void include_time(std::optional<std::pair<Time, Time>>& range, Time time) {
  if (time == kNoTime) return;
  if (!range) range = {time, time};
  range->first = std::min(range->first, time);
  range->second = std::max(range->second, time);
}

void include_times(std::optional<std::pair<Time, Time>>& range,
                   const std::optional<std::pair<Time, Time>>& other) {
  if (!other) return;
  include_time(range, other->first);
  include_time(range, other->second);
}

// --- LabelColumn ---

uint32_t LabelColumn::class_number(std::string_view value) {
  const auto found = numbers_.find(value);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<uint32_t>(values_.size());
  values_.emplace_back(value);
  numbers_.emplace(value, number);
  return number;
}

void LabelColumn::add(NodeId node, std::string_view value) {
  const uint32_t number = class_number(value);
  if (node >= first_.size()) first_.resize(node + size_t{1}, 0);
  if (first_[node] == 0) {
    first_[node] = number + 1;
  } else if (first_[node] != number + 1) {
    further_.emplace_back(node, number);
  }
}

void LabelColumn::name_class(std::string_view value, std::string_view name) {
  class_names_.insert_or_assign(std::string(value), std::string(name));
}

void LabelColumn::set_split(NodeId node, Split split) {
  if (node >= splits_.size()) splits_.resize(node + size_t{1}, Split::none);
  splits_[node] = split;
}

std::optional<std::string_view> LabelColumn::first(NodeId node) const {
  if (node >= first_.size() || first_[node] == 0) return std::nullopt;
  return values_[first_[node] - 1];
}

namespace {

// Old class number -> new one: by number where all values are numbers, else by bytes.
std::vector<uint32_t> natural_order(std::span<const std::string> values) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const bool numeric = std::all_of(values.begin(), values.end(), [](const std::string& value) {
    return canonical_number(value).has_value();
  });
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return numeric ? *canonical_number(values[a]) < *canonical_number(values[b])
                   : values[a] < values[b];
  });
  return order;
}

}  // namespace

void LabelColumn::write(const Path& folder, const std::string& prefix, uint64_t nodes,
                        LabelSpec& spec, std::vector<ArrayRecord>& records) const {
  const std::vector<uint32_t> order = natural_order(values_);
  std::vector<uint32_t> rank(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  for (const uint32_t old : order) {
    spec.classes.push_back(values_[old]);
    const auto name = class_names_.find(values_[old]);
    if (class_names_.empty()) continue;
    spec.class_names.push_back(name == class_names_.end() ? values_[old] : name->second);
  }
  spec.split = !splits_.empty();

  std::vector<std::pair<NodeId, uint32_t>> entries;  // (node, class), sorted, no repeats
  for (NodeId node = 0; node < first_.size(); ++node) {
    if (first_[node] != 0) entries.emplace_back(node, rank[first_[node] - 1]);
  }
  for (const auto& [node, number] : further_) entries.emplace_back(node, rank[number]);
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());

  ListIndexWriter<ArrayStream> lists(folder, prefix);
  ArrayStream classes(folder, prefix + "_classes.npy", dtype_of<uint32_t>());
  auto entry = entries.begin();
  for (uint64_t node = 0; node < nodes; ++node) {
    const uint64_t before = classes.items();
    for (; entry != entries.end() && entry->first == node; ++entry) classes.append(entry->second);
    lists.append(classes.items() - before);
  }
  lists.close(records);
  records.push_back(classes.close());
  if (!spec.split) return;
  ArrayStream splits(folder, prefix + "_split.npy", dtype_of<uint8_t>());
  for (uint64_t node = 0; node < nodes; ++node) {
    splits.append(static_cast<uint8_t>(node < splits_.size() ? splits_[node] : Split::none));
  }
  records.push_back(splits.close());
}

// --- NodeColumns ---

NodeColumns::NodeColumns(const Path& folder, const NodeTypeSpec& spec)
    : folder_(folder), type_(spec.name), ids_(folder, spec.name + "/id") {
  std::filesystem::create_directory(folder / spec.name);
  if (spec.names) names_.emplace(folder, spec.name + "/name");
  if (spec.kind == NodeKind::event) {
    times_.emplace(folder, spec.name + "/time.npy", dtype_of<Time>());
  }
}

std::optional<NodeId> NodeColumns::add(const NodeRow& row) {
  const auto node = row.id.empty() ? ids_.insert_number() : ids_.insert(row.id);
  if (!node) return std::nullopt;
  if (names_) names_->append(row.name);
  if (times_) {
    times_->append(row.time);
    include_time(range_, row.time);
  }
  return node;
}

void NodeColumns::declare_features(const FeatureSpec& spec) {
  assert(!features_);
  feature_spec_ = spec;
  features_.emplace(folder_, type_ + "/features.npy", stored_dtype(spec.type));
}

bool NodeColumns::set_features(NodeId node, std::span<const float> values) {
  assert(features_ && values.size() == feature_spec_->width);
  if (!features_fit(values, feature_spec_->type)) {
    throw Error(fmt::format("node {} of type {} has features that are not finite as {}", node,
                            type_, to_string(feature_spec_->type)));
  }
  if (node >= has_features_.size()) has_features_.resize(node + size_t{1});
  if (has_features_[node]) return false;
  has_features_[node] = true;
  const uint64_t columns = stored_columns(feature_spec_->type, values.size());
  const uint64_t items = (node + uint64_t{1}) * columns;
  if (features_->items() < items) features_->resize(items);
  const uint64_t row_bytes = stored_row_bytes(feature_spec_->type, values.size());
  store_row(values, feature_spec_->type, &features_->bytes()[node * row_bytes]);
  return true;
}

uint32_t NodeColumns::declare_label(const std::string& name) {
  if (!is_valid_name(name)) {
    throw Error(
        fmt::format("'{}' is not a valid label name: use letters, digits, '_', '-' and '.'", name));
  }
  const auto found = std::find(label_names_.begin(), label_names_.end(), name);
  if (found != label_names_.end()) return static_cast<uint32_t>(found - label_names_.begin());
  label_names_.push_back(name);
  labels_.emplace_back();
  return static_cast<uint32_t>(labels_.size() - 1);
}

void NodeColumns::drop_pages() {
  ids_.drop_pages();
  if (features_) features_->drop_pages();
}

void NodeColumns::close(NodeTypeSpec& spec, std::vector<ArrayRecord>& records) {
  spec.nodes = size();
  if (times_) records.push_back(times_->close());
  spec.first_id = ids_.close(records);
  if (names_) names_->close(records);
  if (features_) {
    spec.features = feature_spec_;
    const auto set = std::count(has_features_.begin(), has_features_.end(), true);
    spec.features->missing = size() - static_cast<uint64_t>(set);
    const uint64_t columns = stored_columns(spec.features->type, spec.features->width);
    features_->resize(size() * columns);
    records.push_back(features_->close({size(), columns}));
  }
  for (size_t i = 0; i < labels_.size(); ++i) {
    LabelSpec& label = spec.labels.emplace_back(LabelSpec{.name = label_names_[i]});
    labels_[i].write(folder_, type_ + "/label_" + label.name, size(), label, records);
  }
}

}  // namespace hgt
