#include "hgt/graph/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "hgt/disk/checksum.h"
#include "hgt/disk/json_text.h"
#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_folder.h"
#include "hgt/random.h"

namespace hgt {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 8> kDtypes = {"<i8", "<i4", "<i2", "<u4",
                                                     "<f4", "<f2", "|i1", "|u1"};

template <typename Range, typename Name>
std::string list_names(const Range& range, Name name) {
  std::vector<std::string> names;
  for (const auto& item : range) names.push_back(std::string(name(item)));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

void require_valid_name(const std::string& kind, const std::string& name) {
  if (is_valid_name(name)) return;
  throw Error(
      fmt::format("'{}' is not a valid {} name: use at most 100 letters, digits, '_', '-' and '.', "
                  "and no leading dot",
                  name, kind));
}

}  // namespace

bool is_valid_name(std::string_view name) {
  if (name.empty() || name.size() > 100 || name.front() == '.') return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

// --- building ---

NodeType Schema::add_node_type(std::string name, NodeKind kind) {
  require_valid_name("node type", name);
  if (name == "schema.json")
    throw Error("a node type cannot be named schema.json; choose another name");
  const auto same = [&name](const NodeTypeSpec& spec) { return spec.name == name; };
  if (std::any_of(node_types_.begin(), node_types_.end(), same)) {
    throw Error(fmt::format("node type '{}' is declared twice", name));
  }
  if (node_types_.size() >= std::numeric_limits<uint16_t>::max()) {
    throw Error("a graph can have at most 65535 node types");
  }
  node_types_.push_back({.name = std::move(name), .kind = kind});
  return NodeType(node_types_.size() - 1);
}

void Schema::add_edge_type(const std::string& name, const std::string& reverse) {
  const auto found = std::find_if(edge_types_.begin(), edge_types_.end(),
                                  [&](const EdgeTypeSpec& spec) { return spec.name == name; });
  if (found == edge_types_.end()) {
    edge_types_.push_back({.name = name, .reverse = reverse});
  } else if (found->reverse != reverse) {
    throw Error(fmt::format("edge type '{}' has the reverse '{}' in one place and '{}' in another",
                            name, found->reverse, reverse));
  }
}

void Schema::add_relation(const RelationDeclaration& declaration) {
  const auto& [source_name, edge, target_name, given_reverse, symmetric, times, weights, unique] =
      declaration;
  require_valid_name("edge type", edge);
  const NodeType source = node_type(source_name);
  const NodeType target = node_type(target_name);
  if (edge == "self" || given_reverse == "self") {
    throw Error("edge type 'self' is added to every sub-graph automatically; choose another name");
  }
  if (symmetric && source != target) {
    throw Error(fmt::format("edge type '{}' is declared symmetric but joins {} and {}", edge,
                            source_name, target_name));
  }
  std::string reverse = given_reverse.empty() ? "rev_" + edge : given_reverse;
  if (symmetric) reverse = edge;
  if (!symmetric && reverse == edge) {
    throw Error(fmt::format(
        "edge type '{}' is its own reverse; declare it symmetric or name its reverse", edge));
  }
  require_valid_name("edge type", reverse);
  if (find_relation(source, edge, target) || find_relation(target, reverse, source)) {
    throw Error(fmt::format("relation {} -{}-> {} (or its reverse '{}') is declared twice",
                            source_name, edge, target_name, reverse));
  }
  add_edge_type(edge, reverse);
  relations_.push_back({.source = source,
                        .edge = edge,
                        .target = target,
                        .times = times,
                        .weights = weights,
                        .unique = unique});
  if (symmetric) return;
  add_edge_type(reverse, edge);
  relations_.push_back({.source = target,
                        .edge = reverse,
                        .target = source,
                        .reverse = true,
                        .times = times,
                        .weights = weights,
                        .unique = unique});
}

void Schema::number_relations() {
  if (relations_.size() >= std::numeric_limits<uint16_t>::max()) {
    throw Error("a graph can have at most 65535 meta relations");
  }
  const auto place = [](const RelationSpec& spec) {
    return std::tie(spec.target, spec.edge, spec.source);
  };
  std::sort(relations_.begin(), relations_.end(),
            [&](const RelationSpec& a, const RelationSpec& b) { return place(a) < place(b); });
  std::sort(edge_types_.begin(), edge_types_.end(),
            [](const EdgeTypeSpec& a, const EdgeTypeSpec& b) { return a.name < b.name; });
  incoming_.assign(node_types_.size(), {});
  for (size_t i = 0; i < relations_.size(); ++i) {
    auto& into = incoming_[index(relations_[i].target)];
    relations_[i].slot = static_cast<uint32_t>(into.size());
    into.push_back(Relation(i));
  }
}

// --- reading ---

NodeType Schema::node_type(std::string_view name) const {
  for (size_t i = 0; i < node_types_.size(); ++i) {
    if (node_types_[i].name == name) return NodeType(i);
  }
  throw Error(fmt::format("there is no node type '{}'; the node types are {}", name,
                          list_names(node_types_, [](const auto& spec) { return spec.name; })));
}

std::optional<Relation> Schema::find_relation(NodeType source, std::string_view edge,
                                              NodeType target) const {
  for (size_t i = 0; i < relations_.size(); ++i) {
    const RelationSpec& spec = relations_[i];
    if (spec.source == source && spec.edge == edge && spec.target == target) return Relation(i);
  }
  return std::nullopt;
}

Relation Schema::relation(std::string_view source, std::string_view edge,
                          std::string_view target) const {
  const auto found = find_relation(node_type(source), edge, node_type(target));
  if (found) return *found;
  std::vector<std::string> known;
  for (size_t i = 0; i < relations_.size(); ++i) known.push_back(describe(Relation(i)));
  throw Error(fmt::format("there is no relation {} -{}-> {}; the relations are {}", source, edge,
                          target, fmt::join(known, ", ")));
}

Relation Schema::reverse(Relation relation) const {
  const RelationSpec& spec = at(relation);
  const auto type =
      std::find_if(edge_types_.begin(), edge_types_.end(),
                   [&](const EdgeTypeSpec& candidate) { return candidate.name == spec.edge; });
  return *find_relation(spec.target, type->reverse, spec.source);
}

Schema Schema::without_contents() const {
  Schema schema = *this;
  for (NodeTypeSpec& spec : schema.node_types_) {
    spec = {.name = spec.name, .kind = spec.kind, .names = spec.names};
  }
  for (RelationSpec& spec : schema.relations_) {
    spec.edges = 0;
    spec.repeated = 0;
    spec.degrees = {};
  }
  schema.format_version = kFormatVersion;
  schema.time_range.reset();
  schema.feature_sets.clear();
  schema.arrays.clear();
  return schema;
}

std::string Schema::describe(Relation relation) const {
  const RelationSpec& spec = at(relation);
  return fmt::format("{} -{}-> {}", at(spec.source).name, spec.edge, at(spec.target).name);
}

bool Schema::short_edge_times() const {
  constexpr Time kLimit = std::numeric_limits<int16_t>::max();
  return format_version > 1 &&
         (!time_range || (time_range->first >= -kLimit && time_range->second <= kLimit));
}

// --- schema.json ---

namespace {

Json label_to_json(const LabelSpec& label) {
  Json json = {{"name", label.name}, {"split", label.split}, {"classes", label.classes}};
  if (!label.class_names.empty()) json["class_names"] = label.class_names;
  return json;
}

Json mean_to_json(const MeanSpec& mean) {
  Json json = {{"source", mean.source}, {"edges", mean.edges}, {"counts", mean.counts}};
  if (mean.until) json["until"] = *mean.until;
  return json;
}

MeanSpec mean_from_json(const Json& json) {
  MeanSpec mean{.source = json.at("source"),
                .edges = json.at("edges").get<std::vector<std::string>>(),
                .counts = json.at("counts")};
  if (json.contains("until")) mean.until = json.at("until").get<Time>();
  if (!is_valid_name(mean.counts))
    throw Error("counts of a mean in '" + mean.counts + "': not a valid file name");
  return mean;
}

Json features_to_json(const FeatureSpec& spec) {
  Json json = {{"width", spec.width},
               {"type", to_string(spec.type)},
               {"origin", spec.origin},
               {"missing", spec.missing}};
  if (spec.flagged) json["flagged"] = true;
  if (spec.until) json["until"] = *spec.until;
  if (!spec.key.empty()) json["key"] = spec.key;
  if (spec.file != FeatureSpec{}.file) json["file"] = spec.file;
  if (!spec.edges.empty()) json["edges"] = spec.edges;
  if (!spec.mean_of.empty()) json["mean_of"] = spec.mean_of;
  if (spec.mean) json["mean"] = mean_to_json(*spec.mean);
  return json;
}

FeatureSpec features_from_json(const Json& json) {
  FeatureSpec spec{.width = json.at("width"),
                   .type = from_word<FeatureType>(json.at("type").get<std::string>()),
                   .origin = json.at("origin"),
                   .missing = json.at("missing"),
                   .flagged = json.value("flagged", false),
                   .key = json.value("key", ""),
                   .file = json.value("file", FeatureSpec{}.file),
                   .edges = json.value("edges", std::vector<std::string>()),
                   .mean_of = json.value("mean_of", "")};
  if (json.contains("until")) spec.until = json.at("until").get<Time>();
  if (json.contains("mean")) spec.mean = mean_from_json(json.at("mean"));
  if (spec.mean && (!spec.flagged || spec.type != FeatureType::float32))
    throw Error("features that neighbors can be left out of must be flagged float32");
  if (!is_valid_name(spec.file))
    throw Error("features in '" + spec.file + "': not a valid file name");
  if (spec.flagged && spec.width < 2)
    throw Error("flagged features have a width of 1, but need at least 2");
  return spec;
}

Json feature_set_to_json(const FeatureSet& set) {
  Json json = {{"name", set.name}, {"key", set.key}, {"types", Json::object()}};
  for (const auto& [type, spec] : set.types) json["types"][type] = features_to_json(spec);
  if (!set.steps.empty()) json["steps"] = set.steps;
  return json;
}

Json node_type_to_json(const NodeTypeSpec& spec) {
  Json json = {{"name", spec.name},
               {"kind", to_string(spec.kind)},
               {"nodes", spec.nodes},
               {"names", spec.names}};
  if (spec.first_id) json["first_id"] = *spec.first_id;
  if (spec.features) json["features"] = features_to_json(*spec.features);
  json["labels"] = Json::array();
  for (const LabelSpec& label : spec.labels) json["labels"].push_back(label_to_json(label));
  return json;
}

Json relation_to_json(const Schema& schema, const RelationSpec& spec) {
  return {{"source", schema.at(spec.source).name},
          {"edge", spec.edge},
          {"target", schema.at(spec.target).name},
          {"reverse", spec.reverse},
          {"times", spec.times},
          {"weights", spec.weights},
          {"unique", spec.unique},
          {"edges", spec.edges},
          {"repeated", spec.repeated},
          {"mean_degree", spec.degrees.mean},
          {"median_degree", spec.degrees.median},
          {"maximum_degree", spec.degrees.maximum},
          {"targets_without", spec.degrees.without}};
}

}  // namespace

std::string Schema::to_json() const {
  Json json = {{"format", kGraphFormat}, {"version", format_version}};
  json["origin"] = origin;
  json["time_unit"] = to_string(time_unit);
  if (time_range) json["time_range"] = {time_range->first, time_range->second};
  json["node_types"] = Json::array();
  for (const NodeTypeSpec& spec : node_types_)
    json["node_types"].push_back(node_type_to_json(spec));
  json["edge_types"] = Json::array();
  for (const EdgeTypeSpec& spec : edge_types_) {
    json["edge_types"].push_back({{"name", spec.name}, {"reverse", spec.reverse}});
  }
  json["relations"] = Json::array();
  for (const RelationSpec& spec : relations_) {
    json["relations"].push_back(relation_to_json(*this, spec));
  }
  for (const FeatureSet& set : feature_sets) {
    json["feature_sets"].push_back(feature_set_to_json(set));
  }
  json["arrays"] = Json::array();
  for (const ArrayRecord& array : arrays) {
    json["arrays"].push_back({{"file", array.file},
                              {"dtype", array.dtype},
                              {"shape", array.shape},
                              {"checksum", fmt::format("{:016x}", array.checksum)}});
  }
  const auto replace = Json::error_handler_t::replace;  // the user's bytes may not be UTF-8
  json["checksum"] = text_checksum(json.dump(-1, ' ', false, replace));
  return json.dump(1, ' ', false, replace) + "\n";
}

// Reads the parts of schema.json in order, checking as it goes.
struct SchemaReader {
  Schema schema;

  void read(const Json& json) {
    schema.format_version = json.at("version");
    schema.time_unit = from_word<TimeUnit>(json.at("time_unit").get<std::string>());
    schema.origin = json.at("origin").get<std::map<std::string, std::string>>();
    if (json.contains("time_range")) {
      schema.time_range = json.at("time_range").get<std::pair<Time, Time>>();
    }
    for (const Json& item : json.at("node_types")) read_node_type(item);
    for (const Json& item : json.at("edge_types")) {
      const std::string name = item.at("name");
      for (const EdgeTypeSpec& known : schema.edge_types_) {
        if (known.name == name) throw Error("edge type '" + name + "' is listed twice");
      }
      schema.edge_types_.push_back({name, item.at("reverse")});
    }
    for (const Json& item : json.at("relations")) read_relation(item);
    const size_t relations = schema.relations_.size();
    schema.number_relations();
    for (size_t i = 0; i < relations; ++i) require_reverse(Relation(i));
    if (json.contains("feature_sets")) {
      for (const Json& item : json.at("feature_sets")) read_feature_set(item);
    }
    for (const Json& item : json.at("arrays")) read_array(item);
  }

  void read_feature_set(const Json& json) {
    FeatureSet set{.name = json.at("name"), .key = json.at("key")};
    require_valid_name("feature set", set.name);
    const auto same = [&](const FeatureSet& known) { return known.name == set.name; };
    if (std::any_of(schema.feature_sets.begin(), schema.feature_sets.end(), same)) {
      throw Error("feature set '" + set.name + "' is listed twice");
    }
    for (const auto& [type, spec] : json.at("types").items()) {
      static_cast<void>(schema.node_type(type));  // throws: there is no such type
      set.types.emplace(type, features_from_json(spec));
    }
    if (json.contains("steps")) set.steps = json.at("steps").get<decltype(set.steps)>();
    schema.feature_sets.push_back(std::move(set));
  }

  void read_node_type(const Json& json) {
    const auto kind = from_word<NodeKind>(json.at("kind").get<std::string>());
    const NodeType type = schema.add_node_type(json.at("name"), kind);
    NodeTypeSpec& spec = schema.at(type);
    spec.nodes = json.at("nodes");
    if (spec.nodes > kMaxNodes) throw Error("more nodes than one type can hold");
    spec.names = json.at("names");
    if (json.contains("first_id")) spec.first_id = json.at("first_id").get<int64_t>();
    const auto room = std::numeric_limits<int64_t>::max() - static_cast<int64_t>(spec.nodes);
    if (spec.first_id && *spec.first_id > room) throw Error("ids do not fit in 64 bits");
    if (json.contains("features")) spec.features = features_from_json(json.at("features"));
    for (const Json& item : json.at("labels")) {
      LabelSpec label{.name = item.at("name"),
                      .classes = item.at("classes"),
                      .class_names = {},
                      .split = item.at("split")};
      if (item.contains("class_names")) {
        label.class_names = item.at("class_names").get<std::vector<std::string>>();
      }
      require_valid_name("label", label.name);
      spec.labels.push_back(std::move(label));
    }
  }

  void read_relation(const Json& json) {
    RelationSpec spec{.source = schema.node_type(json.at("source").get<std::string>()),
                      .edge = json.at("edge"),
                      .target = schema.node_type(json.at("target").get<std::string>()),
                      .reverse = json.at("reverse"),
                      .times = json.at("times"),
                      .weights = json.at("weights"),
                      .unique = json.at("unique"),
                      .edges = json.at("edges"),
                      .repeated = json.at("repeated"),
                      .degrees = {.mean = json.at("mean_degree"),
                                  .median = json.at("median_degree"),
                                  .maximum = json.at("maximum_degree"),
                                  .without = json.at("targets_without")}};
    require_valid_name("edge type", spec.edge);
    if (schema.find_relation(spec.source, spec.edge, spec.target)) {
      throw Error("a relation with the edge type '" + spec.edge + "' is listed twice");
    }
    schema.relations_.push_back(std::move(spec));
  }

  // Schema::reverse may rely on every relation having one.
  void require_reverse(Relation relation) const {
    const RelationSpec& spec = schema.at(relation);
    for (const EdgeTypeSpec& type : schema.edge_types_) {
      if (type.name == spec.edge && schema.find_relation(spec.target, type.reverse, spec.source)) {
        return;
      }
    }
    throw Error(fmt::format("relation {} has no reverse", schema.describe(relation)));
  }

  void read_array(const Json& json) {
    ArrayRecord array{.file = json.at("file"),
                      .dtype = json.at("dtype"),
                      .shape = json.at("shape").get<std::vector<uint64_t>>()};
    array.checksum = std::stoull(json.at("checksum").get<std::string>(), nullptr, 16);
    if (std::find(kDtypes.begin(), kDtypes.end(), array.dtype) == kDtypes.end()) {
      throw Error(fmt::format("array '{}' has the unknown dtype '{}'", array.file, array.dtype));
    }
    require_fits(array);
    schema.arrays.push_back(std::move(array));
  }

  // No product of extents may overflow, and no file may lie outside the folder.
  static void require_fits(const ArrayRecord& array) {
    Uint128 items = 1;
    for (const uint64_t extent : array.shape) {
      items *= extent;
      if (items >= (uint64_t{1} << 48U)) throw Error("array '" + array.file + "' is too large");
    }
    const Path path(array.file);
    const bool escapes =
        std::any_of(path.begin(), path.end(), [](const Path& part) { return part == ".."; });
    if (escapes || path.is_absolute()) {
      throw Error("array '" + array.file + "' lies outside the graph folder");
    }
  }
};

namespace {

Json parse_checked(const std::string& text) {
  Json json = parse_json<Json>(text);
  if (!json.is_object() || json.value("format", "") != kGraphFormat) {
    throw Error("is not an hgt graph schema");
  }
  const int version = json.at("version");
  if (version < 1 || version > kFormatVersion) {
    throw Error(
        fmt::format("has format version {}, but this program reads versions 1 to {}; make the "
                    "graph again or use the program that wrote it",
                    version, kFormatVersion));
  }
  const std::string given = json.at("checksum");
  json.erase("checksum");
  if (given != text_checksum(json.dump())) {
    throw Error(
        "its checksum does not match: the file was changed or damaged; make the graph again");
  }
  return json;
}

}  // namespace

Schema Schema::from_json(const std::string& text, const Path& file) {
  try {
    SchemaReader reader;
    reader.read(parse_checked(text));
    return std::move(reader.schema);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file.string(), error.what()));
  } catch (const std::exception& error) {  // nlohmann's, std::stoull's
    throw Error(
        fmt::format("{}: is damaged ({}); make the graph again", file.string(), error.what()));
  }
}

}  // namespace hgt
