// inspect: what is in a graph; the paper's Table 1 for any schema.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/progress_bar.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/graph/time_text.h"

namespace hgt::cli {

namespace {

using Json = nlohmann::ordered_json;

// Edges as the tables gave them, each counted once, by the pair of types they join.
struct PairCount {
  std::string pair;
  uint64_t edges = 0;
};

std::vector<PairCount> count_pairs(const Schema& schema) {
  std::vector<PairCount> counts;
  for (const RelationSpec& spec : schema.relations()) {
    if (spec.reverse) continue;
    const std::string pair =
        fmt::format("{}-{}", schema.at(spec.source).name, schema.at(spec.target).name);
    auto found = std::find_if(counts.begin(), counts.end(),
                              [&](const PairCount& count) { return count.pair == pair; });
    if (found == counts.end()) found = counts.insert(counts.end(), {.pair = pair});
    found->edges += spec.edges;
  }
  return counts;
}

uint64_t total_nodes(const Schema& schema) {
  uint64_t nodes = 0;
  for (const NodeTypeSpec& spec : schema.node_types()) nodes += spec.nodes;
  return nodes;
}

uint64_t total_edges(const Schema& schema) {
  uint64_t edges = 0;
  for (const PairCount& count : count_pairs(schema)) edges += count.edges;
  return edges;
}

uint64_t bytes_of(const ArrayRecord& record) {
  return kArrayHeaderBytes + num_items(record.shape) * item_size(record.dtype);
}

// Of all feature sets.
uint64_t bytes_on_disk(const HeteroGraph& graph, const Schema& stored) {
  uint64_t bytes = std::filesystem::file_size(graph.folder() / "schema.json");
  for (const ArrayRecord& record : stored.arrays) bytes += bytes_of(record);
  return bytes;
}

// Of the features of one type of a set, which other sets may have, too.
uint64_t bytes_of(const Schema& stored, const std::string& type, const FeatureSpec& spec) {
  for (const ArrayRecord& record : stored.arrays) {
    if (record.file == type + "/" + spec.file) return bytes_of(record);
  }
  return 0;
}

// The times of one event type; no value: it has none.
std::optional<std::pair<Time, Time>> time_range(const HeteroGraph& graph, NodeType type) {
  std::optional<std::pair<Time, Time>> range;
  for (const Time time : graph.times(type)) {
    if (time == kNoTime) continue;
    if (!range) range = {time, time};
    range->first = std::min(range->first, time);
    range->second = std::max(range->second, time);
  }
  return range;
}

std::string describe_times(const HeteroGraph& graph, NodeType type) {
  const auto range = time_range(graph, type);
  if (!range) return "";
  const TimeUnit unit = graph.schema().time_unit;
  return fmt::format("{} to {}", format_time(range->first, unit), format_time(range->second, unit));
}

std::string describe_features(const NodeTypeSpec& spec) {
  if (!spec.features) return "none";
  std::string text = fmt::format("{} {} ({})", spec.features->width, to_string(spec.features->type),
                                 spec.features->origin);
  if (spec.features->missing > 0) {
    text += fmt::format(", {} nodes without any", with_commas(spec.features->missing));
  }
  return text;
}

std::string describe_labels(const NodeTypeSpec& spec) {
  std::string text;
  for (const LabelSpec& label : spec.labels) {
    text += fmt::format("{}{} ({} classes{})", text.empty() ? "" : ", ", label.name,
                        label.classes.size(), label.split ? ", with split" : "");
  }
  return text;
}

void print_feature_sets(const HeteroGraph& graph, const Schema& stored) {
  if (stored.feature_sets.empty()) return;  // the imported one is in the table of types
  TextTable table(
      {"feature set", "node type", ">width", "stored as", "from", ">nodes without", ">bytes"});
  for (const FeatureSet& set : all_feature_sets(stored)) {
    if (set.types.empty()) table.add({set.name, "none", "", "", "", "", ""});
    for (const auto& [type, spec] : set.types) {
      table.add({set.name, type, std::to_string(spec.width), std::string(to_string(spec.type)),
                 spec.origin, with_commas(spec.missing),
                 short_bytes(bytes_of(stored, type, spec))});
    }
  }
  fmt::print(
      "{}features above are those of the set '{}', which is used unless --features names "
      "another\n\n",
      table.text(), graph.feature_set());
}

void print_tables(const HeteroGraph& graph, const Schema& stored) {
  const Schema& schema = graph.schema();
  fmt::print("{}: {} nodes, {} edges, time unit {}, {} on disk\n\n", graph.folder().string(),
             with_commas(total_nodes(schema)), with_commas(total_edges(schema)),
             to_string(schema.time_unit), short_bytes(bytes_on_disk(graph, stored)));

  TextTable nodes({"node type", "kind", ">nodes", "times", "names", "features", "labels"});
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    const NodeTypeSpec& spec = schema.node_types()[i];
    nodes.add({spec.name, std::string(to_string(spec.kind)), with_commas(spec.nodes),
               describe_times(graph, NodeType(i)), spec.names ? "yes" : "no",
               describe_features(spec), describe_labels(spec)});
  }
  fmt::print("{}\n", nodes.text());
  print_feature_sets(graph, stored);

