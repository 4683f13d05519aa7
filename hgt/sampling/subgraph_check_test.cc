// Whatever is wrong with a sub-graph, verify_subgraph says so.
#include "hgt/sampling/subgraph_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/sampled_test_instances.h"
#include "hgt/sampling/sampler.h"

namespace hgt {
namespace {

// A good sub-graph of the tiny graph (drawn in worked_example_test.cc), to be broken in one place
// at a time: papers 3 and 1 and venue 1 at 2004 are its seeds.
class SubgraphCheckTest : public testing::Test {
 protected:
  SubgraphCheckTest() {
    generate_academic_graph(folder_ / "tiny.graph", {.preset = "tiny"});
    graph_ = HeteroGraph::open(folder_ / "tiny.graph");
    request_.seeds = {{.type = type("paper"), .node = 3},
                      {.type = type("venue"), .node = 1, .time = 2004},
                      {.type = type("paper"), .node = 1}};
    good_ = sample(graph_, request_.seeds, options_);
  }

  NodeType type(const char* name) const { return graph_.schema().node_type(name); }
  Relation relation(const char* source, const char* edge, const char* target) const {
    return graph_.schema().relation(source, edge, target);
  }
  std::string error(const Subgraph& subgraph) const {
    return error_of([&] { verify_subgraph(graph_, request_, options_, subgraph); });
  }
  // Breaks a copy and expects the complaint.
  void refuse(const std::string& complaint, const std::function<void(Subgraph&)>& damage) const {
    Subgraph broken = good_;
    damage(broken);
    const std::string text = error(broken);
    EXPECT_TRUE(contains(text, complaint))
        << "expected '" << complaint << "', got '" << text << "'";
  }
  uint32_t row(const char* name, NodeId node, Time time) const {
    for (const uint32_t each : rows_of_node(good_, type(name), node)) {
      if (good_.times[each] == time) return each;
    }
    ADD_FAILURE() << name << " " << node << "@" << time << " is not in the good sub-graph";
    return 0;
  }
  // An edge of the relation.
  uint64_t edge(Relation relation) const {
    const auto found = std::find(good_.relations.begin(), good_.relations.end(), relation);
    EXPECT_NE(found, good_.relations.end());
    return static_cast<uint64_t>(found - good_.relations.begin());
  }
  static void insert_edge(Subgraph& subgraph, uint64_t at, uint64_t copy_of) {
    const auto insert = [&](auto& column) {
      const auto value = column[copy_of];
      column.insert(column.begin() + static_cast<ptrdiff_t>(at), value);
    };
    insert(subgraph.sources);
    insert(subgraph.relations);
    insert(subgraph.gaps);
    insert(subgraph.positions);
    for (uint64_t& offset : subgraph.edge_offsets) offset += offset > at ? 1 : 0;
  }
  static void erase_edge(Subgraph& subgraph, uint64_t at) {
    const auto erase = [&](auto& column) {
      column.erase(column.begin() + static_cast<ptrdiff_t>(at));
    };
    erase(subgraph.sources);
    erase(subgraph.relations);
    erase(subgraph.gaps);
    erase(subgraph.positions);
    for (uint64_t& offset : subgraph.edge_offsets) offset -= offset > at ? 1 : 0;
  }

