// The edges among hubs and others, whose lists are read or searched: see hub_test_graph.h.
#include "hgt/sampling/adjacency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/hub_test_graph.h"
#include "hgt/sampling/sampled_test_instances.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/subgraph_check.h"

namespace hgt {
namespace {

class HubAdjacency : public testing::Test {
 protected:
  static void SetUpTestSuite() { graph_.reset(new TestGraph(hub_test_graph())); }
  static void TearDownTestSuite() { graph_.reset(); }

  const HeteroGraph& graph() const { return **graph_; }
  NodeType type(const char* name) const { return graph_->type(name); }
  void add_seeds(const char* name, NodeId first, NodeId last, Time time = kNoTime) {
    for (NodeId node = first; node < last; ++node) {
      const Time own = graph().time(type(name), node);
      request_.seeds.push_back(
          {.type = type(name), .node = node, .time = own == kNoTime ? time : own});
    }
  }

  // Edges from one node to another in the sub-graph of the seeds alone, which is verified.
  uint64_t edges(Relation relation, NodeId source, NodeId target) const {
    const Subgraph subgraph = connected({.depth = 0});
    uint64_t count = 0;
    for (const uint32_t row :
         rows_of_node(subgraph, graph().schema().at(relation).target, target)) {
      for (const uint64_t edge : subgraph.incoming(row)) {
        count +=
            subgraph.relations[edge] == relation && subgraph.nodes[subgraph.sources[edge]] == source
                ? 1
                : 0;
      }
    }
    return count;
  }
  Subgraph connected(const SamplingOptions& options) const {
    Subgraph subgraph;
    Sampler(graph(), options).sample(request_, 3, subgraph);
    verify_subgraph(graph(), request_, options, subgraph);
    return subgraph;
  }
  Relation relation(const char* source, const char* edge, const char* target) const {
    return graph_->relation(source, edge, target);
  }

