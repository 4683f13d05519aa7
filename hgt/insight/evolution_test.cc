// Histories: times, the plane, and lines that agree with Similarity.
#include "hgt/insight/evolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/insight/insight_test_runs.h"
#include "hgt/random.h"

namespace hgt {
namespace {

using YearList = std::vector<Time>;
using Places = std::vector<std::array<double, 2>>;

// --- times ---

TEST(SpreadTimes, GoFromWhenHalfOfTheNodesAreThereToTheLast) {
  const HeteroGraph graph = HeteroGraph::open(training_graph());
  const Time last = graph.schema().time_range->second;
  for (const char* name : {"venue", "author", "institute"}) {
    const NodeType type = graph.schema().node_type(name);
    std::vector<Time> first = first_times(graph, type);
    std::erase(first, kNoTime);
    for (const uint64_t count : {1U, 2U, 3U, 6U, 1000U}) {
      const YearList times = spread_times(graph, type, count);
      if (first.empty()) {
        EXPECT_TRUE(times.empty()) << name;
        continue;
      }
      ASSERT_FALSE(times.empty()) << name;
      EXPECT_LE(times.size(), count);
      EXPECT_EQ(times.back(), last);
      EXPECT_EQ(std::set<Time>(times.begin(), times.end()).size(), times.size());
      EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
      if (count == 1) continue;
      const auto there = [&](Time time) {
        return std::count_if(first.begin(), first.end(), [&](Time t) { return t <= time; });
      };
      const auto half = static_cast<ptrdiff_t>(first.size() / 2);
      EXPECT_GT(there(times.front()), half);
      EXPECT_LE(there(times.front() - 1), half);
    }
    if (!first.empty()) {
      EXPECT_EQ(spread_times(graph, type, 3).size(), 3U);
    }
    EXPECT_TRUE(spread_times(graph, type, 0).empty());
  }
}

TEST(SpreadTimes, AreNoneWithoutEvents) {
  for (const bool dated : {false, true}) {
    const TestGraph graph = ratings(dated);
    EXPECT_EQ(graph->schema().time_range.has_value(), dated);
    EXPECT_TRUE(spread_times(*graph, graph.type("movie"), 6).empty());
  }
}

// --- the plane ---

double apart(const std::array<double, 2>& a, const std::array<double, 2>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1]);
}

TEST(Plane, KeepsTheDistancesOfPointsThatLieOnOne) {
  constexpr uint64_t kWidth = 10;
  Draws draws(hash(3));
  // Two directions at a right angle in ten dimensions, and a shift.
  std::array<double, kWidth> a{};
  std::array<double, kWidth> b{};
  for (size_t i = 0; i < kWidth; i += 2) {
    a[i] = std::sqrt(0.2);
    b[i + 1] = std::sqrt(0.2);
  }
  Places points;
  std::vector<float> rows;
  for (int i = 0; i < 30; ++i) {
    points.push_back({5 * draws.unit(), draws.unit()});
    for (size_t k = 0; k < kWidth; ++k) {
      rows.push_back(static_cast<float>(3 + points.back()[0] * a[k] + points.back()[1] * b[k]));
    }
  }
  const Places places = project(rows, kWidth);
  ASSERT_EQ(places.size(), points.size());
  double first = 0;
  double second = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    first += places[i][0];
    second += places[i][1];
    for (size_t k = 0; k < i; ++k) {
      EXPECT_NEAR(apart(places[i], places[k]), apart(points[i], points[k]), 1e-5);
    }
  }
  EXPECT_NEAR(first, 0, 1e-9);  // around the middle
  EXPECT_NEAR(second, 0, 1e-9);
}

TEST(Plane, HasTheLargerSpreadFirstAndTheFarthestRowOnThePositiveSide) {
  const Places places = project(std::vector<float>{0, 0, 0, 1, -9, 0, 1, 0, 1, -1}, 2);
  ASSERT_EQ(places.size(), 5U);
  double first = 0;
  double second = 0;
  for (const auto& [x, y] : places) {
    first += x * x;
    second += y * y;
  }
  EXPECT_GT(first, second);
  EXPECT_NEAR(places[2][0], 9 - 1.4, 0.1);  // the mean is -1.4
  for (const size_t axis : {0U, 1U}) {
    const auto far = std::max_element(places.begin(), places.end(), [&](auto& a, auto& b) {
      return std::abs(a[axis]) < std::abs(b[axis]);
    });
    EXPECT_GT((*far)[axis], 0);
  }
}

