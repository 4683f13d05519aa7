#include "hgt/features/neighbor_mean.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "hgt/features/titled_test_graph.h"
#include "hgt/graph/feature_writer.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

constexpr NodeId kPapers = 5;

// Papers of 2010, 2012, 2018, no year and 2014, with features.
void add_featured_papers(GraphBuilder& builder) {
  add_titled_papers(builder, {{"a", 2010}, {"b", 2012}, {"c", 2018}, {"d"}, {"e", 2014}});
  const NodeType paper = builder.schema().node_type("paper");
  builder.declare_features(
      paper, {.width = 2, .type = FeatureType::float32, .origin = "test", .missing = 0});
  const FeatureRows rows = {{1, 2}, {3, 4}, {100, 100}, {5, 0}, {7, 7}};
  for (NodeId i = 0; i < kPapers; ++i) builder.set_features(paper, i, rows[i]);
}

class NeighborMeanTest : public testing::Test {
 protected:
  struct Link {
    const char* edge;
    NodeId author;
    NodeId paper;
    Time time = kNoTime;
  };
  static TestGraph graph_with(const std::vector<Link>& links) {
    return TestGraph(titled_schema(), [&](GraphBuilder& builder) {
      add_featured_papers(builder);
      for (const Link& link : links) {
        builder.add_edge(builder.schema().relation("author", link.edge, "paper"),
                         {.source = link.author, .target = link.paper, .time = link.time});
      }
    });
  }
  static FeatureRows means(const HeteroGraph& graph, const std::vector<std::string>& via = {},
                           Time until = 2014) {
    FeatureStep step{.types = {"author"}};
    step.mean_of = "paper";
    step.via = via;
    Reach reach = reach_of(step, graph);
    reach.until = until;
    NeighborMean source(graph, usable_relations(step, graph.schema(), reach), reach);
    return rows_of(source, kTitledAuthors);
  }
};

TEST_F(NeighborMeanTest, EachNeighborCountsOnce) {
  const TestGraph graph = graph_with({{"writes", 0, 0},
                                      {"writes", 0, 0},
                                      {"edits", 0, 0, 2011},
                                      {"edits", 0, 0, 2012},
                                      {"writes", 0, 1},
                                      {"writes", 1, 3},
                                      {"writes", 1, 4},
                                      {"edits", 2, 1}});
  const FeatureRows rows = means(*graph);
  EXPECT_EQ(rows[0], (std::vector<float>{2, 3}));
  EXPECT_EQ(rows[1], (std::vector<float>{6, 3.5F})) << "no year is no late year; 2014 is not late";
  EXPECT_EQ(rows[2], (std::vector<float>{3, 4}));
  for (NodeId author = 3; author < kTitledAuthors; ++author) EXPECT_TRUE(rows[author].empty());
}

TEST_F(NeighborMeanTest, LateNeighborsAndLateEdgesDoNotCount) {
  const TestGraph graph = graph_with({{"writes", 0, 1},
                                      {"writes", 0, 2},
                                      {"writes", 1, 2},
                                      {"edits", 2, 0, 2015},
                                      {"edits", 2, 1, 2014},
                                      {"edits", 3, 0, 2018},
                                      {"edits", 4, 0, 2018},
                                      {"edits", 4, 0, 2013}});
  const FeatureRows rows = means(*graph);
  EXPECT_EQ(rows[0], (std::vector<float>{3, 4}));
  EXPECT_TRUE(rows[1].empty()) << "all it wrote is late";
  EXPECT_EQ(rows[2], (std::vector<float>{3, 4})) << "one of two edges is late";
  EXPECT_TRUE(rows[3].empty()) << "the paper is early, the edge is not";
  EXPECT_EQ(rows[4], (std::vector<float>{1, 2})) << "one of two edges to it is early";
  const FeatureRows unbounded = means(*graph, {}, std::numeric_limits<Time>::max());
  EXPECT_EQ(unbounded[0], (std::vector<float>{51.5F, 52}));
  EXPECT_EQ(unbounded[3], (std::vector<float>{1, 2}));
}

TEST_F(NeighborMeanTest, LaterPapersChangeNoMean) {
  const std::vector<Link> early = {{"writes", 0, 0}, {"edits", 0, 4, 2014}, {"writes", 1, 3}};
  auto all = early;
  for (NodeId author = 0; author < kTitledAuthors; ++author) {
    all.push_back({"writes", author, 2});
    all.push_back({"edits", author, 1, 2015});
  }
  EXPECT_EQ(means(*graph_with(all)), means(*graph_with(early)));
}

TEST_F(NeighborMeanTest, NeighborsWithoutFeaturesDoNotCount) {
  const TestGraph graph =
      graph_with({{"writes", 0, 0}, {"writes", 0, 1}, {"writes", 1, 1}, {"writes", 2, 4}});
  const FeatureLock lock(graph.path());
  FeatureSetWriter set(lock, {.name = "made"});
  FeatureWriter writer(set, "paper", {.width = 1, .key = "k"});
  writer.append(std::vector<float>{8, 0, 0, 0, 0}, {false, true, false, false, false});
  ASSERT_TRUE(writer.finish().flagged);
  const FeatureRows rows = means(set.graph());
  EXPECT_EQ(rows[0], std::vector<float>{8}) << "and the flag is no feature of authors";
  EXPECT_TRUE(rows[1].empty());
  EXPECT_EQ(rows[2], std::vector<float>{0}) << "zero, but there";
}

TEST_F(NeighborMeanTest, GoesByTheEdgesItIsTold) {
  const TestGraph graph = graph_with({{"writes", 0, 0}, {"edits", 0, 1}, {"edits", 1, 1}});
  EXPECT_EQ(means(*graph, {"writes"})[0], (std::vector<float>{1, 2}));
  EXPECT_TRUE(means(*graph, {"writes"})[1].empty());
  EXPECT_EQ(means(*graph, {"rev_edits"})[0], (std::vector<float>{3, 4})) << "either direction";
  EXPECT_EQ(means(*graph, {"writes", "edits"}), means(*graph));
  EXPECT_EQ(error_of([&] { means(*graph, {"appears_in"}); }),
            "no edges of type appears_in lead from paper to author");
}

TEST_F(NeighborMeanTest, WantsNeighborsWithFeatures) {
  const TestGraph graph = titled_graph({{"a", 2010}});
  const std::string error = error_of([&] { means(*graph); });
  EXPECT_TRUE(contains(error, "nodes of type paper have no features")) << error;
  EXPECT_TRUE(contains(error, "hgt features GRAPH --type paper")) << error;
}

TEST_F(NeighborMeanTest, ReadsRowsFromAnyNodeOn) {
  const TestGraph graph = graph_with({{"writes", 4, 0}});
  const Reach reach{.hidden = std::vector<bool>(graph->schema().relations().size())};
  NeighborMean source(*graph, {graph.relation("paper", "rev_writes", "author")}, reach);
  std::vector<float> rows(4, 9);
  std::vector<bool> missing(2);
  source.read(3, rows, missing);
  EXPECT_EQ(missing, (std::vector<bool>{true, false}));
  EXPECT_EQ(rows, (std::vector<float>{0, 0, 1, 2}));
}

}  // namespace
}  // namespace hgt