  static std::unique_ptr<TestGraph> graph_;
  Request request_;
};
std::unique_ptr<TestGraph> HubAdjacency::graph_;

// A list of 512 entries is read, one of 513 is searched.
TEST_F(HubAdjacency, IsCompleteOnBothSidesOfTheLengthThatIsRead) {
  const Relation knows = relation("author", "knows", "author");
  add_seeds("author", kAtHeavy, kAboveHeavy + 2);
  EXPECT_EQ(graph().incoming(knows, kAtHeavy).size(), kTestHeavy);
  EXPECT_EQ(edges(knows, kAtHeavy, kAtHeavy + 1), kTestHeavy);
  EXPECT_EQ(edges(knows, kAtHeavy + 1, kAtHeavy), kTestHeavy);
  EXPECT_EQ(graph().incoming(knows, kAboveHeavy).size(), kTestHeavy + 1);
  EXPECT_EQ(edges(knows, kAboveHeavy, kAboveHeavy + 1), kTestHeavy + 1);
  EXPECT_EQ(edges(knows, kAboveHeavy + 1, kAboveHeavy), kTestHeavy + 1);
}

TEST_F(HubAdjacency, FindsTheEdgesOfAHubInTheListsOfItsSources) {
  const Relation appears = relation("paper", "appears_in", "venue");
  add_seeds("venue", 0, 3);
  add_seeds("paper", 390, 450);
  EXPECT_EQ(edges(appears, 400, 0), 2U);
  EXPECT_EQ(edges(appears, 400, 1), 1U);
  EXPECT_EQ(edges(appears, 399, 1), 0U);
  EXPECT_EQ(edges(relation("venue", "rev_appears_in", "paper"), 0, 400), 2U);
}

// Few hubs are sought in each other's lists, many are met by reading them.
TEST_F(HubAdjacency, JoinsFewHubsAndMany) {
  const Relation knows = relation("author", "knows", "author");
  for (const NodeId hubs : {2U, 17U, 18U, kTestHubs}) {
    request_.seeds.clear();
    add_seeds("author", 0, hubs);
    EXPECT_EQ(edges(knows, 0, hubs - 1), 25U) << hubs;
    EXPECT_EQ(edges(knows, hubs - 1, 0), 25U) << hubs;
    EXPECT_EQ(edges(knows, 1, 1), 1U) << hubs;
  }
}

TEST_F(HubAdjacency, JoinsHubsOfDifferentTypes) {
  const Relation reads = relation("author", "reads", "paper");
  const Relation read_by = relation("paper", "rev_reads", "author");
  add_seeds("author", 0, 2);
  add_seeds("author", 30, 31);
  add_seeds("paper", 0, 8);
  EXPECT_EQ(edges(reads, 0, 0), 600U) << "both lists are long";
  EXPECT_EQ(edges(read_by, 0, 0), 600U);
  EXPECT_EQ(edges(reads, 1, 0), 3U);
  EXPECT_EQ(edges(reads, 0, 1), 1U);
  EXPECT_EQ(edges(reads, 30, 0), 2U) << "the author's list is short";
  EXPECT_EQ(edges(read_by, 0, 30), 2U);
  EXPECT_EQ(edges(reads, 0, 5), 2U) << "the paper's list is short";
  EXPECT_EQ(edges(read_by, 5, 0), 2U);
}

TEST_F(HubAdjacency, FindsTheEdgesOfAHubToItself) {
  const Relation cites = relation("paper", "cites", "paper");
  const Relation cited = relation("paper", "rev_cites", "paper");
  add_seeds("paper", 5, 8);
  EXPECT_EQ(edges(cites, 5, 5), 520U) << "long in both directions";
  EXPECT_EQ(edges(cited, 5, 5), 520U);
  EXPECT_EQ(edges(cites, 6, 6), 1U) << "long in one direction";
  EXPECT_EQ(edges(cited, 6, 6), 1U);
  EXPECT_EQ(edges(cites, 7, 6), 2U);
  EXPECT_EQ(edges(cites, 6, 7), 1U);
}

// verify_subgraph looks at every edge.
TEST_F(HubAdjacency, IsCompleteUnderTimeBounds) {
  add_seeds("author", 0, 28, 2003);
  add_seeds("paper", 0, 3, 2003);
  for (const Time last : {2005, 2003, 2002}) {
    std::erase_if(request_.seeds, [&](const Seed& seed) { return seed.time > last; });
    const Subgraph subgraph = connected({.width = 100, .depth = 2, .split_end = last});
    EXPECT_GT(subgraph.num_edges(), 0U);
  }
  request_.seeds.clear();
  add_seeds("author", 0, 5, 2003);
  add_seeds("author", 0, 20, 2006);
  add_seeds("venue", 0, 2, 2003);
  add_seeds("venue", 0, 2);
  const Subgraph subgraph = connected({.width = 100, .depth = 1, .time_bound = TimeBound::seed});
  EXPECT_EQ(*std::max_element(subgraph.components.begin(), subgraph.components.end()), 2U);
}

TEST_F(HubAdjacency, LeavesOutHiddenEdgesOfHubs) {
  const Relation knows = relation("author", "knows", "author");
  const Relation reads = relation("author", "reads", "paper");
  const Relation appears = relation("paper", "appears_in", "venue");
  add_seeds("author", 0, 3);
  add_seeds("paper", 0, 10);
  add_seeds("venue", 0, 2);
  request_.hidden = {{.relation = knows, .source = 1, .target = 0},
                     {.relation = reads, .source = 0, .target = 0},
                     {.relation = appears, .source = 4, .target = 0}};
  EXPECT_EQ(edges(knows, 1, 0), 0U);
  EXPECT_EQ(edges(knows, 0, 1), 0U);
  EXPECT_EQ(edges(knows, 2, 0), 25U);
  EXPECT_EQ(edges(reads, 0, 0), 0U);
  EXPECT_EQ(edges(reads, 1, 0), 3U);
  EXPECT_EQ(edges(appears, 4, 0), 0U);
  EXPECT_EQ(edges(appears, 5, 0), 2U);
  add_seeds("author", 3, kTestHubs);  // and where lists of hubs are read
  EXPECT_EQ(edges(knows, 1, 0), 0U);
  EXPECT_EQ(edges(knows, 0, 1), 0U);
  EXPECT_EQ(edges(knows, 20, 0), 25U);
}

TEST_F(HubAdjacency, IsCompleteWhateverIsHiddenAtSeedsOrEverywhere) {
  add_seeds("author", 0, 20);
  add_seeds("paper", 4, 7);
  for (const Relation relation :
       {relation("author", "knows", "author"), relation("paper", "rev_cites", "paper"),
        relation("venue", "rev_appears_in", "paper")}) {
    connected({.width = 60, .depth = 2, .hidden = {.everywhere = {relation}}});
    connected({.width = 60, .depth = 2, .hidden = {.at_seeds = {relation}}});
  }
}

TEST_F(HubAdjacency, RemembersNothingOfTheHubsOfEarlierBatches) {
  const SamplingOptions options{.width = 30, .depth = 1, .split_end = 2007};
  Sampler reused(graph(), options);
  Subgraph result;
  for (const NodeId first : {0U, 20U, 26U, 3U, 30U, 0U}) {
    request_.seeds.clear();
    add_seeds("author", first, std::min(first + 5, kTestAuthors), 2001);
    add_seeds("venue", first % 3, 3, 2001);
    reused.sample(request_, 0, result);
    verify_subgraph(graph(), request_, options, result);
  }
}

// The same node at several times, many hubs and all kinds of lists at once.
TEST_F(HubAdjacency, IsCompleteForEveryStrategy) {
  add_seeds("author", 0, 3, 2001);
  add_seeds("author", 1, 22, 2004);
  add_seeds("paper", 0, 8, 2002);
  for (const Strategy strategy : {Strategy::hgsampling, Strategy::neighbors}) {
    for (const uint32_t cap : {0U, 5U}) {
      connected({.strategy = strategy,
                 .width = 150,
                 .depth = 2,
                 .neighbor_cap = cap,
                 .fanout = {cap * 4, 3}});
    }
  }
  request_.seeds.resize(4);
  connected({.strategy = Strategy::full, .depth = 1});
}

}  // namespace
}  // namespace hgt