TEST(Plane, IsALineOrAPointWhereThereIsNoMore) {
  EXPECT_TRUE(project({}, 4).empty());
  const Places one = project(std::vector<float>{1, 2, 3}, 3);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_NEAR(one[0][0], 0, 1e-12);
  EXPECT_EQ(one[0][1], 0);
  const Places line = project(std::vector<float>{1, 5, 2}, 1);
  ASSERT_EQ(line.size(), 3U);
  for (const auto& [x, y] : line) EXPECT_EQ(y, 0);
  EXPECT_NEAR(line[1][0] - line[0][0], 4, 1e-9);
  EXPECT_NEAR(line[1][0], 5 - 8.0 / 3, 1e-9);
  const Places same = project(std::vector<float>{2, 1, 2, 1}, 2);
  for (const auto& place : same) EXPECT_NEAR(std::hypot(place[0], place[1]), 0, 1e-9);
}

// --- lines and map ---

class EvolutionOfVenues : public testing::Test {
 protected:
  Similarity similarity(uint64_t among) const {
    return Similarity(run_, type_in(run_, "venue"),
                      {.among = among, .representation = {.samples = 2}});
  }
  // A venue whose first paper appeared between the two times.
  NodeId newcomer(Time before, Time until) const {
    const YearList first = first_times(run_.task().graph(), type_in(run_, "venue"));
    const auto found =
        std::find_if(first.begin(), first.end(), [&](Time t) { return t > before && t <= until; });
    EXPECT_NE(found, first.end());
    return static_cast<NodeId>(found - first.begin());
  }

  const hgt::Run& run_ = tiny_run();
  const YearList times_ = {1996, 2004, 2019};
};

// Of any two nodes, by the definition; NaN: one of them is not there.
double plain_similarity(Similarity& similarity, NodeId a, NodeId b, Time time) {
  if (!similarity.is_there(a, time) || !similarity.is_there(b, time)) return std::nan("");
  const NodesAtTime& at = similarity.at(time);
  const std::vector<float> one = similarity.vector(a, time);
  const std::vector<float> two = similarity.vector(b, time);
  double squared = 0;
  for (size_t i = 0; i < one.size(); ++i) squared += std::pow(double{one[i]} - two[i], 2);
  return 1 / (1 + std::sqrt(squared) / at.rows.mean_distance());
}

void expect_lines(Similarity& similarity, const Evolution::Focus& focus, const YearList& times) {
  std::set<NodeId> seen = {focus.node};
  std::vector<double> sums;
  for (const EvolutionLine& line : focus.lines) {
    EXPECT_TRUE(seen.insert(line.node).second) << "twice, or the node itself";
    ASSERT_EQ(line.similarity.size(), times.size());
    for (size_t i = 0; i < times.size(); ++i) {
      const double expected = plain_similarity(similarity, focus.node, line.node, times[i]);
      EXPECT_EQ(std::isnan(line.similarity[i]), std::isnan(expected));
      if (!std::isnan(expected)) {
        EXPECT_NEAR(line.similarity[i], expected, 1e-6);
      }
    }
    EXPECT_FALSE(std::all_of(line.similarity.begin(), line.similarity.end(),
                             [](double value) { return std::isnan(value); }));
  }
}

TEST_F(EvolutionOfVenues, HasLinesThatAgreeWithTheirSimilarity) {
  Similarity venues = similarity(20);
  const Evolution evolution = evolve(venues, {.times = times_});
  EXPECT_EQ(evolution.times, times_);
  ASSERT_EQ(evolution.focus.size(), 3U);
  const auto prominent =
      most_prominent(run_.task().graph(), type_in(run_, "venue"), Standing::citations, 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(evolution.focus[i].node, prominent[i]);
    EXPECT_EQ(evolution.focus[i].lines.size(), 5U);
    expect_lines(venues, evolution.focus[i], times_);
    const NodeId nearest = venues.nearest(prominent[i], 2019, 1)[0].node;
    const Evolution last = evolve(venues, {.focus = {prominent[i]}, .times = {2019}, .lines = 1});
    EXPECT_EQ(last.focus[0].lines[0].node, nearest);
  }
}

