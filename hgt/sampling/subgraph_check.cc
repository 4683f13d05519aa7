#include "hgt/sampling/subgraph_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "hgt/error.h"

namespace hgt {

namespace {

using Instance = std::tuple<NodeType, NodeId, Time>;

// One edge as it should be, in the order in which it should stand.
struct ExpectedEdge {
  Relation relation{};
  EdgePosition position = 0;
  uint32_t source = 0;
  friend bool operator==(const ExpectedEdge&, const ExpectedEdge&) = default;
};

class SubgraphCheck {
 public:
  SubgraphCheck(const HeteroGraph& graph, const Request& request, const SamplingOptions& options,
                const Subgraph& subgraph);

  void check_layout() const;
  void check_seeds() const;
  void check_components() const;
  void check_instances() const;
  void check_entries() const;
  void check_counts() const;
  void check_edges() const;

 private:
  template <typename... Args>
  static void require(bool holds, fmt::format_string<Args...> text, Args&&... args) {
    if (!holds) throw Error("sub-graph: " + fmt::format(text, std::forward<Args>(args)...));
  }

  // Of a node in the component of a row.
  uint64_t place(uint32_t row, NodeId node) const {
    return (uint64_t{sub_.components[row]} << 32U) | node;
  }
  std::span<const uint32_t> rows_of(NodeType type, NodeId node, uint32_t target) const;
  Time last_time(uint32_t row) const;
  bool hidden(Relation relation, NodeId source, NodeId target) const;
  bool visible(const Neighbors& neighbors, size_t i, Relation relation, uint32_t target) const;
  Time entry_time(NodeType type, NodeId node, uint32_t target) const;
  bool is_there(NodeType type, NodeId node, uint32_t target) const;
  bool takes_latest(Relation relation) const;
  Time latest_time(const Neighbors& neighbors, size_t i, Relation relation) const;
  std::vector<size_t> entries_into(uint32_t target, Relation relation) const;
  std::set<std::pair<Instance, uint32_t>> neighbors_of(uint32_t target) const;
  void add_expected(uint32_t target, Relation relation, std::vector<ExpectedEdge>& edges) const;
  std::vector<ExpectedEdge> expected_edges(uint32_t target) const;
  bool entered_rightly(uint32_t hop, const std::set<uint32_t>& met) const;
  uint64_t width_of(uint32_t component) const;

