#include "hgt/features/metapath2vec/walks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace {

constexpr uint64_t kOrderStream = 1;
constexpr uint64_t kStepStream = 2;
constexpr NodeId kNodesPerReport = 1U << 16U;
constexpr Time kNoBound = std::numeric_limits<Time>::max();

void check_numbers(const Schema& schema, const WalkPath& path) {
  if (index(path.type) >= schema.node_types().size()) {
    throw Error(fmt::format("a walk path starts at node type number {}, but the graph has {} types",
                            index(path.type), schema.node_types().size()));
  }
  for (const auto& step : path.steps) {
    for (const Relation relation : step) {
      if (index(relation) < schema.relations().size()) continue;
      throw Error(fmt::format("a walk path names relation number {}, but the graph has {}",
                              index(relation), schema.relations().size()));
    }
  }
}

// The relations of all paths, each once.
std::vector<std::vector<Relation>> relations_by_target(const Schema& schema,
                                                       std::span<const WalkPath> paths) {
  std::vector<bool> used(schema.relations().size());
  for (const WalkPath& path : paths) {
    for (const auto& step : path.steps) {
      for (const Relation relation : step) used[index(relation)] = true;
    }
  }
  std::vector<std::vector<Relation>> relations(schema.node_types().size());
  for (size_t number = 0; number < used.size(); ++number) {
    const auto relation = static_cast<Relation>(number);
    if (used[number]) relations[index(schema.at(relation).target)].push_back(relation);
  }
  return relations;
}

}  // namespace

// --- construction ---

void check_walk_options(const WalkOptions& options) {
  if (options.walks_per_node == 0) {
    throw Error("walks_per_node is 0: no node would start a walk; give 1 or more");
  }
  if (options.length < 2 || options.length > kLongestWalk) {
    throw Error(
        fmt::format("a walk's length is {} nodes; give 2 to {}", options.length, kLongestWalk));
  }
}

Walks::Walks(HeteroGraph graph, const std::vector<WalkPath>& paths, WalkOptions options,
             const ProgressSink& progress)
    : graph_(std::move(graph)), options_(options) {
  check_walk_options(options_);
  if (paths.empty()) throw Error("there is no path to walk along; give one or more");
  const size_t types = graph_.schema().node_types().size();
  starts_.resize(types);
  allowed_.resize(types);
  for (const WalkPath& path : paths) {
    routes_.push_back(make_route(path));
    for (const Step& step : routes_.back().steps) types_.push_back(step.target);
  }
  std::sort(types_.begin(), types_.end());
  types_.erase(std::unique(types_.begin(), types_.end()), types_.end());
  if (options_.last_time != kNoBound) {
    const auto relations = relations_by_target(graph_.schema(), paths);
    for (const NodeType type : types_) allow_entries(type, relations[index(type)], progress);
    for (const Route& route : routes_) list_starts(route.steps.front().target);
  }
  for (Route& route : routes_) {
    const NodeType type = route.steps.front().target;
    const auto& listed = starts_[index(type)];
    route.starts = listed ? listed->size() : graph_.num_nodes(type);
    route.first_walk = size_;
    size_ += route.starts * options_.walks_per_node;
  }
  if (size_ == 0) {
    throw Error(
        fmt::format("no node of type {} can start a walk; give another path or a later time",
                    graph_.schema().at(paths[0].type).name));
  }
  order_ = Permutation(size_, hash(options_.seed, kOrderStream));
}

Walks::Step Walks::make_step(const WalkPath& path, size_t number) const {
  const Schema& schema = graph_.schema();
  const auto& relations = path.steps[number];
  const std::string& type = schema.at(path.type).name;
  if (relations.empty()) {
    throw Error(fmt::format("step {} of the path from {} has no relation; give one or more",
                            number + 1, type));
  }
  Step step{.target = schema.at(relations[0]).target, .source = schema.at(relations[0]).source};
  std::vector<uint32_t> slots;
  for (const Relation relation : relations) {
    const RelationSpec& spec = schema.at(relation);
    if (spec.target != step.target || spec.source != step.source) {
      throw Error(
          fmt::format("step {} of the path from {} has both {} and {}; all relations of a "
                      "step must have the same source type and the same target type",
                      number + 1, type, schema.describe(relations[0]), schema.describe(relation)));
    }
    slots.push_back(spec.slot);
  }
  std::sort(slots.begin(), slots.end());
  for (const uint32_t slot : slots) {
    if (!step.slots.empty() && slot < step.slots.back().last) {
      throw Error(fmt::format("step {} of the path from {} names a relation twice; name it once",
                              number + 1, type));
    }
    if (step.slots.empty() || slot != step.slots.back().last) step.slots.push_back({slot, slot});
    step.slots.back().last = slot + 1;
  }
  return step;
}

