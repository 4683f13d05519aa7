#include "cli/graph/sample_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "cli/text_table.h"
#include "hgt/graph/time_text.h"

namespace hgt::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNameWidth = 40;

// --- counts, the same for both forms ---

// In-degrees leave `self` out, so that they compare with those of the graph.
struct InstanceCount {
  std::optional<uint32_t> hop;  // none: all hops
  NodeType type{};
  uint64_t instances = 0;
  std::set<NodeId> nodes;
  std::optional<std::pair<Time, Time>> times;  // first and last
  uint64_t degrees = 0;                        // their sum
  uint64_t max_degree = 0;

  double mean_degree() const {
    return static_cast<double>(degrees) / static_cast<double>(instances);
  }
};

struct RelationCount {
  Relation relation{};
  uint64_t edges = 0;
  uint64_t targets = 0;  // instances that such edges enter
  uint64_t dated = 0;    // edges whose two ends have a time
  int64_t gaps = 0;      // the sum over these

  double mean_degree() const { return static_cast<double>(edges) / static_cast<double>(targets); }
  std::optional<double> mean_gap() const {
    if (dated == 0) return std::nullopt;
    return static_cast<double>(gaps) / static_cast<double>(dated);
  }
};

uint64_t in_degree(const Subgraph& subgraph, uint32_t row) {
  return subgraph.incoming(row).size() - 1;
}

void add(InstanceCount& count, const Subgraph& subgraph, uint32_t row) {
  const Time time = subgraph.times[row];
  const uint64_t degree = in_degree(subgraph, row);
  ++count.instances;
  count.nodes.insert(subgraph.nodes[row]);
  count.degrees += degree;
  count.max_degree = std::max(count.max_degree, degree);
  if (time == kNoTime) return;
  if (!count.times) count.times = {time, time};
  count.times->first = std::min(count.times->first, time);
  count.times->second = std::max(count.times->second, time);
}

// One count per type, or one per hop and type; without empty ones.
std::vector<InstanceCount> count_instances(const SampleResult& result, bool by_hop) {
  const Subgraph& subgraph = result.subgraph;
  std::map<std::pair<std::optional<uint32_t>, NodeType>, InstanceCount> counts;
  for (size_t i = 0; i < result.graph.schema().node_types().size(); ++i) {
    for (const uint32_t row : subgraph.rows(NodeType(i))) {
      const auto hop = by_hop ? std::optional(subgraph.hops[row]) : std::nullopt;
      InstanceCount& count = counts[{hop, NodeType(i)}];
      count.hop = hop;
      count.type = NodeType(i);
      add(count, subgraph, row);
    }
  }
  std::vector<InstanceCount> sorted;
  for (auto& [key, count] : counts) sorted.push_back(std::move(count));
  return sorted;
}

void add(RelationCount& count, const Subgraph& subgraph, uint32_t target, uint64_t edge) {
  const bool dated =
      subgraph.times[target] != kNoTime && subgraph.times[subgraph.sources[edge]] != kNoTime;
  const bool first = edge == subgraph.edge_offsets[target] ||
                     subgraph.relations[edge] != subgraph.relations[edge - 1];
  count.relation = subgraph.relations[edge];
  ++count.edges;
  count.targets += first ? 1 : 0;
  count.dated += dated ? 1 : 0;
  count.gaps += subgraph.gaps[edge];  // 0 where a time is missing
}

// Those that have edges, `self` at the end.
std::vector<RelationCount> count_relations(const SampleResult& result) {
  const Subgraph& subgraph = result.subgraph;
  const Schema& schema = result.graph.schema();
  std::vector<RelationCount> counts(schema.relations().size() + schema.node_types().size());
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    for (const uint64_t edge : subgraph.incoming(row)) {
      add(counts[index(subgraph.relations[edge])], subgraph, row, edge);
    }
  }
  std::erase_if(counts, [](const RelationCount& count) { return count.edges == 0; });
  return counts;
}