  const HeteroGraph& graph_;
  const Schema& schema_;
  const Request& request_;
  const SamplingOptions& options_;
  const Subgraph& sub_;
  // By type: all instances of a node. The key is made of component and node.
  std::vector<std::unordered_map<uint64_t, std::vector<uint32_t>>> rows_of_;
  std::set<std::pair<NodeType, NodeId>> seed_nodes_;
  std::set<std::tuple<Relation, NodeId, NodeId>> hidden_;
  std::map<uint32_t, Time> seed_time_;  // TimeBound::seed: of each component
};

SubgraphCheck::SubgraphCheck(const HeteroGraph& graph, const Request& request,
                             const SamplingOptions& options, const Subgraph& subgraph)
    : graph_(graph), schema_(graph.schema()), request_(request), options_(options), sub_(subgraph) {
  check_layout();
  rows_of_.resize(schema_.node_types().size());
  for (uint32_t row = 0; row < sub_.num_rows(); ++row) {
    rows_of_[index(sub_.type_of(row))][place(row, sub_.nodes[row])].push_back(row);
  }
  for (const Seed& seed : request.seeds) seed_nodes_.emplace(seed.type, seed.node);
  for (const auto* edges : {&options.hidden.edges, &request.hidden}) {
    for (const HiddenEdge& edge : *edges) {
      hidden_.emplace(edge.relation, edge.source, edge.target);
      hidden_.emplace(schema_.reverse(edge.relation), edge.target, edge.source);
    }
  }
  check_seeds();
  check_components();
  for (const uint32_t row : sub_.seed_rows) seed_time_[sub_.components[row]] = sub_.times[row];
}

// --- what may be seen ---

Time SubgraphCheck::last_time(uint32_t row) const {
  if (ends_with_split(options_.time_bound)) return options_.split_end;
  const Time none = std::numeric_limits<Time>::max();
  if (options_.time_bound == TimeBound::none) return none;
  const Time time = seed_time_.at(sub_.components[row]);
  return time == kNoTime ? none : time;
}

bool SubgraphCheck::hidden(Relation relation, NodeId source, NodeId target) const {
  const auto listed = [&](const std::vector<Relation>& relations) {
    return std::any_of(relations.begin(), relations.end(), [&](Relation each) {
      return each == relation || schema_.reverse(each) == relation;
    });
  };
  const bool at_seed = seed_nodes_.contains({schema_.at(relation).source, source}) ||
                       seed_nodes_.contains({schema_.at(relation).target, target});
  return listed(options_.hidden.everywhere) || (at_seed && listed(options_.hidden.at_seeds)) ||
         hidden_.contains({relation, source, target});
}

// Whether entry i of the target's list may be used at all.
bool SubgraphCheck::visible(const Neighbors& neighbors, size_t i, Relation relation,
                            uint32_t target) const {
  if (!neighbors.times.empty() && neighbors.times[i] > last_time(target)) return false;
  return !hidden(relation, neighbors.sources[i], sub_.nodes[target]);
}

// The time that a node gets when it is met through the row `target`.
Time SubgraphCheck::entry_time(NodeType type, NodeId node, uint32_t target) const {
  const Time own = graph_.time(type, node);
  return own == kNoTime ? sub_.times[target] : own;
}

// --- 1. layout and seeds ---

void SubgraphCheck::check_layout() const {
  const size_t rows = sub_.nodes.size();
  const size_t types = schema_.node_types().size();
  require(sub_.type_offsets.size() == types + 1 && sub_.type_offsets.front() == 0 &&
              sub_.type_offsets.back() == rows &&
              std::is_sorted(sub_.type_offsets.begin(), sub_.type_offsets.end()),
          "the type offsets do not divide the {} rows", rows);
  require(sub_.times.size() == rows && sub_.hops.size() == rows && sub_.components.size() == rows,
          "the instance arrays differ in length");
  const size_t edges = sub_.sources.size();
  require(sub_.edge_offsets.size() == rows + 1 && sub_.edge_offsets.front() == 0 &&
              sub_.edge_offsets.back() == edges &&
              std::is_sorted(sub_.edge_offsets.begin(), sub_.edge_offsets.end()),
          "the edge offsets do not divide the {} edges", edges);
  require(
      sub_.relations.size() == edges && sub_.gaps.size() == edges && sub_.positions.size() == edges,
      "the edge arrays differ in length");
  for (uint32_t row = 0; row < rows; ++row) {
    require(sub_.nodes[row] < graph_.num_nodes(sub_.type_of(row)),
            "row {} is not a node of the graph", row);
  }
}

void SubgraphCheck::check_seeds() const {
  require(sub_.seed_rows.size() == request_.seeds.size(),
          "{} seeds were requested, but there are {}", request_.seeds.size(),
          sub_.seed_rows.size());
  std::set<uint32_t> seed_rows;
  for (size_t i = 0; i < sub_.seed_rows.size(); ++i) {
    const Seed& seed = request_.seeds[i];
    const uint32_t row = sub_.seed_rows[i];
    require(row < sub_.num_rows(), "seed {} has row {} of {}", i, row, sub_.num_rows());
    const Time own = graph_.time(seed.type, seed.node);
    require(sub_.type_of(row) == seed.type && sub_.nodes[row] == seed.node &&
                sub_.times[row] == (own == kNoTime ? seed.time : own),
            "row {} is not seed {}", row, i);
    seed_rows.insert(row);
  }
  for (uint32_t row = 0; row < sub_.num_rows(); ++row) {
    require((sub_.hops[row] == 0) == seed_rows.contains(row),
            "row {} says hop {}, but seeds and only seeds have hop 0", row, sub_.hops[row]);
    const bool first = row == sub_.type_offsets[index(sub_.type_of(row))];
    require(first || sub_.hops[row] != 0 || sub_.hops[row - 1] == 0,
            "seed row {} comes after a row that is not a seed", row);
  }
}

// Seeds of a type and component stand in the order asked for. There is one component, or one for
// each time of a seed when that is the bound.
void SubgraphCheck::check_components() const {
  const bool by_time = options_.time_bound == TimeBound::seed;
  std::map<uint32_t, Time> time_of;
  std::map<std::pair<uint32_t, NodeType>, uint32_t> last_row;
  std::set<uint32_t> seen;
  for (const uint32_t row : sub_.seed_rows) {
    const uint32_t component = sub_.components[row];
    require(by_time || component == 0, "seed row {} is in component {}", row, component);
    const auto [found, is_new] = time_of.emplace(component, sub_.times[row]);
    require(!by_time || found->second == sub_.times[row],
            "component {} has seeds with different times", component);
    const auto [last, is_first] = last_row.emplace(std::pair(component, sub_.type_of(row)), row);
    const bool again = !seen.insert(row).second;
    require(is_first || again || row == last->second + 1, "seed row {} is out of order", row);
    if (!again) last->second = row;
  }
  std::set<Time> times;
  for (const auto& [component, time] : time_of) {
    require(times.insert(time).second || !by_time, "two components have seeds with the same time");
  }
  for (uint32_t row = 0; row < sub_.num_rows(); ++row) {
    require(time_of.contains(sub_.components[row]), "row {} is in component {}, which has no seed",
            row, sub_.components[row]);
  }
}

// --- 2. and 4. instances ---

void SubgraphCheck::check_instances() const {
  std::set<std::pair<Instance, uint32_t>> seen;
  for (uint32_t row = 0; row < sub_.num_rows(); ++row) {
    const NodeType type = sub_.type_of(row);
    const Time own = graph_.time(type, sub_.nodes[row]);
    require(own == kNoTime || own == sub_.times[row], "row {} has time {}, but its node has {}",
            row, sub_.times[row], own);
    require(sub_.times[row] <= last_time(row), "row {} has time {}, but the bound is {}", row,
            sub_.times[row], last_time(row));
    require(seen.insert({{type, sub_.nodes[row], sub_.times[row]}, sub_.components[row]}).second,
            "row {} is the same instance as an earlier row", row);
  }
}

// The instances of a node in the component of the target.
std::span<const uint32_t> SubgraphCheck::rows_of(NodeType type, NodeId node,
                                                 uint32_t target) const {
  const auto found = rows_of_[index(type)].find(place(target, node));
  return found == rows_of_[index(type)].end() ? std::span<const uint32_t>{} : found->second;
}

// The instance that a node becomes when it is met through the row `target`.
bool SubgraphCheck::is_there(NodeType type, NodeId node, uint32_t target) const {
  const auto rows = rows_of(type, node, target);
  const Time time = entry_time(type, node, target);
  return std::any_of(rows.begin(), rows.end(),
                     [&](uint32_t row) { return sub_.times[row] == time; });
}

bool SubgraphCheck::takes_latest(Relation relation) const {
  const RelationSpec& spec = schema_.at(relation);
  const bool dated = spec.times || schema_.at(spec.source).kind == NodeKind::event;
  return options_.strategy == Strategy::neighbors && options_.recent && dated;
}

// The time of an entry: the edge's, or else its source's.
Time SubgraphCheck::latest_time(const Neighbors& neighbors, size_t i, Relation relation) const {
  const Time of_edge = neighbors.times.empty() ? kNoTime : neighbors.times[i];
  return of_edge == kNoTime ? graph_.time(schema_.at(relation).source, neighbors.sources[i])
                            : of_edge;
}

// The entries of the target's list through which an instance may have come in. Unless none may be
// missing, only those of instances that are there matter.
std::vector<size_t> SubgraphCheck::entries_into(uint32_t target, Relation relation) const {
  const NodeType type = schema_.at(relation).source;
  const Neighbors neighbors = graph_.incoming(relation, sub_.nodes[target]);
  const bool latest = takes_latest(relation);
  std::vector<size_t> entries;
  for (size_t i = 0; i < neighbors.size(); ++i) {
    const NodeId node = neighbors.sources[i];
    if (options_.strategy != Strategy::full && !latest && !is_there(type, node, target)) continue;
    if (entry_time(type, node, target) > last_time(target)) continue;
    if (visible(neighbors, i, relation, target)) entries.push_back(i);
  }
  const uint32_t hop = sub_.hops[target];
  const uint32_t fanout = hop < options_.fanout.size() ? options_.fanout[hop] : 0;
  if (!latest || fanout == 0 || entries.size() <= fanout) return entries;
  std::sort(entries.begin(), entries.end(), [&](size_t a, size_t b) {
    return std::pair(latest_time(neighbors, a, relation), a) >
           std::pair(latest_time(neighbors, b, relation), b);
  });
  entries.resize(fanout);
  return entries;
}

// The instances that may enter through the target, with its component.
std::set<std::pair<Instance, uint32_t>> SubgraphCheck::neighbors_of(uint32_t target) const {
  std::set<std::pair<Instance, uint32_t>> found;
  for (const Relation relation : schema_.incoming(sub_.type_of(target))) {
    const NodeType type = schema_.at(relation).source;
    const Neighbors neighbors = graph_.incoming(relation, sub_.nodes[target]);
    for (const size_t i : entries_into(target, relation)) {
      const NodeId node = neighbors.sources[i];
      found.insert({{type, node, entry_time(type, node, target)}, sub_.components[target]});
    }
  }
  return found;
}

// Goes through the rows in the order in which they were sampled: hop by hop, type by type.
void SubgraphCheck::check_entries() const {
  std::map<std::pair<uint32_t, NodeType>, std::vector<uint32_t>> rounds;
  for (uint32_t row = 0; row < sub_.num_rows(); ++row) {
    rounds[{sub_.hops[row], sub_.type_of(row)}].push_back(row);
  }
  // The hops of the instances through which each could be met, by rows looked at so far.
  std::map<std::pair<Instance, uint32_t>, std::set<uint32_t>> met;
  std::set<std::pair<Instance, uint32_t>> present;
  for (const auto& [round, rows] : rounds) {
    const auto& [hop, type] = round;
    for (const uint32_t row : rows) {
      const auto instance =
          std::pair(Instance{type, sub_.nodes[row], sub_.times[row]}, sub_.components[row]);
      require(hop == 0 || entered_rightly(hop, met[instance]),
              "row {} (hop {}) was not reached through an earlier instance of the right hop", row,
              hop);
      present.insert(instance);
    }
    for (const uint32_t row : rows) {
      for (const auto& neighbor : neighbors_of(row)) met[neighbor].insert(hop);
    }
  }
  const bool neighbors = options_.strategy == Strategy::neighbors;
  const uint64_t depth = neighbors ? options_.fanout.size() : options_.depth;
  for (const auto& [each, hops] : met) {
    require(hops.empty() || *hops.begin() >= depth || present.contains(each),
            "node {} of type {} is a neighbor but is missing", std::get<1>(each.first),
            schema_.at(std::get<0>(each.first)).name);
  }
}

// HGSampling draws what any earlier round met, the other strategies what the hop before met; `full`
// takes it at once.
bool SubgraphCheck::entered_rightly(uint32_t hop, const std::set<uint32_t>& met) const {
  if (options_.strategy == Strategy::hgsampling) return !met.empty();
  const bool at_once = options_.strategy != Strategy::full || *met.begin() == hop - 1;
  return met.contains(hop - 1) && at_once;
}

// --- 3. sizes ---

uint64_t SubgraphCheck::width_of(uint32_t component) const {
  const auto seeds = static_cast<uint64_t>(
      std::count_if(sub_.seed_rows.begin(), sub_.seed_rows.end(),
                    [&](uint32_t row) { return sub_.components[row] == component; }));
  const uint64_t share =
      (options_.width * seeds + sub_.seed_rows.size() - 1) / sub_.seed_rows.size();
  const uint64_t least = std::min(options_.width, options_.seed_width);
  return std::max(share, least);
}

void SubgraphCheck::check_counts() const {
  const bool neighbors = options_.strategy == Strategy::neighbors;
  const uint64_t depth = neighbors ? options_.fanout.size() : options_.depth;
  std::map<std::tuple<uint32_t, uint32_t, NodeType>, uint64_t> counts;
  for (uint32_t row = 0; row < sub_.num_rows(); ++row) {
    if (sub_.hops[row] > 0) ++counts[{sub_.components[row], sub_.hops[row], sub_.type_of(row)}];
    require(sub_.hops[row] <= depth, "row {} is at hop {}, but the depth is {}", row,
            sub_.hops[row], depth);
  }
  if (options_.strategy != Strategy::hgsampling) return;
  for (const auto& [round, count] : counts) {
    const auto& [component, hop, type] = round;
    require(count <= width_of(component), "hop {} has {} instances of {}, but the width is {}", hop,
            count, schema_.at(type).name, width_of(component));
  }
}

// --- 5. edges ---

// All edges into the target by one relation.
void SubgraphCheck::add_expected(uint32_t target, Relation relation,
                                 std::vector<ExpectedEdge>& edges) const {
  const Neighbors neighbors = graph_.incoming(relation, sub_.nodes[target]);
  for (size_t i = 0; i < neighbors.size(); ++i) {
    const auto rows = rows_of(schema_.at(relation).source, neighbors.sources[i], target);
    if (rows.empty() || !visible(neighbors, i, relation, target)) continue;
    const Time own = graph_.time(schema_.at(relation).source, neighbors.sources[i]);
    for (const uint32_t source : rows) {
      const bool same = time_gap(sub_.times[target], sub_.times[source]) == 0;
      if (options_.same_time && own == kNoTime && !same) continue;
      edges.push_back({.relation = relation, .position = neighbors.first + i, .source = source});
    }
  }
}

std::vector<ExpectedEdge> SubgraphCheck::expected_edges(uint32_t target) const {
  std::vector<ExpectedEdge> edges;
  const NodeType type = sub_.type_of(target);
  for (const Relation relation : schema_.incoming(type)) add_expected(target, relation, edges);
  edges.push_back(
      {.relation = self_relation(schema_, type), .position = kSelfEdge, .source = target});
  return edges;
}

void SubgraphCheck::check_edges() const {
  for (uint32_t target = 0; target < sub_.num_rows(); ++target) {
    const std::vector<ExpectedEdge> expected = expected_edges(target);
    const uint64_t first = sub_.edge_offsets[target];
    const uint64_t count = sub_.edge_offsets[target + size_t{1}] - first;
    require(count == expected.size(), "row {} has {} edges, but the graph has {}", target, count,
            expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const uint64_t edge = first + i;
      const ExpectedEdge stored{.relation = sub_.relations[edge],
                                .position = sub_.positions[edge],
                                .source = sub_.sources[edge]};
      require(stored == expected[i],
              "edge {} comes from row {} by relation {} at position {}; the graph has row {}, "
              "relation {}, position {}",
              edge, stored.source, index(stored.relation), stored.position, expected[i].source,
              index(expected[i].relation), expected[i].position);
      require(sub_.gaps[edge] == time_gap(sub_.times[target], sub_.times[stored.source]),
              "edge {} has the wrong gap {}", edge, sub_.gaps[edge]);
    }
  }
}

}  // namespace

void verify_subgraph(const HeteroGraph& graph, const Request& request,
                     const SamplingOptions& options, const Subgraph& subgraph) {
  const SubgraphCheck check(graph, request, options, subgraph);
  check.check_instances();
  check.check_entries();
  check.check_counts();
  check.check_edges();
}

}  // namespace hgt
