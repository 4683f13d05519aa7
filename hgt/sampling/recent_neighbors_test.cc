// SamplingOptions::recent: the latest entries of a list first.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "hgt/sampling/random_test_graph.h"
#include "hgt/sampling/sampled_test_instances.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/subgraph_check.h"
#include "reference/hgsampling_reference.h"

namespace hgt {
namespace {

// One venue with talks in an order that is not that of their times, and authors, who have none.
// Edges of the relation "cites" have no times, those of "knows" have.
TestGraph colloquium(const std::vector<Time>& papers, const std::vector<Time>& acquaintances) {
  return TestGraph(random_test_schema(), [&](GraphBuilder& builder) {
    const Schema& schema = builder.schema();
    const NodeType paper = schema.node_type("paper");
    builder.add_node(paper, {.time = 2009});  // the seed
    for (const Time time : papers) builder.add_node(paper, {.time = time});
    for (NodeId i = 1; i <= papers.size(); ++i) {
      builder.add_edge(schema.relation("paper", "cites", "paper"), {.source = i, .target = 0});
    }
    const NodeType author = schema.node_type("author");
    builder.add_node(author, {});
    for (size_t i = 0; i < acquaintances.size(); ++i) builder.add_node(author, {});
    for (NodeId i = 1; i <= acquaintances.size(); ++i) {
      builder.add_edge(schema.relation("author", "knows", "author"),
                       {.source = i, .target = 0, .time = acquaintances[i - 1]});
      builder.add_edge(schema.relation("author", "writes", "paper"), {.source = i, .target = 0});
    }
  });
}

SamplingOptions recent(uint32_t fanout) {
  return {.strategy = Strategy::neighbors,
          .fanout = {fanout},
          .recent = true,
          .time_bound = TimeBound::none};
}

std::set<NodeId> drawn(const TestGraph& graph, const Seed& seed, const char* type,
                       const SamplingOptions& options) {
  const Subgraph subgraph = sample(*graph, std::vector<Seed>{seed}, options);
  verify_subgraph(*graph, {.seeds = {seed}}, options, subgraph);
  std::set<NodeId> nodes;
  for (const uint32_t row : subgraph.rows(graph.type(type))) {
    if (subgraph.hops[row] > 0) nodes.insert(subgraph.nodes[row]);
  }
  return nodes;
}

using Nodes = std::set<NodeId>;

TEST(RecentNeighbors, AreTheLatestByTheTimesOfTheirNodes) {
  const TestGraph graph = colloquium({2003, 2008, 2001, 2007, 2002}, {});
  const Seed seed{.type = graph.type("paper"), .node = 0};
  EXPECT_EQ(drawn(graph, seed, "paper", recent(1)), (Nodes{2}));
  EXPECT_EQ(drawn(graph, seed, "paper", recent(3)), (Nodes{1, 2, 4}));
  EXPECT_EQ(drawn(graph, seed, "paper", recent(5)), (Nodes{1, 2, 3, 4, 5}));
  EXPECT_EQ(drawn(graph, seed, "paper", recent(0)), (Nodes{1, 2, 3, 4, 5}));
}

TEST(RecentNeighbors, AreTheLatestByTheTimesOfTheirEdgesWhereThoseHaveSome) {
  const TestGraph graph = colloquium({}, {2004, 2009, kNoTime, 2006});
  const Seed seed{.type = graph.type("author"), .node = 0, .time = 2009};
  EXPECT_EQ(drawn(graph, seed, "author", recent(1)), (Nodes{2}));
  EXPECT_EQ(drawn(graph, seed, "author", recent(3)), (Nodes{1, 2, 4})) << "undated ones come last";
}

TEST(RecentNeighbors, OfEqualTimesAreThoseAtTheEndOfTheList) {
  const TestGraph graph = colloquium({2005, 2005, 2004, 2005, 2005}, {});
  const Seed seed{.type = graph.type("paper"), .node = 0};
  EXPECT_EQ(drawn(graph, seed, "paper", recent(2)), (Nodes{4, 5}));
}

TEST(RecentNeighbors, AreChosenAmongThoseThatMayBeSeen) {
  const TestGraph graph = colloquium({2003, 2008, 2001, 2007, 2002}, {2004, 2009, 2008, 2006});
  SamplingOptions options = recent(2);
  options.hidden.edges = {{graph.relation("paper", "cites", "paper"), 2, 0}};
  const Seed paper{.type = graph.type("paper"), .node = 0};
  EXPECT_EQ(drawn(graph, paper, "paper", options), (Nodes{1, 4})) << "2 is hidden";
  options.time_bound = TimeBound::seed;
  const Seed author{.type = graph.type("author"), .node = 0, .time = 2007};
  EXPECT_EQ(drawn(graph, author, "author", options), (Nodes{1, 4})) << "2 and 3 are later";
}

TEST(RecentNeighbors, AreDrawnUniformlyFromListsWithoutTimes) {
  const TestGraph graph = colloquium({}, std::vector<Time>(10, 2003));
  const Seed seed{.type = graph.type("paper"), .node = 0};
  SamplingOptions options = recent(2);
  Nodes met;
  for (options.seed = 0; options.seed < 60; ++options.seed) {
    const Nodes now = drawn(graph, seed, "author", options);
    EXPECT_EQ(now.size(), 2U);
    met.insert(now.begin(), now.end());
  }
  EXPECT_EQ(met.size(), 10U) << "some authors are never drawn";
}

// Without lists that have no times, nothing is left to chance.
TEST(RecentNeighbors, AreThoseOfTheReference) {
  uint64_t instances = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    const TestGraph graph = random_test_graph(i % 20);
    Draws draws(hash(77, i));
    SamplingOptions options = random_test_options(*graph, draws);
    options.strategy = Strategy::neighbors;
    options.recent = true;
    options.time_bound = i % 2 == 0 ? TimeBound::split : TimeBound::none;
    options.hidden.everywhere = {graph.relation("author", "writes", "paper"),
                                 graph.relation("author", "gives", "talk"),
                                 graph.relation("venue", "near", "venue")};
    const Time last = options.time_bound == TimeBound::split ? options.split_end : kLastTestYear;
    const Request request{.seeds = random_test_seeds(*graph, last, draws),
                          .hidden = random_test_edge(*graph, draws)};
    Subgraph subgraph;
    Sampler(*graph, options).sample(request, i, subgraph);
    EXPECT_EQ(sampled_instances(subgraph), neighbors_reference(*graph, request, options, i)) << i;
    instances += subgraph.num_rows();
  }
  EXPECT_GT(instances, 1'000U) << "the test looked at almost nothing";
}

}  // namespace
}  // namespace hgt
