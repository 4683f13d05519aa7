#include "hgt/graph/hetero_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <deque>
#include <vector>

#include "hgt/disk/range_reader.h"
#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_rows.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/id_map.h"
#include "hgt/graph/incoming_arrays.h"
#include "hgt/graph/stored_features.h"

namespace hgt {

namespace {

struct LabelArrays {
  ListArrays nodes;
  MappedArray classes, split;
};

// The arrays of one node type; those the type does not have stay unmapped.
struct TypeArrays {
  IncomingArrays incoming;
  MappedArray time, features, mean_counts;
  FeatureRows feature_rows;  // the same file
  ListArrays id_strings, name_strings;
  MappedArray id_bytes, id_index, name_bytes;
  std::deque<LabelArrays> labels;

  StringColumn names() const {
    return {.strings = name_strings.lists, .bytes = name_bytes.as<char>()};
  }
  IdIndex ids() const {
    return {.slots = id_index.as<uint32_t>(),
            .ids = {.strings = id_strings.lists, .bytes = id_bytes.as<char>()},
            .file = id_index.path().native()};
  }
};

// The schema of the folder with one of its feature sets; sets `name` where it is empty.
Schema choose_features(const Path& folder, std::string& name) {
  Schema stored = read_schema(folder);
  if (name.empty()) name = newest_feature_set(stored);
  try {
    return with_features(std::move(stored), name);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", folder.string(), error.what()));
  }
}

// Maps the arrays that the schema's types call for.
class Opener {
 public:
  Opener(const Path& folder, const std::string& feature_set, const Schema& schema)
      : folder_(folder), feature_set_(feature_set), schema_(schema), listed_(folder, schema) {}

  void open(NodeType type, TypeArrays& arrays) {
    const NodeTypeSpec& spec = schema_.at(type);
    const std::string prefix = spec.name + "/";
    arrays.incoming.open(listed_, schema_, type);
    if (spec.kind == NodeKind::event)
      listed_.map(arrays.time, prefix + "time.npy", "<i4", {spec.nodes});
    if (!spec.first_id) open_ids(spec, prefix, arrays);
    if (spec.names) {
      listed_.map(arrays.name_bytes, prefix + "name_bytes.npy", "|u1");
      listed_.map_lists(arrays.name_strings, prefix + "name", spec.nodes,
                        arrays.name_bytes.as<char>().size());
    }
    if (spec.features) open_features(spec, prefix, arrays);
    for (const LabelSpec& label : spec.labels) {
      LabelArrays& into = arrays.labels.emplace_back();
      const std::string name = prefix + "label_" + label.name;
      listed_.map(into.classes, name + "_classes.npy", "<u4");
      listed_.map_lists(into.nodes, name, spec.nodes, into.classes.as<uint32_t>().size());
      if (label.split) listed_.map(into.split, name + "_split.npy", "|u1", {spec.nodes});
    }
  }

 private:
  void open_ids(const NodeTypeSpec& spec, const std::string& prefix, TypeArrays& arrays) {
    listed_.map(arrays.id_bytes, prefix + "id_bytes.npy", "|u1");
    listed_.map_lists(arrays.id_strings, prefix + "id", spec.nodes,
                      arrays.id_bytes.as<char>().size());
    listed_.map(arrays.id_index, prefix + "id_index.npy", "<u4");
    const uint64_t slots = arrays.id_index.as<uint32_t>().size();
    if ((slots & (slots - 1)) != 0 || slots < 2 * spec.nodes) {
      throw Error(fmt::format("{}: has {} slots for {} nodes; the file is damaged",
                              (folder_ / (prefix + "id_index.npy")).string(), slots, spec.nodes));
    }
  }

  // Other sets may be whole.
  void open_features(const NodeTypeSpec& spec, const std::string& prefix, TypeArrays& arrays) {
    const FeatureType precision = spec.features->type;
    const uint64_t width = spec.features->width;
    const std::string file = prefix + spec.features->file;
    try {
      listed_.map(arrays.features, file, stored_dtype(precision),
                  {spec.nodes, stored_columns(precision, width)});
      arrays.feature_rows = FeatureRows(folder_ / file, precision, width);
      if (spec.features->mean) open_mean(spec, prefix, arrays);
    } catch (const Error& error) {
      if (feature_set_ == kImportedSet) throw;
      throw Error(
          fmt::format("{} (it belongs to the feature set '{}'; choose another one with --features, "
                      "or make this one again with 'hgt features --replace --again')",
                      error.what(), feature_set_));
    }
  }