// --- words ---

// The names of <source type, edge type, target type>.
std::array<std::string, 3> triple(const Schema& schema, Relation relation) {
  const size_t relations = schema.relations().size();
  if (index(relation) >= relations) {
    const std::string& type = schema.at(NodeType(index(relation) - relations)).name;
    return {type, "self", type};
  }
  const RelationSpec& spec = schema.at(relation);
  return {schema.at(spec.source).name, spec.edge, schema.at(spec.target).name};
}

bool has_split_end(const SamplingOptions& options) {
  return options.time_bound == TimeBound::split &&
         options.split_end != std::numeric_limits<Time>::max();
}

std::string percent(uint64_t part, uint64_t whole) {
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// Fit for a cell of a table: no control characters, and cut to so many characters of UTF-8.
std::string cell(std::string_view text, size_t width = std::string_view::npos) {
  std::string line;
  size_t characters = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) != 0x80U && ++characters > width) return line + "...";
    line.push_back(byte < 0x20U || byte == 0x7fU ? ' ' : c);
  }
  return line;
}

std::string describe_strategy(const SamplingOptions& options) {
  std::string text(to_string(options.strategy));
  if (options.strategy == Strategy::neighbors) {
    text += fmt::format(", {}fan-outs {}", options.recent ? "recent, " : "",
                        fmt::join(options.fanout, ","));
  } else if (options.strategy == Strategy::full) {
    text += fmt::format(", depth {}", options.depth);
  } else {
    text += fmt::format(", width {}, depth {}, neighbor cap {}", options.width, options.depth,
                        options.neighbor_cap);
    if (options.time_bound == TimeBound::seed) {
      text += fmt::format(", seed width {}", options.seed_width);
    }
  }
  if (options.same_time) text += ", same time";
  return fmt::format("{}, random seed {}", text, options.seed);
}

std::string describe_bound(const SampleResult& result) {
  if (result.options.time_bound == TimeBound::none) return "none";
  if (result.options.time_bound == TimeBound::seed) {
    return "seed, nothing later than the seed from which it was reached";
  }
  if (result.split == Split::none) return "split, without effect: no seed has a time";
  if (result.split == Split::test) return "split, without effect: the latest seed is for testing";
  return fmt::format("split, nothing later than {}, the end of {}",
                     format_time(result.options.split_end, result.graph.schema().time_unit),
                     result.split == Split::train ? "training" : "validation");
}

// --- for people ---

std::string header_text(const SampleResult& result) {
  std::string text = fmt::format("{}: {}\ntime bound: {}\n", result.graph.folder().string(),
                                 describe_strategy(result.options), describe_bound(result));
  if (!result.hidden.empty()) {
    text += fmt::format("hidden at the seeds, in both directions: {}\n",
                        fmt::join(result.hidden, ", "));
  }
  return text;
}

std::string instance_counts_text(const SampleResult& result) {
  const Schema& schema = result.graph.schema();
  TextTable table(
      {">hop", "type", ">instances", ">share", ">nodes", "times", ">mean in-degree", ">maximum"});
  for (const bool by_hop : {true, false}) {
    for (const InstanceCount& count : count_instances(result, by_hop)) {
      const auto& times = count.times;
      table.add({count.hop ? std::to_string(*count.hop) : "all", schema.at(count.type).name,
                 with_commas(count.instances), percent(count.instances, result.subgraph.num_rows()),
                 with_commas(count.nodes.size()),
                 times ? fmt::format("{} to {}", format_time(times->first, schema.time_unit),
                                     format_time(times->second, schema.time_unit))
                       : "",
                 fmt::format("{:.2f}", count.mean_degree()), with_commas(count.max_degree)});
    }
  }
  return fmt::format("instances by hop and type\n{}in-degree: in the sub-graph, without self\n",
                     table.text());
}

