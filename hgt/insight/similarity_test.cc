// Similarity against a plain loop over the vectors that it compares.
#include "hgt/insight/similarity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/insight/insight_test_runs.h"

namespace hgt {
namespace {

using Nodes = std::vector<NodeId>;

constexpr RepresentationOptions kQuick = {.samples = 2};

double plain_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(double{a[i]} - b[i], 2);
  return std::sqrt(sum);
}

// All others, nearest first.
std::vector<SimilarNode> plain_nearest(const NodesAtTime& at, NodeId node,
                                       std::span<const float> vector) {
  std::vector<SimilarNode> others;
  for (uint32_t row = 0; row < at.rows.rows(); ++row) {
    if (at.nodes[row] == node) continue;
    const double distance = plain_distance(vector, at.rows.vector(row));
    others.push_back({.node = at.nodes[row],
                      .distance = distance,
                      .similarity = 1 / (1 + distance / at.rows.mean_distance())});
  }
  std::stable_sort(others.begin(), others.end(), [](const SimilarNode& a, const SimilarNode& b) {
    return a.distance < b.distance;
  });
  return others;
}

void expect_equal(const std::vector<SimilarNode>& got, std::vector<SimilarNode> expected,
                  uint64_t top) {
  if (expected.size() > top) expected.resize(top);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].node, expected[i].node) << i;
    EXPECT_NEAR(got[i].distance, expected[i].distance, 1e-9);
    EXPECT_NEAR(got[i].similarity, expected[i].similarity, 1e-9);
    EXPECT_TRUE(got[i].similarity > 0 && got[i].similarity <= 1);
  }
}

// --- nearest ---

TEST(Similarity, FindsTheNearestThatAPlainLoopFindsAndNeverTheNodeItself) {
  const hgt::Run& run = tiny_run();
  Similarity venues(run, type_in(run, "venue"), {.representation = kQuick});
  EXPECT_EQ(venues.num_candidates(), 60U);
  EXPECT_EQ(venues.describe(), "all 60 of type venue");
  const NodesAtTime& at = venues.at(2019);
  ASSERT_GE(at.nodes.size(), 20U);
  for (size_t row = 0; row < at.nodes.size(); row += 7) {
    const NodeId node = at.nodes[row];
    const auto expected = plain_nearest(at, node, at.rows.vector(static_cast<uint32_t>(row)));
    EXPECT_EQ(expected.size(), at.nodes.size() - 1);
    for (const uint64_t top : {uint64_t{0}, uint64_t{1}, uint64_t{5}, uint64_t{1000},
                               std::numeric_limits<uint64_t>::max()}) {
      expect_equal(venues.nearest(node, 2019, top), expected, top);
    }
  }
}

TEST(Similarity, ComparesTheVectorsOfTheRepresentations) {
  const hgt::Run& run = tiny_run();
  const NodeType venue = type_in(run, "venue");
  Similarity venues(run, venue, {.representation = kQuick});
  const NodesAtTime& at = venues.at(2010);
  const std::vector<float> vectors = Representations(run, venue, kQuick).at(2010, at.nodes);
  ASSERT_EQ(vectors.size(), at.nodes.size() * 8);
  for (uint32_t row = 0; row < at.rows.rows(); ++row) {
    const auto got = at.rows.vector(row);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), vectors.begin() + row * 8)) << row;
  }
  EXPECT_EQ(&venues.at(2010), &at);  // made once
  EXPECT_TRUE(std::is_sorted(at.nodes.begin(), at.nodes.end()));
}