TEST_F(EvolutionOfVenues, HasGapsWhereOneOfTheTwoIsNotThereYet) {
  Similarity venues = similarity(0);
  const NodeId late = newcomer(1996, 2004);
  const Evolution evolution = evolve(venues, {.focus = {late}, .times = times_, .lines = 3});
  ASSERT_EQ(evolution.focus.size(), 1U);
  expect_lines(venues, evolution.focus[0], times_);
  ASSERT_EQ(evolution.focus[0].lines.size(), 3U);
  for (const EvolutionLine& line : evolution.focus[0].lines) {
    EXPECT_TRUE(std::isnan(line.similarity[0]));
    EXPECT_FALSE(std::isnan(line.similarity[2]));
  }
  const NodeId later = newcomer(2004, 2019);
  const Evolution none = evolve(venues, {.focus = {later}, .times = {1996, 2004}});
  EXPECT_TRUE(none.focus[0].lines.empty());
}

TEST_F(EvolutionOfVenues, FollowsANodeThatIsNotAmongThoseCompared) {
  Similarity venues = similarity(6);
  const NodeId outside =
      most_prominent(run_.task().graph(), type_in(run_, "venue"), Standing::citations, 8).back();
  const Evolution evolution = evolve(venues, {.focus = {outside}, .times = {2019}, .lines = 4});
  EXPECT_EQ(evolution.focus[0].lines.size(), 4U);
  expect_lines(venues, evolution.focus[0], {2019});
  ASSERT_EQ(evolution.map[0].size(), 7U);
  EXPECT_EQ(evolution.map[0].back().node, outside);
  const Evolution both = evolve(
      venues, {.focus = {outside, venues.at(2019).nodes[0], outside}, .times = {2019}, .lines = 1});
  EXPECT_EQ(both.map[0].size(), 7U) << "a node is on the map twice";
}

TEST_F(EvolutionOfVenues, PutsANodeOutsideOnTheMapOnceItIsThere) {
  Similarity venues = similarity(6);
  const NodeId late = newcomer(1996, 2019);
  const Evolution evolution = evolve(venues, {.focus = {late}, .times = {1996, 2019}, .lines = 1});
  const auto is_late = [&](const auto& point) { return point.node == late; };
  EXPECT_TRUE(std::ranges::none_of(evolution.map[0], is_late));
  EXPECT_EQ(std::ranges::count_if(evolution.map[1], is_late), 1);
}

TEST_F(EvolutionOfVenues, PutsThoseThatAreThereOnOnePlane) {
  Similarity venues = similarity(0);
  const Evolution evolution = evolve(venues, {.times = times_, .lines = 1});
  ASSERT_EQ(evolution.map.size(), 3U);
  EXPECT_LT(evolution.map[0].size(), evolution.map[2].size());
  std::vector<float> rows;
  for (const Time time : times_) {
    const NodesAtTime& at = venues.at(time);
    for (uint32_t row = 0; row < at.rows.rows(); ++row) {
      const auto vector = at.rows.vector(row);
      rows.insert(rows.end(), vector.begin(), vector.end());
    }
  }
  const Places places = project(rows, 8);
  size_t next = 0;
  for (size_t i = 0; i < 3; ++i) {
    const NodesAtTime& at = venues.at(times_[i]);
    ASSERT_EQ(evolution.map[i].size(), at.nodes.size());
    for (size_t k = 0; k < at.nodes.size(); ++k) {
      EXPECT_EQ(evolution.map[i][k].node, at.nodes[k]);
      EXPECT_EQ(evolution.map[i][k].place, places[next++]);
    }
  }
}

TEST_F(EvolutionOfVenues, SpreadsItsTimesIfNoneAreGiven) {
  Similarity venues = similarity(5);
  const Evolution evolution = evolve(venues, {.lines = 1});
  EXPECT_EQ(evolution.times, spread_times(run_.task().graph(), type_in(run_, "venue"), 6));
}

TEST_F(EvolutionOfVenues, NeedsNodesThatCanBeAskedForAtATime) {
  Similarity papers(run_, type_in(run_, "paper"), {.among = 5, .representation = {.samples = 1}});
  const std::string error = error_of([&] { evolve(papers, {.times = {2010}}); });
  EXPECT_TRUE(contains(error, "they have a time of their own")) << error;
  const TestGraph graph = ratings(true);
  const hgt::Run& run =
      tiny_run({.task = "user:mood", .graph = graph.path(), .adjust = split_at_random});
  Similarity movies(run, type_in(run, "movie"), {.representation = {.samples = 1}});
  EXPECT_EQ(error_of([&] { evolve(movies, {}); }),
            "nodes without any dated neighbor have no history");
  EXPECT_EQ(evolve(movies, {.times = {2015}}).map[0].size(), kMovies);
}

}  // namespace
}  // namespace hgt