std::string relation_counts_text(const SampleResult& result) {
  const Schema& schema = result.graph.schema();
  TextTable table(
      {"source", "edge", "target", ">edges", ">share", ">targets", ">mean in-degree", ">mean gap"});
  for (const RelationCount& count : count_relations(result)) {
    const auto [source, edge, target] = triple(schema, count.relation);
    const auto gap = count.mean_gap();
    table.add({source, edge, target, with_commas(count.edges),
               percent(count.edges, result.subgraph.num_edges()), with_commas(count.targets),
               fmt::format("{:.2f}", count.mean_degree()), gap ? fmt::format("{:.2f}", *gap) : ""});
  }
  return fmt::format(
      "edges by meta relation\n{}targets: instances with such edges; in-degree: of these; gap: "
      "time of the target minus that of the source, in {}s\n",
      table.text(), to_string(schema.time_unit));
}

std::vector<std::string> instance_cells(const SampleResult& result, uint32_t row) {
  const HeteroGraph& graph = result.graph;
  const Subgraph& subgraph = result.subgraph;
  const NodeType type = subgraph.type_of(row);
  const NodeId node = subgraph.nodes[row];
  const Time time = subgraph.times[row];
  const auto slots = static_cast<uint32_t>(graph.schema().incoming(type).size());
  return {std::to_string(row),
          std::to_string(subgraph.hops[row]),
          graph.schema().at(type).name,
          cell(graph.id(type, node)),
          cell(graph.name(type, node), kNameWidth),
          time == kNoTime ? "" : format_time(time, graph.schema().time_unit),
          with_commas(in_degree(subgraph, row)),
          with_commas(graph.incoming_range(type, node, 0, slots).size())};
}

std::string instances_text(const SampleResult& result, uint64_t rows) {
  const Subgraph& subgraph = result.subgraph;
  std::vector<uint32_t> order(subgraph.num_rows());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return subgraph.hops[a] < subgraph.hops[b]; });
  order.resize(std::min<uint64_t>(rows, order.size()));
  const bool several = std::any_of(subgraph.components.begin(), subgraph.components.end(),
                                   [](uint32_t component) { return component > 0; });
  std::vector<std::string> titles = {">row", ">hop", "type",       "id",
                                     "name", "time", ">in-degree", ">in the graph"};
  if (several) titles.emplace_back(">component");
  TextTable table(titles);
  for (const uint32_t row : order) {
    auto cells = instance_cells(result, row);
    if (several) cells.push_back(std::to_string(subgraph.components[row]));
    table.add(std::move(cells));
  }
  std::string text = "instances\n" + table.text();
  if (order.size() < subgraph.num_rows()) {
    text += fmt::format("and {} more; --rows N lists N of them\n",
                        with_commas(subgraph.num_rows() - order.size()));
  }
  return text;
}

// --- for programs ---

Json time_json(Time time) { return time == kNoTime ? Json() : Json(time); }

Json options_json(const SampleResult& result) {
  const SamplingOptions& options = result.options;
  Json json = {{"strategy", to_string(options.strategy)}};
  if (options.strategy == Strategy::hgsampling) {
    json["width"] = options.width;
    json["seed_width"] = options.seed_width;
    json["neighbor_cap"] = options.neighbor_cap;
  }
  if (options.strategy == Strategy::neighbors) {
    json["fanout"] = options.fanout;
    json["recent"] = options.recent;
  } else {
    json["depth"] = options.depth;
  }
  json["seed"] = options.seed;
  json["same_time"] = options.same_time;
  json["time_bound"] = to_string(options.time_bound);
  json["split_end"] = has_split_end(options) ? Json(options.split_end) : Json();
  json["train_end"] = result.time_split.train_end;
  json["validation_end"] = result.time_split.validation_end;
  json["hide"] = result.hidden;
  return json;
}