TEST(Similarity, ComparesAnyNodeWithTheMostProminentOnes) {
  const hgt::Run& run = tiny_run();
  const NodeType venue = type_in(run, "venue");
  const HeteroGraph& graph = run.task().graph();
  Similarity venues(run, venue, {.among = 6, .representation = kQuick});
  Nodes prominent = most_prominent(graph, venue, Standing::citations, 6);
  const NodeId outside = most_prominent(graph, venue, Standing::citations, 7).back();
  std::sort(prominent.begin(), prominent.end());
  EXPECT_EQ(venues.describe(), "the 6 most cited of 60 nodes of type venue");
  const Time last = graph.schema().time_range->second;
  const NodesAtTime& at = venues.at(last);
  EXPECT_EQ(at.nodes, prominent);
  const std::vector<float> own = Representations(run, venue, kQuick).at(last, Nodes{outside});
  EXPECT_EQ(venues.vector(outside, last), own);
  expect_equal(venues.nearest(outside, last, 4), plain_nearest(at, outside, own), 4);
  EXPECT_EQ(venues.nearest(outside, last, 100).size(), 6U);
  EXPECT_EQ(venues.nearest(prominent[0], last, 100).size(), 5U);
}

TEST(Similarity, ComparesOnlyNodesWithTheLabelsAskedFor) {
  const hgt::Run& run = tiny_run();
  const NodeType venue = type_in(run, "venue");
  const HeteroGraph& graph = run.task().graph();
  const std::vector<LabelCondition> where = {parse_condition(graph, venue, "kind=conference")};
  const auto& classes = graph.schema().at(venue).labels.at(0).classes;
  Nodes conferences;
  for (NodeId node = 0; node < graph.num_nodes(venue); ++node) {
    if (classes[graph.label_classes(venue, 0, node)[0]] == "conference") {
      conferences.push_back(node);
    }
  }
  ASSERT_GT(conferences.size(), 10U);
  const Time last = graph.schema().time_range->second;
  Similarity all(run, venue, {.where = where, .representation = kQuick});
  EXPECT_EQ(all.at(last).nodes, conferences);
  EXPECT_EQ(all.describe(),
            "all " + std::to_string(conferences.size()) + " of type venue with kind=conference");
  // The most cited of the conferences, not the conferences among the most cited.
  Nodes cited = most_prominent(graph, venue, Standing::citations, graph.num_nodes(venue));
  std::erase_if(cited, [&](NodeId node) {
    return !std::binary_search(conferences.begin(), conferences.end(), node);
  });
  cited.resize(7);
  std::sort(cited.begin(), cited.end());
  Similarity some(run, venue, {.where = where, .among = 7, .representation = kQuick});
  EXPECT_EQ(some.at(last).nodes, cited);
  EXPECT_EQ(some.describe(), "the 7 most cited of " + std::to_string(conferences.size()) +
                                 " nodes of type venue with kind=conference");
}

TEST(Similarity, TakesTheStandingThatItIsTold) {
  const hgt::Run& run = tiny_run();
  const NodeType author = type_in(run, "author");
  const Similarity authors(run, author, {.among = 3, .standing = Standing::links});
  EXPECT_EQ(authors.describe(), "the 3 most linked of 321 nodes of type author");
  EXPECT_EQ(Similarity(run, author, {.among = 1000}).num_candidates(), 321U);
}

TEST(Similarity, UsesAnIndexForManyNodesAndCosinesIfToldSo) {
  const hgt::Run& run = tiny_run();
  const NodeType author = type_in(run, "author");
  Similarity by_index(run, author, {.representation = kQuick, .exact_rows = 100});
  Similarity exact(run, author, {.representation = kQuick});
  EXPECT_FALSE(by_index.at(2019).rows.is_exact());
  EXPECT_GE(by_index.at(2019).rows.recall(), 0.9);
  const NodeId node = exact.at(2019).nodes.front();
  EXPECT_EQ(by_index.nearest(node, 2019, 5).size(), 5U);
  EXPECT_NEAR(by_index.nearest(node, 2019, 1)[0].distance, exact.nearest(node, 2019, 1)[0].distance,
              1e-6);
  Similarity cosine(run, author, {.distance = Distance::cosine, .representation = kQuick});
  for (const SimilarNode& other : cosine.nearest(node, 2019, 300)) {
    EXPECT_TRUE(other.distance >= 0 && other.distance <= 2) << other.distance;
    EXPECT_NE(other.node, node);
  }
}

// --- times ---