Walks::Route Walks::make_route(const WalkPath& path) const {
  const Schema& schema = graph_.schema();
  check_numbers(schema, path);
  const std::string& type = schema.at(path.type).name;
  if (path.steps.empty()) {
    throw Error(fmt::format("the path from {} has no steps; give one or more", type));
  }
  Route route;
  NodeType at = path.type;
  for (size_t number = 0; number < path.steps.size(); ++number) {
    const Step step = make_step(path, number);
    if (step.target != at) {
      throw Error(fmt::format(
          "step {} of the path from {} takes {}, but starts at {}; relations are followed from "
          "their target to their source",
          number + 1, type, schema.describe(path.steps[number][0]), schema.at(at).name));
    }
    at = step.source;
    route.steps.push_back(step);
  }
  if (at != path.type) {
    throw Error(fmt::format("the path from {} ends at {}; its last step must return to {}", type,
                            schema.at(at).name, type));
  }
  return route;
}

void Walks::list_starts(NodeType type) {
  const auto times = graph_.times(type);
  const auto late = [&](Time time) { return time > options_.last_time; };
  if (std::none_of(times.begin(), times.end(), late)) return;
  auto& nodes = starts_[index(type)].emplace();
  for (NodeId node = 0; node < times.size(); ++node) {
    if (!late(times[node])) nodes.push_back(node);
  }
}

// Keeps bits for the entries of the type, unless none of these relations can be too late.
void Walks::allow_entries(NodeType target, std::span<const Relation> relations,
                          const ProgressSink& progress) {
  const Schema& schema = graph_.schema();
  const auto timed = [&](Relation relation) {
    return schema.at(relation).times || !graph_.times(schema.at(relation).source).empty();
  };
  if (std::none_of(relations.begin(), relations.end(), timed)) return;
  AllowedEntries allowed(graph_.num_entries(target));
  const uint64_t nodes = graph_.num_nodes(target);
  Progress report{.stage = "reading the times around " + schema.at(target).name, .unit = "nodes"};
  for (NodeId node = 0; node < nodes; ++node) {
    for (const Relation relation : relations) allow_list(relation, node, allowed);
    if (node % kNodesPerReport != 0) continue;
    report.count = node;
    report.fraction = static_cast<double>(node) / static_cast<double>(nodes);
    progress(report);
  }
  allowed.finish();
  report.count = nodes;
  report.fraction = 1;
  report.finished = true;
  progress(report);
  allowed_[index(target)] = std::move(allowed);
}

void Walks::allow_list(Relation relation, NodeId node, AllowedEntries& allowed) const {
  const NodeType source = graph_.schema().at(relation).source;
  const Neighbors list = graph_.incoming(relation, node);
  const auto times = graph_.times(source);
  for (size_t i = 0; i < list.size(); ++i) {
    const bool node_late = !times.empty() && times[list.sources[i]] > options_.last_time;
    const bool edge_late = !list.times.empty() && list.times[i] > options_.last_time;
    if (!node_late && !edge_late) allowed.allow(list.first + i);
  }
}

// --- walking ---

void Walks::walk(uint64_t i, std::vector<WalkNode>& nodes) const {
  assert(i < size_);
  const uint64_t place = order_(i);
  const auto after = std::upper_bound(
      routes_.begin(), routes_.end(), place,
      [](uint64_t wanted, const Route& route) { return wanted < route.first_walk; });
  const Route& route = *std::prev(after);
  const NodeType type = route.steps.front().target;
  const auto& listed = starts_[index(type)];
  const auto start = static_cast<NodeId>((place - route.first_walk) % route.starts);
  NodeId node = listed ? (*listed)[start] : start;
  nodes.clear();
  nodes.push_back({type, node});
  Draws draws(hash(options_.seed, kStepStream, i));
  for (size_t at = 0; nodes.size() < options_.length; at = (at + 1) % route.steps.size()) {
    const std::optional<NodeId> reached = next(route.steps[at], node, draws);
    if (!reached) return;
    node = *reached;
    nodes.push_back({route.steps[at].source, node});
  }
}

// Counts what is allowed before it draws: what is not allowed has no part in it.
std::optional<NodeId> Walks::next(const Step& step, NodeId node, Draws& draws) const {
  const AllowedEntries& allowed = allowed_[index(step.target)];
  const auto entries = [&](const Slots& slots) {
    return graph_.incoming_range(step.target, node, slots.first, slots.last);
  };
  const auto count = [&](const ListRange& range) { return allowed.count(range.begin, range.end); };
  uint64_t edges = 0;
  for (const Slots& slots : step.slots) edges += count(entries(slots));
  if (edges == 0) return std::nullopt;
  uint64_t number = draws.below(edges);
  for (const Slots& slots : step.slots) {
    const ListRange range = entries(slots);
    const uint64_t here = count(range);
    if (number >= here) {
      number -= here;
      continue;
    }
    const EdgePosition position = allowed.find(range.begin, range.end, number);
    const NodeId source = graph_.incoming_sources(step.target)[position];
    if (source >= graph_.num_nodes(step.source)) {
      const Relation relation = graph_.schema().incoming(step.target)[slots.first];
      graph_.check_sources(relation, {&source, 1}, {&position, 1});
    }
    return source;
  }
  return std::nullopt;
}

}  // namespace hgt