  void open_mean(const NodeTypeSpec& spec, const std::string& prefix, TypeArrays& arrays) {
    const MeanSpec& mean = *spec.features->mean;
    for (const std::string& edge : mean.edges) {  // throws: there is no such relation
      static_cast<void>(schema_.relation(mean.source, edge, spec.name));
    }
    listed_.map(arrays.mean_counts, prefix + mean.counts, "<u4", {spec.nodes});
  }

  const Path& folder_;
  const std::string& feature_set_;
  const Schema& schema_;
  ListedArrays listed_;
};

}  // namespace

struct HeteroGraph::State {
  const TypeArrays& at(NodeType type) const { return types[index(type)]; }

  Path folder;
  std::string feature_set;
  Schema schema;
  std::deque<TypeArrays> types;  // views refer to what is in them
  mutable RangeReader reader;    // serves all threads
};

struct HeteroGraph::Shown {
  KnownLabels labels;
  Schema schema;
};

HeteroGraph HeteroGraph::with_known_labels(KnownLabels labels) const {
  assert(labels.offsets.size() == num_nodes(labels.type) + 1);
  Schema schema = state_->schema;
  NodeTypeSpec& type = schema.at(labels.type);
  if (!type.features) type.features = FeatureSpec{.origin = "known labels"};
  type.features->width += labels.classes;
  type.features->flagged = false;  // the flag is not the last column any more
  HeteroGraph graph = *this;
  graph.shown_ =
      std::make_shared<Shown>(Shown{.labels = std::move(labels), .schema = std::move(schema)});
  return graph;
}

HeteroGraph HeteroGraph::without_known_labels() const {
  HeteroGraph graph = *this;
  graph.shown_.reset();
  return graph;
}

const KnownLabels* HeteroGraph::known_labels() const { return shown_ ? &shown_->labels : nullptr; }

HeteroGraph HeteroGraph::open(const Path& folder, const std::string& feature_set) {
  auto state = std::make_shared<State>();
  state->folder = folder;
  state->feature_set = feature_set;
  state->schema = choose_features(folder, state->feature_set);
  Opener opener(state->folder, state->feature_set, state->schema);
  for (size_t type = 0; type < state->schema.node_types().size(); ++type) {
    opener.open(NodeType(type), state->types.emplace_back());
  }
  HeteroGraph graph;
  graph.state_ = std::move(state);
  return graph;
}

void HeteroGraph::expect(Access access) const {
  for (const TypeArrays& type : state_->types) {
    type.incoming.expect(access);
    type.time.expect(access);
    for (const LabelArrays& label : type.labels) {
      label.nodes.expect(access);
      label.classes.expect(access);
      label.split.expect(access);
    }
  }
}

uint64_t HeteroGraph::bytes_on_disk() const {
  uint64_t bytes = 0;
  for (const ArrayRecord& array : state_->schema.arrays) {
    bytes += num_items(array.shape) * item_size(array.dtype);
  }
  return bytes;
}

const Path& HeteroGraph::folder() const { return state_->folder; }
const std::string& HeteroGraph::feature_set() const { return state_->feature_set; }
const Schema& HeteroGraph::schema() const { return shown_ ? shown_->schema : state_->schema; }

uint64_t HeteroGraph::num_entries(NodeType target) const {
  return state_->at(target).incoming.sources().size();
}

ListRange HeteroGraph::incoming_range(NodeType type, NodeId target, uint32_t first,
                                      uint32_t last) const {
  assert(target < num_nodes(type));
  const uint64_t list = target * schema().incoming(type).size();
  return state_->at(type).incoming.lists().range(list + first, list + last);
}

std::span<const EdgePosition> HeteroGraph::incoming_offsets(
    NodeType type, NodeId target, std::vector<EdgePosition>& buffer) const {
  assert(target < num_nodes(type));
  const size_t slots = schema().incoming(type).size();
  buffer.resize(slots + 1);
  state_->at(type).incoming.lists().find(target * slots, buffer);
  return buffer;
}

void HeteroGraph::prefetch_offsets(NodeType type, NodeId target) const {
  const size_t slots = schema().incoming(type).size();
  state_->at(type).incoming.lists().prefetch(target * slots, (target + size_t{1}) * slots);
}

void HeteroGraph::check_lists(NodeType type) const {
  const TypeArrays& arrays = state_->at(type);
  arrays.incoming.check();
  if (!schema().at(type).first_id) arrays.id_strings.lists.check();
  if (schema().at(type).names) arrays.name_strings.lists.check();
  for (const LabelArrays& label : arrays.labels) label.nodes.lists.check();
}

void HeteroGraph::append_offset_memory(NodeType type, NodeId target,
                                       std::vector<MemoryRange>& ranges) const {
  const size_t slots = schema().incoming(type).size();
  state_->at(type).incoming.lists().append_memory(target * slots, (target + size_t{1}) * slots,
                                                  ranges);
}

void HeteroGraph::append_entry_memory(Relation relation, NodeId target, const ListRange& entries,
                                      std::vector<MemoryRange>& ranges) const {
  const RelationSpec& spec = schema().at(relation);
  const uint64_t count = entries.size();
  ranges.push_back(std::as_bytes(incoming_sources(spec.target).subspan(entries.begin, count)));
  if (!spec.times) return;
  const Neighbors list = unchecked_incoming(relation, target);
  ranges.push_back(list.times.memory(entries.begin - list.first, count));
}

void HeteroGraph::report_damage(NodeType type, std::string_view file, std::string_view what) const {
  throw Error(fmt::format("{}: {}; the file is damaged, restore it or make the graph again",
                          (folder() / schema().at(type).name / file).string(), what));
}

void HeteroGraph::report_source(Relation relation, EdgePosition position, NodeId source) const {
  const RelationSpec& spec = schema().at(relation);
  report_damage(
      spec.target, "incoming_sources.npy",
      fmt::format("entry {} ({}) names node {} of type {}, which has {} nodes", position, spec.edge,
                  source, schema().at(spec.source).name, num_nodes(spec.source)));
}

namespace {

// Of a list at once: most are in range, and a loop without exits is vectorized.
bool all_below(std::span<const NodeId> nodes, uint64_t limit) {
  NodeId largest = 0;
  for (const NodeId node : nodes) largest = std::max(largest, node);
  return nodes.empty() || largest < limit;
}

size_t first_not_below(std::span<const NodeId> nodes, uint64_t limit) {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [limit](NodeId node) { return node >= limit; });
  return static_cast<size_t>(found - nodes.begin());
}

}  // namespace