TEST(Similarity, ComparesThoseThatAreThere) {
  const hgt::Run& run = tiny_run();
  const NodeType venue = type_in(run, "venue");
  Similarity venues(run, venue, {.representation = kQuick});
  EXPECT_TRUE(venues.has_times());
  const std::vector<Time> first = first_times(run.task().graph(), venue);
  bool some_are_missing = false;
  for (const Time time : {1989, 1995, 2000}) {
    Nodes expected;
    for (NodeId node = 0; node < first.size(); ++node) {
      const bool is_there = first[node] <= time;  // kNoTime is less than any
      if (is_there) expected.push_back(node);
      EXPECT_EQ(venues.is_there(node, time), is_there) << node;
      EXPECT_TRUE(venues.is_there(node, kNoTime));
      some_are_missing = some_are_missing || !is_there;
    }
    EXPECT_EQ(venues.at(time).nodes, expected) << time;
  }
  EXPECT_TRUE(some_are_missing);
  const auto late = std::find_if(first.begin(), first.end(), [](Time t) { return t > 2000; });
  ASSERT_NE(late, first.end());
  const auto node = static_cast<NodeId>(late - first.begin());
  EXPECT_EQ(venues.nearest(node, 2000, 3).size(), 3U);  // can be asked for all the same
}

TEST(Similarity, KeepsTheTimesThatWereAskedForLast) {
  const hgt::Run& run = tiny_run();
  Similarity venues(run, type_in(run, "venue"), {.among = 2, .representation = {.samples = 1}});
  const auto is_made = [&](Time time) {
    bool made = false;
    venues.at(time, [&](const Progress&) { made = true; });
    return made;
  };
  EXPECT_TRUE(is_made(2019));
  for (size_t i = 0; i < Similarity::kKeptTimes; ++i) {
    EXPECT_TRUE(is_made(2020 + static_cast<Time>(i)));
    if (i == 0) {
      EXPECT_FALSE(is_made(2019));
    }
  }
  EXPECT_FALSE(is_made(2019)) << "asked for since";
  EXPECT_TRUE(is_made(2020)) << "the oldest";
}

TEST(Similarity, OfEventsKnowsNoOtherTimes) {
  const hgt::Run& run = tiny_run();
  Similarity papers(run, type_in(run, "paper"), {.among = 30, .representation = kQuick});
  EXPECT_FALSE(papers.has_times());
  EXPECT_EQ(papers.at(kNoTime).nodes.size(), 30U);
  EXPECT_EQ(papers.nearest(0, kNoTime, 4).size(), 4U);
  EXPECT_EQ(error_of([&] { papers.at(2010); }),
            "nodes of type paper cannot be asked for at 2010: they have a time of their own");
}

TEST(Similarity, OfOtherNodesNeedsATime) {
  const hgt::Run& run = tiny_run();
  Similarity venues(run, type_in(run, "venue"), {.among = 5, .representation = kQuick});
  for (const auto& error :
       {error_of([&] { venues.at(kNoTime); }), error_of([&] { venues.nearest(0, kNoTime, 3); })}) {
    EXPECT_EQ(error, "give the time at which nodes of type venue are compared");
  }
}

TEST(Similarity, InAGraphWithoutTimesKnowsNone) {
  const TestGraph graph = ratings(false);
  const hgt::Run& run =
      tiny_run({.task = "user:mood", .graph = graph.path(), .adjust = split_at_random});
  Similarity movies(run, type_in(run, "movie"), {.representation = kQuick});
  EXPECT_FALSE(movies.has_times());
  EXPECT_EQ(movies.at(kNoTime).nodes.size(), kMovies);
  EXPECT_EQ(movies.nearest(3, kNoTime, 2).size(), 2U);
  EXPECT_EQ(error_of([&] { movies.at(2010); }),
            "nodes of type movie cannot be asked for at 2010: the graph has no times");
}

TEST(Similarity, RefusesANodeThatIsNone) {
  const hgt::Run& run = tiny_run();
  Similarity venues(run, type_in(run, "venue"), {.among = 5, .representation = kQuick});
  EXPECT_NE(error_of([&] { venues.nearest(60, 2019, 3); }), "");
}

}  // namespace
}  // namespace hgt