Json instance_counts_json(const SampleResult& result, bool by_hop) {
  Json list = Json::array();
  for (const InstanceCount& count : count_instances(result, by_hop)) {
    Json json;
    if (count.hop) json["hop"] = *count.hop;
    json["type"] = result.graph.schema().at(count.type).name;
    json["instances"] = count.instances;
    json["nodes"] = count.nodes.size();
    json["times"] = count.times ? Json({count.times->first, count.times->second}) : Json();
    json["mean_in_degree"] = count.mean_degree();
    json["max_in_degree"] = count.max_degree;
    list.push_back(std::move(json));
  }
  return list;
}

Json relation_counts_json(const SampleResult& result) {
  Json list = Json::array();
  for (const RelationCount& count : count_relations(result)) {
    const auto gap = count.mean_gap();
    list.push_back({{"relation", triple(result.graph.schema(), count.relation)},
                    {"edges", count.edges},
                    {"targets", count.targets},
                    {"mean_in_degree", count.mean_degree()},
                    {"mean_gap", gap ? Json(*gap) : Json()}});
  }
  return list;
}

Json instances_json(const SampleResult& result) {
  const HeteroGraph& graph = result.graph;
  const Subgraph& subgraph = result.subgraph;
  Json list = Json::array();
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    const NodeType type = subgraph.type_of(row);
    list.push_back({{"type", graph.schema().at(type).name},
                    {"id", graph.id(type, subgraph.nodes[row])},
                    {"time", time_json(subgraph.times[row])},
                    {"hop", subgraph.hops[row]},
                    {"component", subgraph.components[row]}});
  }
  return list;
}

Json edges_json(const SampleResult& result) {
  const Subgraph& subgraph = result.subgraph;
  Json list = Json::array();
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    for (const uint64_t edge : subgraph.incoming(row)) {
      const EdgePosition position = subgraph.positions[edge];
      list.push_back({{"source", subgraph.sources[edge]},
                      {"target", row},
                      {"relation", triple(result.graph.schema(), subgraph.relations[edge])},
                      {"gap", subgraph.gaps[edge]},
                      {"position", position == kSelfEdge ? Json() : Json(position)}});
    }
  }
  return list;
}

// On one line. Bytes that are no UTF-8 become U+FFFD.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// One line per member, and per element of a list of objects: fit for grep and diff.
std::string dump_lines(const Json& json) {
  std::vector<std::string> members;
  for (const auto& [key, value] : json.items()) {
    std::string text = dump(value);
    if (value.is_array() && !value.empty() && value.front().is_object()) {
      std::vector<std::string> elements;
      for (const Json& element : value) elements.push_back("  " + dump(element));
      text = fmt::format("[\n{}\n ]", fmt::join(elements, ",\n"));
    }
    members.push_back(fmt::format(" {}: {}", dump(key), text));
  }
  return fmt::format("{{\n{}\n}}\n", fmt::join(members, ",\n"));
}

}  // namespace

std::string sample_text(const SampleResult& result, uint64_t rows) {
  std::string text = fmt::format("{}\n{}\n{}\n", header_text(result), instance_counts_text(result),
                                 relation_counts_text(result));
  if (rows > 0) text += instances_text(result, rows) + '\n';
  text += fmt::format("{} instances, {} edges, {:.4f} s\n", with_commas(result.subgraph.num_rows()),
                      with_commas(result.subgraph.num_edges()), result.seconds);
  if (result.verified) text += "verified: every instance, time, edge and gap is correct\n";
  return text;
}

std::string sample_json(const SampleResult& result) {
  return dump_lines({{"graph", result.graph.folder().string()},
                     {"time_unit", to_string(result.graph.schema().time_unit)},
                     {"options", options_json(result)},
                     {"seconds", result.seconds},
                     {"verified", result.verified},
                     {"counts_by_type", instance_counts_json(result, false)},
                     {"counts_by_hop_and_type", instance_counts_json(result, true)},
                     {"counts_by_relation", relation_counts_json(result)},
                     {"seed_rows", result.subgraph.seed_rows},
                     {"instances", instances_json(result)},
                     {"edges", edges_json(result)}});
}

}  // namespace hgt::cli