  TextTable pairs({"edges between", ">edges"});
  for (const PairCount& count : count_pairs(schema)) {
    pairs.add({count.pair, with_commas(count.edges)});
  }
  fmt::print("{}\n", pairs.text());

  TextTable relations({"source", "edge", "target", ">edges", ">mean", ">median", ">maximum",
                       ">targets without", "carries"});
  for (const RelationSpec& spec : schema.relations()) {
    relations.add({schema.at(spec.source).name, spec.edge, schema.at(spec.target).name,
                   with_commas(spec.edges), fmt::format("{:.2f}", spec.degrees.mean),
                   fmt::format("{:g}", spec.degrees.median), with_commas(spec.degrees.maximum),
                   with_commas(spec.degrees.without),
                   fmt::format("{}{}", spec.times ? "time " : "", spec.weights ? "weight" : "")});
  }
  fmt::print("{}mean, median, maximum: incoming edges of a target node\n", relations.text());
}

Json features_json(const FeatureSpec& spec) {
  Json json = {{"width", spec.width},
               {"type", to_string(spec.type)},
               {"origin", spec.origin},
               {"missing", spec.missing},
               {"flagged", spec.flagged}};
  if (spec.until) json["until"] = *spec.until;
  return json;
}

Json feature_sets_json(const Schema& stored) {
  Json sets = Json::array();
  for (const FeatureSet& set : all_feature_sets(stored)) {
    Json types = Json::object();
    for (const auto& [type, spec] : set.types) {
      types[type] = features_json(spec);
      types[type]["bytes"] = bytes_of(stored, type, spec);
    }
    sets.push_back({{"name", set.name}, {"finished", !is_unfinished(set.name)}, {"types", types}});
  }
  return sets;
}

Json node_type_json(const HeteroGraph& graph, NodeType type) {
  const NodeTypeSpec& spec = graph.schema().at(type);
  Json json = {{"name", spec.name},
               {"kind", to_string(spec.kind)},
               {"nodes", spec.nodes},
               {"names", spec.names}};
  if (const auto range = time_range(graph, type)) json["times"] = {range->first, range->second};
  if (spec.features) json["features"] = features_json(*spec.features);
  json["labels"] = Json::array();
  for (const LabelSpec& label : spec.labels) {
    json["labels"].push_back(
        {{"name", label.name}, {"classes", label.classes.size()}, {"split", label.split}});
  }
  return json;
}

Json to_json(const HeteroGraph& graph, const Schema& stored, bool verified) {
  const Schema& schema = graph.schema();
  Json json = {{"graph", graph.folder().string()},
               {"nodes", total_nodes(schema)},
               {"edges", total_edges(schema)},
               {"time_unit", to_string(schema.time_unit)},
               {"bytes", bytes_on_disk(graph, stored)},
               {"verified", verified},
               {"origin", schema.origin},
               {"feature_set", graph.feature_set()},
               {"feature_sets", feature_sets_json(stored)}};
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    json["node_types"].push_back(node_type_json(graph, NodeType(i)));
  }
  json["pairs"] = Json::object();
  for (const PairCount& count : count_pairs(schema)) json["pairs"][count.pair] = count.edges;
  json["relations"] = Json::array();
  for (const RelationSpec& spec : schema.relations()) {
    json["relations"].push_back({{"source", schema.at(spec.source).name},
                                 {"edge", spec.edge},
                                 {"target", schema.at(spec.target).name},
                                 {"reverse", spec.reverse},
                                 {"edges", spec.edges},
                                 {"mean", spec.degrees.mean},
                                 {"median", spec.degrees.median},
                                 {"maximum", spec.degrees.maximum},
                                 {"targets_without", spec.degrees.without},
                                 {"times", spec.times},
                                 {"weights", spec.weights},
                                 {"repeated", spec.repeated}});
  }
  return json;
}

}  // namespace

void add_inspect(CLI::App& verb) {
  struct Flags {
    std::string graph;
    bool verify = false;
    bool json = false;
    bool quiet = false;
  };
  auto flags = std::make_shared<Flags>();
  verb.add_option("graph", flags->graph, "Folder of the graph")->required()->type_name("GRAPH");
  verb.add_flag("--verify", flags->verify, "Read the whole graph and check every byte of it");
  verb.add_flag("--json", flags->json, "Print JSON instead of text");
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] {
    const auto graph = HeteroGraph::open(flags->graph);
    if (flags->verify) {
      ProgressBar bar(flags->quiet);
      verify(graph, bar.sink());
    }
    const Schema stored = read_schema(flags->graph);
    if (flags->json) {
      fmt::print("{}\n", to_json(graph, stored, flags->verify).dump(1));
      return;
    }
    print_tables(graph, stored);
    if (flags->verify) fmt::print("verified: every checksum, offset, id and time is correct\n");
  });
}

}  // namespace hgt::cli