void HeteroGraph::check_sources(Relation relation, std::span<const NodeId> sources,
                                std::span<const EdgePosition> positions) const {
  const uint64_t limit = num_nodes(schema().at(relation).source);
  if (all_below(sources, limit)) return;
  const size_t bad = first_not_below(sources, limit);
  report_source(relation, positions[bad], sources[bad]);
}

namespace {

// Of all times at once: a loop without exits is vectorized. kNoTime is below every other time.
template <typename Times>
bool all_in_range(const std::pair<Time, Time>& range, const Times& times) {
  bool good = true;
  for (size_t i = 0; i < times.size(); ++i) {
    const Time time = times[i];
    good &= time <= range.second && (time >= range.first || time == kNoTime);
  }
  return good;
}

}  // namespace

std::pair<Time, Time> HeteroGraph::time_range() const {
  return schema().time_range.value_or(std::pair(kNoTime, kNoTime));
}

void HeteroGraph::check_times(NodeType type, std::span<const NodeId> nodes,
                              std::span<const Time> times) const {
  const auto range = time_range();
  if (all_in_range(range, times)) return;
  size_t bad = 0;
  while (all_in_range(range, times.subspan(bad, 1))) ++bad;
  report_damage(type, "time.npy",
                fmt::format("the time {} of node {} is outside the range in schema.json",
                            times[bad], nodes[bad]));
}

void HeteroGraph::report_edge_time(Relation relation, const Neighbors& list) const {
  const auto [first, last] = time_range();
  size_t bad = 0;
  while (list.times[bad] == kNoTime || (list.times[bad] >= first && list.times[bad] <= last)) ++bad;
  report_damage(schema().at(relation).target, "incoming_times.npy",
                fmt::format("the time {} of entry {} is outside the range in schema.json",
                            list.times[bad], list.first + bad));
}

Neighbors HeteroGraph::incoming(Relation relation, NodeId target) const {
  const Neighbors list = unchecked_incoming(relation, target);
  const RelationSpec& spec = schema().at(relation);
  if (!all_below(list.sources, num_nodes(spec.source))) {
    const size_t bad = first_not_below(list.sources, num_nodes(spec.source));
    report_source(relation, list.first + bad, list.sources[bad]);
  }
  if (!all_in_range(time_range(), list.times)) report_edge_time(relation, list);
  return list;
}

Neighbors HeteroGraph::unchecked_incoming(Relation relation, NodeId target) const {
  const RelationSpec& spec = schema().at(relation);
  assert(target < num_nodes(spec.target));
  return state_->at(spec.target).incoming.neighbors(spec, target);
}

