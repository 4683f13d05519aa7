// similar: which nodes are alike to a trained model, and how that changes over time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/node_words.h"
#include "cli/program.h"
#include "cli/progress_bar.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/insight/evolution.h"
#include "hgt/insight/similarity.h"
#include "hgt/model/machine.h"

namespace hgt::cli {

namespace {

struct SimilarFlags {
  std::string run;
  std::vector<std::string> nodes;
  std::vector<std::string> at;
  std::vector<std::string> where;
  uint64_t top = 5;
  std::string by = "auto";
  std::string distance = "euclidean";
  SimilarityOptions options;
  PipelineOptions pipeline;
  bool json = false;
  bool quiet = false;
};

constexpr uint64_t kUsualTimes = 3;

struct Row {
  NodeId node = 0;
  Time time = kNoTime;
  bool is_there = true;
  std::vector<SimilarNode> nearest = {};
};

// Those asked for; else a few up to the last, as in the paper.
std::vector<Time> times_of(const SimilarFlags& flags, const Similarity& similarity) {
  const Schema& schema = similarity.graph().schema();
  std::vector<Time> times;
  for (const std::string& text : flags.at) {
    const auto time = parse_time(text, TimeFormat::date, schema.time_unit);
    if (!time) report_time(schema, "--at", text);
    times.push_back(*time);
  }
  if (!times.empty()) return times;
  if (!similarity.has_times()) return {kNoTime};
  times = spread_times(similarity.graph(), similarity.representations().type(), kUsualTimes);
  if (times.empty()) times.push_back(schema.time_range->second);
  return times;
}

std::string shown(const HeteroGraph& graph, NodeType type, NodeId node) {
  const std::string_view name = graph.name(type, node);
  return name.empty() ? graph.id(type, node) : std::string(name);
}

std::string time_text(const HeteroGraph& graph, Time time) {
  return time == kNoTime ? "" : format_time(time, graph.schema().time_unit);
}

void print_rows(const Similarity& similarity, const std::vector<Row>& rows) {
  const HeteroGraph& graph = similarity.graph();
  const NodeType type = similarity.representations().type();
  TextTable table({graph.schema().at(type).name, "time", "most similar, nearest first"});
  NodeId last = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string others;
    for (const SimilarNode& other : rows[i].nearest) {
      others += fmt::format("{}{} ({:.3g})", others.empty() ? "" : ", ",
                            shown(graph, type, other.node), other.distance);
    }
    if (!rows[i].is_there) others += "  [not in the graph by then]";
    const bool again = i > 0 && rows[i].node == last;
    table.add(
        {again ? "" : shown(graph, type, rows[i].node), time_text(graph, rows[i].time), others});
    last = rows[i].node;
  }
  fmt::print("{}", table.text());
}

std::vector<std::string> time_texts(const HeteroGraph& graph, const std::vector<Time>& times) {
  std::vector<std::string> texts;
  for (const Time time : times) {
    if (time != kNoTime) texts.push_back(time_text(graph, time));
  }
  return texts;
}

nlohmann::ordered_json to_json(const Similarity& similarity, const std::vector<Row>& rows) {
  const HeteroGraph& graph = similarity.graph();
  const NodeType type = similarity.representations().type();
  nlohmann::ordered_json json = {{"type", graph.schema().at(type).name},
                                 {"layer", similarity.representations().layer()},
                                 {"among", similarity.describe()}};
  for (const Row& row : rows) {
    nlohmann::ordered_json entry = {{"id", graph.id(type, row.node)},
                                    {"name", graph.name(type, row.node)},
                                    {"time", time_text(graph, row.time)},
                                    {"is_there", row.is_there}};
    entry["nearest"] = nlohmann::ordered_json::array();
    for (const SimilarNode& other : row.nearest) {
      entry["nearest"].push_back({{"id", graph.id(type, other.node)},
                                  {"name", graph.name(type, other.node)},
                                  {"distance", other.distance},
                                  {"similarity", other.similarity}});
    }
    json["nodes"].push_back(entry);
  }
  return json;
}

// All of one type, without times.
std::vector<Seed> named_nodes(const SimilarFlags& flags, const HeteroGraph& graph) {
  std::vector<Seed> seeds;
  for (const std::string& word : flags.nodes) seeds.push_back(named_node(graph, word));
  for (const Seed& seed : seeds) {
    if (seed.type != seeds.front().type) throw Error("--node: all nodes must be of one type");
    if (seed.time != kNoTime) throw Error("--node: give times with --at");
  }
  return seeds;
}

// Which nodes of the type are compared, and how.
SimilarityOptions read_options(const SimilarFlags& flags, const HeteroGraph& graph, NodeType type) {
  SimilarityOptions options = flags.options;
  for (const std::string& text : flags.where) {
    options.where.push_back(parse_condition(graph, type, text));
  }
  options.distance = from_word<Distance>(flags.distance);
  if (flags.by == "auto") return options;
  if (options.among == 0) {
    throw Error(
        "--by says what makes a node prominent, which matters only with --among; add --among 100");
  }
  options.standing = flags.by == "citations" ? Standing::citations : Standing::links;
  return options;
}

void run_similar(const SimilarFlags& flags) {
  keep_tensor_memory();
  ProgressBar bar(flags.quiet);
  Run run = Run::open(flags.run, bar.sink());
  run.set_pipeline(flags.pipeline);
  const HeteroGraph& graph = run.task().graph();
  const std::vector<Seed> seeds = named_nodes(flags, graph);
  const NodeType type = seeds.front().type;
  Similarity similarity(run, type, read_options(flags, graph, type));
  std::vector<Row> rows;
  double recall = 1;
  bool is_exact = true;
  const std::vector<Time> times = times_of(flags, similarity);
  for (const Seed& seed : seeds) {
    for (const Time time : times) {
      rows.push_back({.node = seed.node,
                      .time = time,
                      .is_there = similarity.is_there(seed.node, time),
                      .nearest = similarity.nearest(seed.node, time, flags.top, bar.sink())});
      const NearestRows& compared = similarity.at(time).rows;
      recall = std::min(recall, compared.recall());
      is_exact = is_exact && compared.is_exact();
    }
  }
  if (flags.json) {
    nlohmann::ordered_json json = to_json(similarity, rows);
    json["times"] = time_texts(graph, times);
    json["distance"] = flags.distance;
    json["recall"] = recall;
    // Names may be no UTF-8.
    fmt::print("{}\n", json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  print_rows(similarity, rows);
  const std::vector<std::string> at = time_texts(graph, times);
  fmt::print("\namong {}{}; {} distance of the outputs of layer {}, mean of {} sub-graphs{}\n",
             similarity.describe(), at.empty() ? "" : fmt::format(", at {}", fmt::join(at, ", ")),
             flags.distance, similarity.representations().layer(),
             flags.options.representation.samples,
             is_exact ? "" : fmt::format("; index with recall {:.3f}", recall));
}

void add_representation(CLI::App& verb, RepresentationOptions& how) {
  verb.add_option("--samples", how.samples,
                  "Sub-graphs sampled per node, whose vectors are averaged")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option(
          "--layer", how.layer,
          "Layer whose output is compared (0 = the last layer that was trained for the type)")
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_flag(
          "--until", how.until,
          "Use nothing later than each time. By default the whole graph is used, as in the "
          "paper, and only the temporal encoding tells the times apart, unless the time bound of "
          "the run is seed")
      ->group(kAdvanced);
}

}  // namespace

void add_similar(CLI::App& verb) {
  auto flags = std::make_shared<SimilarFlags>();
  verb.add_option("run", flags->run, "Folder of the run")->required()->type_name("RUN");
  verb.add_option(
          "--node", flags->nodes,
          "Node by its id or name, such as venue:KDD; can be repeated for nodes of one type")
      ->required()
      ->allow_extra_args(false)
      ->type_name("TYPE:NAME");
  verb.add_option("--at", flags->at,
                  "Times to compare at, separated by commas (default: three, from when half of the "
                  "nodes are there to the last time of the graph)")
      ->delimiter(',')
      ->type_name("TIME");
  verb.add_option("--top", flags->top, "Number of similar nodes shown at each time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb.add_option("--where", flags->where,
                  "Compare only with nodes that have this class of a label, such as "
                  "kind=conference, or none of them (kind=); can be repeated: classes of one label "
                  "are alternatives, different labels must all fit")
      ->allow_extra_args(false)
      ->type_name("LABEL=CLASS");
  verb.add_option(
          "--among", flags->options.among,
          "Compare only with this many of the most prominent nodes (0 = all), of those that "
          "--where leaves")
      ->capture_default_str();
  verb.add_option(
          "--by", flags->by,
          "What makes a node prominent (auto = citations where the graph has any, otherwise "
          "links)")
      ->check(CLI::IsMember({"auto", "citations", "links"}))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option("--distance", flags->distance, "How the distance between two vectors is measured")
      ->check(CLI::IsMember(all_words<Distance>()))
      ->capture_default_str()
      ->group(kAdvanced);
  add_representation(verb, flags->options.representation);
  verb.add_option("--threads", flags->pipeline.threads, "Compute threads (0 = one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_flag("--json", flags->json, "Print JSON instead of text");
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] { run_similar(*flags); });
}

}  // namespace hgt::cli
