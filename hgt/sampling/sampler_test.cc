// What a sub-graph holds: instances and their times, edges and their positions, the strategies.
#include "hgt/sampling/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/random_test_graph.h"
#include "hgt/sampling/sampled_test_instances.h"
#include "hgt/sampling/subgraph_check.h"

namespace hgt {
namespace {

// The graph of hgt/academic/tiny_graph.cc; worked_example_test.cc draws it.
class TinySampler : public testing::Test {
 protected:
  TinySampler() {
    generate_academic_graph(folder_ / "tiny.graph", {.preset = "tiny"});
    graph_ = HeteroGraph::open(folder_ / "tiny.graph");
  }

  NodeType type(const char* name) const { return graph_.schema().node_type(name); }
  Seed seed(const char* name, NodeId node, Time time = kNoTime) const {
    return {.type = type(name), .node = node, .time = time};
  }
  // Samples and verifies.
  Subgraph sampled(const std::vector<Seed>& seeds, const SamplingOptions& options) const {
    const Subgraph subgraph = sample(graph_, seeds, options);
    verify_subgraph(graph_, {.seeds = seeds}, options, subgraph);
    return subgraph;
  }

  TestFolder folder_;
  HeteroGraph graph_;
};

// --- instances and times ---

TEST_F(TinySampler, KeepsSeedsFirstInTheOrderAskedForAndEqualOnesOnce) {
  const Subgraph subgraph =
      sampled({seed("venue", 1, 2007), seed("paper", 3), seed("venue", 0), seed("paper", 0, 2000),
               seed("paper", 3, 2010), seed("venue", 1, 2007), seed("venue", 1, 2008)},
              {.width = 2, .depth = 2});
  const uint32_t paper = subgraph.type_offsets[index(type("paper"))];
  const uint32_t venue = subgraph.type_offsets[index(type("venue"))];
  EXPECT_EQ(subgraph.seed_rows,
            (std::vector<uint32_t>{venue, paper, venue + 1, paper + 1, paper, venue, venue + 2}));
  EXPECT_EQ(std::count(subgraph.hops.begin(), subgraph.hops.end(), 0), 5);
  EXPECT_EQ(subgraph.times[venue], 2007);
  EXPECT_EQ(subgraph.times[venue + 1], kNoTime);
  EXPECT_EQ(subgraph.times[paper], 2010);
}

TEST_F(TinySampler, ShowsAPlainNodeOncePerTimeEachWithTheSameNeighbors) {
  const Subgraph subgraph =
      sampled({seed("paper", 1), seed("paper", 2)}, {.strategy = Strategy::full, .depth = 1});
  const std::vector<uint32_t> rows = rows_of_node(subgraph, type("venue"), 0);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ((std::set{subgraph.times[rows[0]], subgraph.times[rows[1]]}), (std::set{2005, 2010}));
  const auto neighbors = [&](uint32_t row) {
    std::vector<std::tuple<Relation, EdgePosition, uint32_t>> edges;
    for (const uint64_t edge : subgraph.incoming(row)) {
      if (subgraph.positions[edge] == kSelfEdge) continue;
      edges.emplace_back(subgraph.relations[edge], subgraph.positions[edge],
                         subgraph.sources[edge]);
    }
    return edges;
  };
  EXPECT_EQ(neighbors(rows[0]).size(), 2U) << "papers 1 and 2";
  EXPECT_EQ(neighbors(rows[0]), neighbors(rows[1]));
}

TEST_F(TinySampler, KeepsTheTimesOfEventNodesOnEveryPath) {
  const Subgraph subgraph = sampled({seed("venue", 0, 2003)}, {.width = 10, .depth = 3});
  const std::vector<Time> years = {2000, 2005, 2010, 2010};
  ASSERT_EQ(subgraph.num_rows(type("paper")), 4U);
  for (const uint32_t row : subgraph.rows(type("paper"))) {
    EXPECT_EQ(subgraph.times[row], years[subgraph.nodes[row]]);
  }
  // The institute is met through authors, authors through papers or the institute.
  for (const uint32_t row : subgraph.rows(type("institute"))) {
    EXPECT_TRUE(std::set({2000, 2005, 2010}).contains(subgraph.times[row]));
  }
}

TEST(Sampler, LetsAnEventNodeWithoutATimeInherit) {
  const TestGraph graph(random_test_schema(), [](GraphBuilder& builder) {
    const Schema& schema = builder.schema();
    builder.add_node(schema.node_type("paper"), {.time = 2004});
    builder.add_node(schema.node_type("paper"), {});
    builder.add_node(schema.node_type("venue"), {});
    const Relation cites = schema.relation("paper", "cites", "paper");
    builder.add_edge(cites, {.source = 0, .target = 1});
    builder.add_edge(schema.relation("paper", "appears_in", "venue"), {.source = 1, .target = 0});
  });
  const NodeType paper = graph.type("paper");
  const NodeType venue = graph.type("venue");
  const std::vector<Seed> seeds = {{.type = paper, .node = 0}};
  const Subgraph subgraph = sample(*graph, seeds, {.width = 5, .depth = 2});
  const std::set<SampledInstance> expected = {
      {paper, 0, 2004, 0}, {paper, 1, 2004, 1}, {venue, 0, 2004, 1}};
  EXPECT_EQ(sampled_instances(subgraph), expected);
  // As a seed it takes the time that is asked for, and gives it on.
  const std::vector<Seed> dated = {{.type = paper, .node = 1, .time = 1999}};
  const std::set<SampledInstance> with_1999 = {{paper, 1, 1999, 0},
                                               {paper, 0, 2004, 1},
                                               {paper, 1, 2004, 2},
                                               {venue, 0, 1999, 1},
                                               {venue, 0, 2004, 2}};
  EXPECT_EQ(sampled_instances(sample(*graph, dated, {.width = 5, .depth = 2})), with_1999);
  // Without any time around, there is none; the gap is then 0.
  const std::vector<Seed> undated = {{.type = venue, .node = 0}};
  const Subgraph timeless = sample(*graph, undated, {.width = 5, .depth = 1});
  EXPECT_EQ(timeless.times, (std::vector<Time>{kNoTime, kNoTime}));
  EXPECT_EQ(timeless.gaps, std::vector<int64_t>(timeless.num_edges(), 0));
}

// --- edges ---

TEST_F(TinySampler, GivesTheGapFromSourceToTarget) {
  const Subgraph subgraph =
      sampled({seed("paper", 0), seed("paper", 2)}, {.strategy = Strategy::full, .depth = 1});
  const Relation cites = graph_.schema().relation("paper", "cites", "paper");
  const uint32_t cited = subgraph.seed_rows[0];
  std::map<NodeId, int64_t> gaps;
  for (const uint64_t edge : subgraph.incoming(cited)) {
    if (subgraph.relations[edge] != cites) continue;
    gaps[subgraph.nodes[subgraph.sources[edge]]] = subgraph.gaps[edge];
  }
  EXPECT_EQ(gaps, (std::map<NodeId, int64_t>{{1, -5}, {2, -10}, {3, -10}}));
}

TEST(Sampler, ComputesGapsThatDoNotFitATime) {
  EXPECT_EQ(time_gap(std::numeric_limits<Time>::max(), kNoTime + 1), 4'294'967'294);
  EXPECT_EQ(time_gap(kNoTime + 1, std::numeric_limits<Time>::max()), -4'294'967'294);
  EXPECT_EQ(time_gap(kNoTime, 2000), 0);
  EXPECT_EQ(time_gap(2000, kNoTime), 0);
}

TEST(Sampler, EndsEveryRowWithItsSelfEdge) {
  const TestGraph graph = random_test_graph(3);
  const std::vector<Seed> seeds = {{.type = graph.type("paper"), .node = 0}};
  const Subgraph subgraph = sample(*graph, seeds, {.width = 4, .depth = 3});
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    for (const uint64_t edge : subgraph.incoming(row)) {
      const bool last = edge + 1 == subgraph.edge_offsets[row + size_t{1}];
      EXPECT_EQ(subgraph.positions[edge] == kSelfEdge, last);
      if (!last) continue;
      EXPECT_EQ(subgraph.sources[edge], row);
      EXPECT_EQ(subgraph.relations[edge],
                self_relation(graph->schema(), type_of_row(subgraph, row)));
      EXPECT_EQ(subgraph.gaps[edge], 0);
    }
  }
}

// A graph by hand whose edges can be told apart by time and weight.
TEST(Sampler, GivesPositionsUnderWhichTimesAndWeightsAreFound) {
  const TestFolder folder;
  build_small_graph(folder / "small.graph");
  const HeteroGraph graph = HeteroGraph::open(folder / "small.graph");
  const NodeType author = graph.schema().node_type("author");
  const std::vector<Seed> seeds = {{.type = author, .node = 1}};
  const Subgraph subgraph = sample(graph, seeds, {.strategy = Strategy::full, .depth = 1});
  const Relation knows = graph.schema().relation("author", "knows", "author");
  std::set<std::tuple<NodeId, Time, float>> found;
  for (const uint64_t edge : subgraph.incoming(subgraph.seed_rows[0])) {
    if (subgraph.relations[edge] != knows) continue;
    const EdgePosition position = subgraph.positions[edge];
    EXPECT_EQ(graph.incoming_sources(author)[position], subgraph.nodes[subgraph.sources[edge]]);
    const Neighbors list = graph.incoming(knows, 1);
    const size_t entry = position - list.first;
    found.emplace(list.sources[entry], list.times[entry], list.weights[entry]);
  }
  const std::set<std::tuple<NodeId, Time, float>> expected = {
      {0, 2018, 1.0F}, {2, 2016, 0.5F}, {1, kNoTime, 3.0F}};
  EXPECT_EQ(found, expected);
}

TEST(Sampler, KeepsRepeatedEdgesApart) {
  const TestFolder folder;
  build_small_graph(folder / "small.graph");
  const HeteroGraph graph = HeteroGraph::open(folder / "small.graph");
  const NodeType paper = graph.schema().node_type("paper");
  const std::vector<Seed> seeds = {{.type = paper, .node = 2}};
  const Subgraph subgraph = sample(graph, seeds, {.strategy = Strategy::full, .depth = 1});
  const Relation writes = graph.schema().relation("author", "writes", "paper");
  std::vector<EdgePosition> positions;
  for (const uint64_t edge : subgraph.incoming(subgraph.seed_rows[0])) {
    if (subgraph.relations[edge] == writes) positions.push_back(subgraph.positions[edge]);
  }
  ASSERT_EQ(positions.size(), 2U) << "Bob wrote it twice";
  EXPECT_EQ(positions[1], positions[0] + 1);
}

// --- strategies ---

using Instance = std::tuple<NodeType, NodeId, Time>;

// Level by level, with nothing hidden and no bound.
std::set<SampledInstance> neighborhood(const HeteroGraph& graph, const std::vector<Seed>& seeds,
                                       uint32_t depth) {
  std::map<Instance, uint32_t> hops;
  std::vector<Instance> level;
  for (const Seed& seed : seeds) {
    const Time own = graph.time(seed.type, seed.node);
    level.emplace_back(seed.type, seed.node, own == kNoTime ? seed.time : own);
    hops.emplace(level.back(), 0);
  }
  for (uint32_t hop = 1; hop <= depth; ++hop) {
    std::vector<Instance> next;
    for (const auto& [type, node, time] : level) {
      for (const Relation relation : graph.schema().incoming(type)) {
        const NodeType source_type = graph.schema().at(relation).source;
        for (const NodeId source : graph.incoming(relation, node).sources) {
          const Time own = graph.time(source_type, source);
          const Instance instance{source_type, source, own == kNoTime ? time : own};
          if (hops.emplace(instance, hop).second) next.push_back(instance);
        }
      }
    }
    level = next;
  }
  std::set<SampledInstance> instances;
  for (const auto& [instance, hop] : hops) {
    const auto& [type, node, time] = instance;
    instances.insert({.type = type, .node = node, .time = time, .hop = hop});
  }
  return instances;
}

TEST(Sampler, TakesTheWholeNeighborhoodWithStrategyFull) {
  for (uint64_t i = 0; i < 10; ++i) {
    const TestGraph graph = random_test_graph(i);
    Draws draws(hash(20, i));
    const auto seeds = random_test_seeds(*graph, kLastTestYear, draws);
    for (uint32_t depth = 0; depth <= 4; ++depth) {
      const SamplingOptions options{.strategy = Strategy::full, .width = 0, .depth = depth};
      EXPECT_EQ(sampled_instances(sample(*graph, seeds, options)),
                neighborhood(*graph, seeds, depth));
    }
  }
}

TEST(Sampler, TakesTheWholeNeighborhoodWithFanOutsOfZero) {
  for (uint64_t i = 0; i < 10; ++i) {
    const TestGraph graph = random_test_graph(i);
    Draws draws(hash(21, i));
    const auto seeds = random_test_seeds(*graph, kLastTestYear, draws);
    const Subgraph full = sample(*graph, seeds, {.strategy = Strategy::full, .depth = 3});
    EXPECT_EQ(sample(*graph, seeds, {.strategy = Strategy::neighbors, .fanout = {0, 0, 0}}), full);
    EXPECT_EQ(sample(*graph, seeds, {.strategy = Strategy::neighbors, .fanout = {99, 99, 99}}),
              full)
        << "no list is so long";
  }
}

TEST(Sampler, DrawsAtMostTheFanOutOfEachList) {
  for (uint64_t i = 0; i < 20; ++i) {
    const TestGraph graph = random_test_graph(i);
    Draws draws(hash(22, i));
    const auto seeds = random_test_seeds(*graph, kLastTestYear, draws);
    const SamplingOptions options{.strategy = Strategy::neighbors, .fanout = {2, 1, 3}, .seed = i};
    const Subgraph subgraph = sample(*graph, seeds, options);
    std::vector<uint64_t> room(options.fanout.size() + 2);  // [hop] entries that may be drawn
    std::vector<uint64_t> count(room.size());
    for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
      const uint32_t hop = subgraph.hops[row];
      ASSERT_LE(hop, options.fanout.size());
      ++count[hop];
      if (hop == options.fanout.size()) continue;
      for (const Relation relation : graph->schema().incoming(type_of_row(subgraph, row))) {
        const uint64_t length = graph->incoming(relation, subgraph.nodes[row]).size();
        room[hop + 1] += std::min<uint64_t>(length, options.fanout[hop]);
      }
    }
    for (size_t hop = 1; hop < room.size(); ++hop) EXPECT_LE(count[hop], room[hop]);
  }
}

// A hundred papers without a time, which lead back to their venue only.
TEST(Sampler, FollowsAnInstanceOnceAndNotAtEveryHop) {
  const TestGraph star(random_test_schema(), [](GraphBuilder& builder) {
    const Schema& schema = builder.schema();
    builder.add_node(schema.node_type("venue"), {});
    for (NodeId paper = 0; paper < 100; ++paper) {
      builder.add_node(schema.node_type("paper"), {});
      builder.add_edge(schema.relation("paper", "appears_in", "venue"), {.source = paper});
    }
  });
  const std::vector<Seed> seeds = {{.type = star.type("venue"), .node = 0, .time = 2000}};
  const SamplingOptions options{.strategy = Strategy::neighbors, .fanout = {3, 3, 3}};
  EXPECT_EQ(sample(*star, seeds, options).num_rows(), 4U);
}

TEST(HgSampling, DrawsAtMostWidthInstancesPerTypeAndStep) {
  const TestGraph graph = random_test_graph(5);
  const std::vector<Seed> seeds = {{.type = graph.type("paper"), .node = 0}};
  for (const uint32_t width : {1U, 2U, 7U}) {
    const Subgraph subgraph = sample(*graph, seeds, {.width = width, .depth = 4});
    std::map<std::pair<NodeType, uint32_t>, uint32_t> counts;
    for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
      ++counts[{type_of_row(subgraph, row), subgraph.hops[row]}];
    }
    uint32_t most = 0;
    for (const auto& [round, count] : counts) most = std::max(most, count);
    EXPECT_EQ(most, width) << "this graph has enough of some type";
  }
}

TEST(HgSampling, TakesOnlyTheSeedsAtDepthZero) {
  const TestGraph graph = random_test_graph(5);
  const std::vector<Seed> seeds = {{.type = graph.type("paper"), .node = 0},
                                   {.type = graph.type("paper"), .node = 1}};
  for (const Strategy strategy : {Strategy::hgsampling, Strategy::full}) {
    const Subgraph subgraph = sample(*graph, seeds, {.strategy = strategy, .depth = 0});
    EXPECT_EQ(subgraph.num_rows(), 2U);
    EXPECT_EQ(subgraph.seed_rows, (std::vector<uint32_t>{0, 1}));
  }
}

}  // namespace
}  // namespace hgt
