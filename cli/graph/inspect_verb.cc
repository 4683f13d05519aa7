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

uint64_t bytes_on_disk(const HeteroGraph& graph) {
  uint64_t bytes = std::filesystem::file_size(graph.folder() / "schema.json");
  for (const ArrayRecord& record : graph.schema().arrays) {
    bytes += kArrayHeaderBytes + num_items(record.shape) * item_size(record.dtype);
  }
  return bytes;
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

void print_tables(const HeteroGraph& graph) {
  const Schema& schema = graph.schema();
  fmt::print("{}: {} nodes, {} edges, time unit {}, {} on disk\n\n", graph.folder().string(),
             with_commas(total_nodes(schema)), with_commas(total_edges(schema)),
             to_string(schema.time_unit), short_bytes(bytes_on_disk(graph)));

  TextTable nodes({"node type", "kind", ">nodes", "times", "names", "features", "labels"});
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    const NodeTypeSpec& spec = schema.node_types()[i];
    nodes.add({spec.name, std::string(to_string(spec.kind)), with_commas(spec.nodes),
               describe_times(graph, NodeType(i)), spec.names ? "yes" : "no",
               describe_features(spec), describe_labels(spec)});
  }
  fmt::print("{}\n", nodes.text());

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

Json node_type_json(const HeteroGraph& graph, NodeType type) {
  const NodeTypeSpec& spec = graph.schema().at(type);
  Json json = {{"name", spec.name},
               {"kind", to_string(spec.kind)},
               {"nodes", spec.nodes},
               {"names", spec.names}};
  if (const auto range = time_range(graph, type)) json["times"] = {range->first, range->second};
  if (spec.features) {
    json["features"] = {{"width", spec.features->width},
                        {"type", to_string(spec.features->type)},
                        {"origin", spec.features->origin},
                        {"missing", spec.features->missing},
                        {"flagged", spec.features->flagged}};
    if (spec.features->until) json["features"]["until"] = *spec.features->until;
  }
  json["labels"] = Json::array();
  for (const LabelSpec& label : spec.labels) {
    json["labels"].push_back(
        {{"name", label.name}, {"classes", label.classes.size()}, {"split", label.split}});
  }
  return json;
}

Json to_json(const HeteroGraph& graph, bool verified) {
  const Schema& schema = graph.schema();
  Json json = {{"graph", graph.folder().string()}, {"nodes", total_nodes(schema)},
               {"edges", total_edges(schema)},     {"time_unit", to_string(schema.time_unit)},
               {"bytes", bytes_on_disk(graph)},    {"verified", verified},
               {"origin", schema.origin}};
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
    if (flags->json) {
      fmt::print("{}\n", to_json(graph, flags->verify).dump(1));
      return;
    }
    print_tables(graph);
    if (flags->verify) fmt::print("verified: every checksum, offset, id and time is correct\n");
  });
}

}  // namespace hgt::cli
