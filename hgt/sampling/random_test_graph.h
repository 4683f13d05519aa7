// For tests of the sampler: graphs that are made for the occasion, and random ones with a bit of
// everything, small enough for verify_subgraph.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"
#include "hgt/random.h"
#include "hgt/sampling/sampling_options.h"

namespace hgt {

// A graph in a temporary folder of its own.
class TestGraph {
 public:
  TestGraph(const Schema& schema, const std::function<void(GraphBuilder&)>& fill) {
    GraphBuilder builder(folder_ / "test.graph", schema);
    fill(builder);
    builder.finish();
    graph_ = HeteroGraph::open(path());
  }

  Path path() const { return folder_ / "test.graph"; }
  const HeteroGraph& operator*() const { return graph_; }
  const HeteroGraph* operator->() const { return &graph_; }
  NodeType type(const char* name) const { return graph_.schema().node_type(name); }
  Relation relation(const char* source, const char* edge, const char* target) const {
    return graph_.schema().relation(source, edge, target);
  }

 private:
  TestFolder folder_;
  HeteroGraph graph_;
};

// Two event types and three plain ones, one of them without a node; relations with and without
// times and weights, two of them symmetric, three that join a type with itself.
inline Schema random_test_schema() {
  Schema schema;
  schema.add_node_type("paper", NodeKind::event);
  schema.add_node_type("author", NodeKind::plain);
  schema.add_node_type("ghost", NodeKind::plain);
  schema.add_node_type("talk", NodeKind::event);
  schema.add_node_type("venue", NodeKind::plain);
  const auto relate = [&](RelationDeclaration declaration) { schema.add_relation(declaration); };
  relate({.source = "author", .edge = "writes", .target = "paper", .weights = true});
  relate({.source = "paper", .edge = "cites", .target = "paper"});
  relate({.source = "paper", .edge = "appears_in", .target = "venue", .times = true});
  relate({.source = "author",
          .edge = "knows",
          .target = "author",
          .symmetric = true,
          .times = true,
          .weights = true});
  relate({.source = "talk", .edge = "about", .target = "paper", .times = true, .weights = true});
  relate({.source = "author", .edge = "gives", .target = "talk"});
  relate({.source = "ghost", .edge = "haunts", .target = "author"});
  relate({.source = "venue", .edge = "near", .target = "venue", .symmetric = true});
  schema.number_relations();
  return schema;
}

constexpr Time kFirstTestYear = 2000;
constexpr Time kLastTestYear = 2009;

inline Time random_test_year(Draws& draws) {
  return kFirstTestYear + static_cast<Time>(draws.below(kLastTestYear - kFirstTestYear + 1));
}

// A third of the ends lie at node 0, a hub. The last node of a type has no edge at all.
inline NodeId random_test_end(uint64_t nodes, Draws& draws) {
  if (nodes == 1 || draws.below(3) == 0) return 0;
  return static_cast<NodeId>(draws.below(nodes - 1));
}

inline void fill_random_test_graph(GraphBuilder& builder, uint64_t seed) {
  Draws draws(hash(seed));
  const Schema& schema = builder.schema();
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    const NodeType type{static_cast<uint16_t>(i)};
    if (schema.at(type).name == "ghost") continue;
    const uint64_t nodes = 1 + draws.below(14);
    for (uint64_t node = 0; node < nodes; ++node) {
      const bool dated = schema.at(type).kind == NodeKind::event && draws.below(4) != 0;
      builder.add_node(type, {.time = dated ? random_test_year(draws) : kNoTime});
    }
  }
  for (size_t i = 0; i < schema.relations().size(); ++i) {
    const Relation relation{static_cast<uint16_t>(i)};
    const RelationSpec& spec = schema.at(relation);
    if (spec.reverse || builder.num_nodes(spec.source) == 0) continue;
    const uint64_t edges = draws.below(30);
    for (uint64_t edge = 0; edge < edges; ++edge) {
      const Edge one{.source = random_test_end(builder.num_nodes(spec.source), draws),
                     .target = random_test_end(builder.num_nodes(spec.target), draws),
                     .time = draws.below(4) == 0 ? kNoTime : random_test_year(draws),
                     .weight = static_cast<float>(draws.unit())};
      const uint64_t copies = draws.below(5) == 0 ? 3 : 1;
      for (uint64_t copy = 0; copy < copies; ++copy) builder.add_edge(relation, one);
    }
  }
}

inline TestGraph random_test_graph(uint64_t seed) {
  return TestGraph(random_test_schema(),
                   [&](GraphBuilder& builder) { fill_random_test_graph(builder, seed); });
}

// Up to five seeds of any types and times, not later than the bound; some are asked for twice.
inline std::vector<Seed> random_test_seeds(const HeteroGraph& graph, Time last, Draws& draws) {
  std::vector<Seed> seeds;
  const uint64_t wanted = draws.below(6);
  for (uint64_t i = 0; i < wanted; ++i) {
    const NodeType type{static_cast<uint16_t>(draws.below(graph.schema().node_types().size()))};
    if (graph.num_nodes(type) == 0) continue;
    const auto node = static_cast<NodeId>(draws.below(graph.num_nodes(type)));
    const Time own = graph.time(type, node);
    const Time given = draws.below(3) == 0 ? kNoTime : std::min(random_test_year(draws), last);
    if (own > last) continue;
    seeds.push_back({.type = type, .node = node, .time = own == kNoTime ? given : kNoTime});
    if (draws.below(4) == 0) seeds.push_back(seeds.front());
  }
  return seeds;
}

// An edge that the graph has, if the node drawn has one.
inline std::vector<HiddenEdge> random_test_edge(const HeteroGraph& graph, Draws& draws) {
  const Relation relation{static_cast<uint16_t>(draws.below(graph.schema().relations().size()))};
  const NodeType target_type = graph.schema().at(relation).target;
  if (graph.num_nodes(target_type) == 0) return {};
  const auto target = static_cast<NodeId>(draws.below(graph.num_nodes(target_type)));
  const Neighbors list = graph.incoming(relation, target);
  if (list.size() == 0) return {};
  return {
      {.relation = relation, .source = list.sources[draws.below(list.size())], .target = target}};
}

inline SamplingOptions random_test_options(const HeteroGraph& graph, Draws& draws) {
  SamplingOptions options;
  options.strategy = Strategy(draws.below(3));
  options.width = static_cast<uint32_t>(1 + draws.below(6));
  options.depth = static_cast<uint32_t>(draws.below(5));
  options.neighbor_cap = std::array{0U, 1U, 3U}[draws.below(3)];
  const uint64_t hops = 1 + draws.below(3);
  for (uint64_t hop = 0; hop < hops; ++hop) {
    options.fanout.push_back(static_cast<uint32_t>(draws.below(4)));
  }
  options.time_bound = TimeBound(1 + draws.below(3));  // all but automatic
  if (draws.below(4) != 0) options.split_end = random_test_year(draws);
  const auto some_relation = [&] {
    return Relation(static_cast<uint16_t>(draws.below(graph.schema().relations().size())));
  };
  if (draws.below(4) == 0) options.hidden.everywhere = {some_relation()};
  if (draws.below(3) == 0) options.hidden.at_seeds = {some_relation(), some_relation()};
  if (draws.below(3) == 0) options.hidden.edges = random_test_edge(graph, draws);
  options.seed = draws.bits();
  options.seed_width = static_cast<uint32_t>(draws.below(8));
  options.recent = options.strategy == Strategy::neighbors && draws.below(2) == 0;
  options.same_time = draws.below(3) == 0;
  return options;
}

}  // namespace hgt