  TestFolder folder_;
  HeteroGraph graph_;
  Request request_;
  SamplingOptions options_{.width = 4, .depth = 2, .time_bound = TimeBound::none};
  Subgraph good_;
};

TEST_F(SubgraphCheckTest, AcceptsAGoodSubgraph) {
  EXPECT_EQ(error(good_), "");
  EXPECT_GT(good_.num_rows(), 15U);
}

// --- 1. layout and seeds ---

TEST_F(SubgraphCheckTest, RefusesArraysThatDoNotFitTogether) {
  refuse("type offsets", [](Subgraph& broken) { broken.type_offsets.pop_back(); });
  refuse("type offsets", [](Subgraph& broken) { ++broken.type_offsets.back(); });
  refuse("type offsets", [](Subgraph& broken) { broken.type_offsets.front() = 1; });
  refuse("type offsets", [](Subgraph& broken) { broken.type_offsets[1] = broken.num_rows() + 1; });
  refuse("instance arrays", [](Subgraph& broken) { broken.times.pop_back(); });
  refuse("instance arrays", [](Subgraph& broken) { broken.hops.push_back(1); });
  refuse("instance arrays", [](Subgraph& broken) { broken.components.clear(); });
  refuse("edge offsets", [](Subgraph& broken) { broken.edge_offsets.pop_back(); });
  refuse("edge offsets", [](Subgraph& broken) { ++broken.edge_offsets.back(); });
  refuse("edge offsets", [](Subgraph& broken) { broken.edge_offsets.front() = 1; });
  refuse("edge offsets",
         [](Subgraph& broken) { std::swap(broken.edge_offsets[1], broken.edge_offsets[2]); });
  refuse("edge arrays", [](Subgraph& broken) { broken.relations.pop_back(); });
  refuse("edge arrays", [](Subgraph& broken) { broken.gaps.pop_back(); });
  refuse("edge arrays", [](Subgraph& broken) { broken.positions.pop_back(); });
  refuse("not a node", [](Subgraph& broken) { broken.nodes.back() = 1; });
}

TEST_F(SubgraphCheckTest, RefusesSeedsThatAreNotWhereTheyShouldBe) {
  refuse("seeds were requested", [](Subgraph& broken) { broken.seed_rows.pop_back(); });
  refuse("is not seed",
         [](Subgraph& broken) { std::swap(broken.seed_rows[0], broken.seed_rows[2]); });
  refuse("has row", [](Subgraph& broken) { broken.seed_rows[0] = broken.num_rows(); });
  refuse("is not seed", [&](Subgraph& broken) { broken.times[broken.seed_rows[1]] = 2005; });
  refuse("is not seed", [&](Subgraph& broken) { broken.nodes[broken.seed_rows[1]] = 0; });
}

TEST_F(SubgraphCheckTest, RefusesASeedBehindARowThatIsNone) {
  const uint32_t seed = good_.seed_rows[1];
  ASSERT_EQ(good_.hops[seed + 1], 1U);
  refuse("comes after", [&](Subgraph& broken) {
    std::swap(broken.nodes[seed], broken.nodes[seed + 1]);
    std::swap(broken.times[seed], broken.times[seed + 1]);
    std::swap(broken.hops[seed], broken.hops[seed + 1]);
    ++broken.seed_rows[1];
  });
}

TEST_F(SubgraphCheckTest, RefusesAnInstanceThatIsThereTwice) {
  const uint32_t first = row("author", 2, 2010);
  const uint32_t second = row("author", 0, 2005);
  refuse("same instance", [&](Subgraph& broken) {
    broken.nodes[second] = broken.nodes[first];
    broken.times[second] = broken.times[first];
  });
}

// --- 2. entries ---

TEST_F(SubgraphCheckTest, RefusesWrongHops) {
  refuse("hop 0", [&](Subgraph& broken) { broken.hops[broken.seed_rows[0]] = 1; });
  refuse("hop 0", [&](Subgraph& broken) { broken.hops[row("author", 2, 2010)] = 0; });
  refuse("depth", [&](Subgraph& broken) { broken.hops[row("author", 2, 2010)] = 3; });
  // The institute at 2010 is met through authors at 2010 only, so they cannot come after it.
  const uint32_t institute = row("institute", 0, 2010);
  ASSERT_EQ(good_.hops[institute], 1U);
  refuse("was not reached", [&](Subgraph& broken) {
    for (const uint32_t author : broken.rows(type("author"))) {
      if (broken.times[author] == 2010) broken.hops[author] = 2;
    }
  });
}

TEST_F(SubgraphCheckTest, RefusesWrongTimes) {
  refuse("its node has", [&](Subgraph& broken) { broken.times[row("paper", 0, 2000)] = 2001; });
  refuse("its node has", [&](Subgraph& broken) { broken.times[row("paper", 0, 2000)] = kNoTime; });
  refuse("was not reached", [&](Subgraph& broken) { broken.times[row("author", 2, 2010)] = 2011; });
  refuse("was not reached",
         [&](Subgraph& broken) { broken.times[row("author", 2, 2010)] = kNoTime; });
}

TEST_F(SubgraphCheckTest, RefusesInstancesThatNobodyBrought) {
  // No paper of 2000 leads to venue 0: paper 0 appears in venue 1.
  refuse("was not reached", [&](Subgraph& broken) {
    const uint32_t venue = row("venue", 0, 2005);
    broken.times[venue] = 2000;
  });
  // An author whose only paper was taken away.
  options_.hidden.everywhere = {relation("author", "writes_first", "paper"),
                                relation("author", "writes_last", "paper"),
                                relation("author", "writes_other", "paper")};
  EXPECT_TRUE(contains(error(good_), "was not reached")) << error(good_);
}

// --- 3. sizes ---

TEST_F(SubgraphCheckTest, RefusesMoreInstancesThanTheWidth) {
  options_.width = 3;
  EXPECT_TRUE(contains(error(good_), "the width is 3")) << error(good_);
  options_.width = 4;
  options_.depth = 1;
  EXPECT_TRUE(contains(error(good_), "the depth is 1")) << error(good_);
}

TEST_F(SubgraphCheckTest, RefusesAFullNeighborhoodThatIsNot) {
  options_.strategy = Strategy::full;
  options_.depth = 1;
  const Subgraph full = sample(graph_, request_.seeds, options_);
  EXPECT_EQ(error(full), "");
  SamplingOptions fewer = options_;
  fewer.strategy = Strategy::neighbors;
  fewer.fanout = {1};
  const Subgraph sparse = sample(graph_, request_.seeds, fewer);
  EXPECT_TRUE(contains(error(sparse), "missing")) << error(sparse);
  options_.depth = 2;
  EXPECT_TRUE(contains(error(full), "missing")) << error(full);
}

// --- 4. the bound ---

TEST_F(SubgraphCheckTest, RefusesWhatIsLaterThanTheBound) {
  options_.time_bound = TimeBound::split;
  options_.split_end = 2010;
  EXPECT_EQ(error(good_), "");
  options_.split_end = 2009;
  EXPECT_TRUE(contains(error(good_), "the bound is 2009")) << error(good_);
}

TEST_F(SubgraphCheckTest, RefusesLateEdges) {
  // Stays at the institute began in 1998, 2004 and 2009; the seeds themselves are older than that.
  request_.seeds = {{.type = type("institute"), .node = 0, .time = 1990},
                    {.type = type("author"), .node = 2, .time = 1990}};
  options_.depth = 0;
  const Subgraph subgraph = sample(graph_, request_.seeds, options_);
  EXPECT_EQ(error(subgraph), "");
  EXPECT_EQ(subgraph.num_edges(), 4U);
  options_.time_bound = TimeBound::split;
  options_.split_end = 2009;
  EXPECT_EQ(error(subgraph), "");
  options_.split_end = 2008;
  EXPECT_TRUE(contains(error(subgraph), "edges")) << error(subgraph);
}

TEST_F(SubgraphCheckTest, RefusesWhatIsLaterThanItsSeed) {
  request_.seeds = {{.type = type("paper"), .node = 1}};  // of 2005, cited in 2010
  const Subgraph subgraph = sample(graph_, request_.seeds, options_);
  EXPECT_EQ(error(subgraph), "");
  options_.time_bound = TimeBound::seed;
  EXPECT_TRUE(contains(error(subgraph), "the bound is 2005")) << error(subgraph);
}

TEST_F(SubgraphCheckTest, RefusesSeedsOfTwoTimesInOneComponent) {
  options_.time_bound = TimeBound::seed;
  EXPECT_TRUE(contains(error(good_), "seeds with different times")) << error(good_);
}

TEST_F(SubgraphCheckTest, RefusesTwoComponentsOfOneTime) {
  request_.seeds = {{.type = type("paper"), .node = 2}, {.type = type("paper"), .node = 3}};
  options_ = {.depth = 0, .time_bound = TimeBound::seed};  // both of 2010
  Subgraph subgraph = sample(graph_, request_.seeds, options_);
  EXPECT_EQ(error(subgraph), "");
  subgraph.components[1] = 1;
  EXPECT_TRUE(contains(error(subgraph), "seeds with the same time")) << error(subgraph);
}

TEST_F(SubgraphCheckTest, RefusesAComponentWithoutASeed) {
  options_.time_bound = TimeBound::seed;
  good_ = sample(graph_, request_.seeds, options_);
  EXPECT_EQ(error(good_), "");
  refuse("has no seed", [](Subgraph& broken) { broken.components.back() = 7; });
}

TEST_F(SubgraphCheckTest, RefusesSeedsInAnotherOrderThanAskedFor) {
  std::swap(request_.seeds[0], request_.seeds[2]);
  std::swap(good_.seed_rows[0], good_.seed_rows[2]);
  EXPECT_TRUE(contains(error(good_), "is out of order")) << error(good_);
}

TEST_F(SubgraphCheckTest, RefusesHopsThatFullNeighborhoodsCannotHave) {
  options_ = {
      .strategy = Strategy::full, .depth = 2, .fanout = {0, 0}, .time_bound = TimeBound::none};
  good_ = sample(graph_, request_.seeds, options_);
  EXPECT_EQ(error(good_), "");
  const uint32_t late = row("field", 1, 2005);  // a field of the seed paper 1
  ASSERT_EQ(good_.hops[late], 1U);
  const auto delay = [&](Subgraph& broken) { broken.hops[late] = 2; };
  refuse("right hop", delay);
  options_.strategy = Strategy::neighbors;
  EXPECT_EQ(error(good_), "");
  options_.fanout = {0};
  EXPECT_TRUE(contains(error(good_), "the depth is 1")) << error(good_);
}

// --- 5. edges ---

TEST_F(SubgraphCheckTest, RefusesAnyEdgeThatIsDroppedOrDoubled) {
  for (uint64_t at = 0; at < good_.num_edges(); ++at) {
    refuse("edges, but the graph has", [&](Subgraph& broken) { erase_edge(broken, at); });
    refuse("edges, but the graph has", [&](Subgraph& broken) { insert_edge(broken, at, at); });
  }
}

TEST_F(SubgraphCheckTest, RefusesAnyEdgeThatIsNotAsInTheGraph) {
  for (uint64_t at = 0; at < good_.num_edges(); ++at) {
    refuse("position", [&](Subgraph& broken) { ++broken.positions[at]; });
    refuse("position", [&](Subgraph& broken) { ++broken.sources[at]; });
    refuse("position", [&](Subgraph& broken) { broken.sources[at] = ~0U; });
    refuse("position", [&](Subgraph& broken) {
      broken.relations[at] = Relation(static_cast<uint16_t>(index(broken.relations[at]) + 1));
    });
    refuse("gap", [&](Subgraph& broken) { ++broken.gaps[at]; });
  }
}

TEST_F(SubgraphCheckTest, RefusesEdgesInAnotherOrder) {
  const uint64_t at = edge(relation("paper", "cites", "paper"));
  ASSERT_EQ(good_.relations[at], good_.relations[at + 1]);
  refuse("position", [&](Subgraph& broken) {
    std::swap(broken.sources[at], broken.sources[at + 1]);
    std::swap(broken.gaps[at], broken.gaps[at + 1]);
    std::swap(broken.positions[at], broken.positions[at + 1]);
  });
}

TEST_F(SubgraphCheckTest, RefusesHiddenEdges) {
  const Relation cites = relation("paper", "cites", "paper");
  const Relation cited = relation("paper", "rev_cites", "paper");
  request_.hidden = {{.relation = cites, .source = 3, .target = 1}};
  EXPECT_TRUE(contains(error(good_), "edges, but the graph has")) << error(good_);
  request_.hidden = {{.relation = cited, .source = 1, .target = 3}};
  EXPECT_TRUE(contains(error(good_), "edges, but the graph has")) << error(good_);
  request_.hidden = {};
  options_.hidden.edges = {{.relation = cites, .source = 3, .target = 1}};
  EXPECT_TRUE(contains(error(good_), "edges, but the graph has")) << error(good_);
  options_.hidden = {.at_seeds = {cited}};
  EXPECT_NE(error(good_), "");
  options_.hidden = {.everywhere = {relation("field", "within", "field")}};
  EXPECT_NE(error(good_), "");
}

TEST_F(SubgraphCheckTest, RefusesInstancesOfAnotherComponent) {
  refuse("", [&](Subgraph& broken) { broken.components[row("author", 2, 2010)] = 1; });
  refuse("", [&](Subgraph& broken) { broken.components[broken.seed_rows[0]] = 1; });
}

// The seeds have three times, so one of three shares of the width.
TEST_F(SubgraphCheckTest, RefusesMoreThanTheShareOfASeedTime) {
  options_ = {.width = 6, .seed_width = 4, .depth = 1, .time_bound = TimeBound::seed};
  good_ = sample(graph_, request_.seeds, options_);
  EXPECT_EQ(error(good_), "");
  options_.seed_width = 0;
  EXPECT_TRUE(contains(error(good_), "but the width is 2")) << error(good_);
}

// Drawn at random they are the latest now and then, but not always.
TEST_F(SubgraphCheckTest, RefusesNeighborsThatAreNotTheLatest) {
  uint64_t refused = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    options_ = {
        .strategy = Strategy::neighbors, .fanout = {1}, .time_bound = TimeBound::none, .seed = i};
    good_ = sample(graph_, request_.seeds, options_);
    EXPECT_EQ(error(good_), "");
    options_.recent = true;
    refused += error(good_).empty() ? 0 : 1;
    EXPECT_EQ(error(sample(graph_, request_.seeds, options_)), "");
  }
  EXPECT_GT(refused, 5U);
}

// Venue 0 at 2005 reads its papers of 2005 and 2010, but only that of 2005 reads it. One edge less
// than without the option (docs/sampling.md has the example).
TEST_F(SubgraphCheckTest, RefusesWhatIsReadAtAnotherTimeWhereTimesHaveToAgree) {
  options_ = {.strategy = Strategy::full, .depth = 1};
  request_.seeds = {{.type = type("venue"), .node = 0, .time = 2005}};
  good_ = sample(graph_, request_.seeds, options_);
  EXPECT_EQ(error(good_), "");
  EXPECT_EQ(good_.num_edges(), 9U);
  options_.same_time = true;
  EXPECT_TRUE(contains(error(good_), "edges, but the graph has")) << error(good_);
  good_ = sample(graph_, request_.seeds, options_);
  EXPECT_EQ(error(good_), "");
  EXPECT_EQ(good_.num_edges(), 8U);
  uint64_t read_at_another_time = 0;
  for (uint64_t edge = 0; edge < good_.num_edges(); ++edge) {
    if (good_.gaps[edge] == 0) continue;
    EXPECT_EQ(good_.type_of(good_.sources[edge]), type("paper"));
    ++read_at_another_time;
  }
  EXPECT_EQ(read_at_another_time, 3U);  // two between the papers, one into the venue
}

}  // namespace
}  // namespace hgt