Time HeteroGraph::edge_time(Relation relation, NodeId target, EdgePosition position) const {
  const Neighbors list = unchecked_incoming(relation, target);
  assert(position >= list.first && position - list.first < list.size());
  return list.times.empty() ? kNoTime : list.times[position - list.first];
}

std::span<const NodeId> HeteroGraph::incoming_sources(NodeType type) const {
  return state_->at(type).incoming.sources();
}

std::span<const Time> HeteroGraph::times(NodeType type) const {
  return state_->at(type).time.as<Time>();
}

Time HeteroGraph::time(NodeType type, NodeId node) const {
  const auto all = times(type);
  if (all.empty()) return kNoTime;
  check_times(type, {&node, 1}, {&all[node], 1});
  return all[node];
}

Features HeteroGraph::features(NodeType type) const {
  const auto& spec = schema().at(type).features;
  if (!spec) return {};
  Features features{.width = spec->width};
  if (shown_ && shown_->labels.type == type) return features;
  const MappedArray& array = state_->at(type).features;
  if (spec->type == FeatureType::float32) features.floats = array.as<float>();
  if (spec->type == FeatureType::float16) features.halves = array.as<uint16_t>();
  if (spec->type == FeatureType::int8) features.bytes = array.as<int8_t>();
  return features;
}

std::span<const uint32_t> HeteroGraph::mean_counts(NodeType type) const {
  return state_->at(type).mean_counts.as<uint32_t>();
}

void HeteroGraph::copy_features(NodeType type, NodeId node, std::span<float> row) const {
  copy_features(type, {&node, 1}, row);
}

void HeteroGraph::copy_features(NodeType type, std::span<const NodeId> nodes,
                                std::span<float> rows) const {
  const uint64_t width = features(type).width;
  assert(rows.size() == nodes.size() * width);
  if (state_->schema.at(type).features) {
    state_->at(type).feature_rows.read(nodes, state_->reader, rows, width);
  }
  if (!shown_ || shown_->labels.type != type) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::span columns = rows.subspan(i * width, width).last(shown_->labels.classes);
    std::fill(columns.begin(), columns.end(), 0.0F);
    for (const uint32_t known : shown_->labels.of(nodes[i])) columns[known] = 1;
  }
}

std::string_view HeteroGraph::name(NodeType type, NodeId node) const {
  return schema().at(type).names ? state_->at(type).names().at(node) : std::string_view{};
}

std::string HeteroGraph::id(NodeType type, NodeId node) const {
  const auto& first = schema().at(type).first_id;
  if (first) return std::to_string(*first + static_cast<int64_t>(node));
  return std::string(state_->at(type).ids().ids.at(node));
}

std::optional<NodeId> HeteroGraph::find(NodeType type, std::string_view id) const {
  const auto& first = schema().at(type).first_id;
  if (!first) return state_->at(type).ids().find(id);
  return sequence_node(*first, num_nodes(type), id);
}

std::optional<uint32_t> HeteroGraph::find_label(NodeType type, std::string_view name) const {
  const auto& labels = schema().at(type).labels;
  for (uint32_t i = 0; i < labels.size(); ++i) {
    if (labels[i].name == name) return i;
  }
  return std::nullopt;
}

std::span<const uint32_t> HeteroGraph::label_classes(NodeType type, uint32_t label,
                                                     NodeId node) const {
  const LabelArrays& arrays = state_->at(type).labels[label];
  const ListRange list = arrays.nodes.lists.range(node, node + uint64_t{1});
  const auto found = arrays.classes.as<uint32_t>().subspan(list.begin, list.size());
  const LabelSpec& spec = schema().at(type).labels[label];
  for (const uint32_t number : found) {
    if (number < spec.classes.size()) continue;
    report_damage(type, "label_" + spec.name + "_classes.npy",
                  fmt::format("class {} of node {} is out of range: there are {} classes", number,
                              node, spec.classes.size()));
  }
  return found;
}

Split HeteroGraph::split(NodeType type, uint32_t label, NodeId node) const {
  const auto splits = state_->at(type).labels[label].split.as<uint8_t>();
  if (splits.empty()) return Split::none;
  if (splits[node] > static_cast<uint8_t>(Split::test)) {
    report_damage(type, "label_" + schema().at(type).labels[label].name + "_split.npy",
                  fmt::format("the split {} of node {} is unknown", splits[node], node));
  }
  return Split(splits[node]);
}

}  // namespace hgt
