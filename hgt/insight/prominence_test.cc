// Standings and first times on graphs that are made by hand.
#include "hgt/insight/prominence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/random_test_graph.h"

namespace hgt {
namespace {

using LinkCounts = std::vector<uint64_t>;

// Five papers (one without a year), three venues, two authors. Papers 1, 2, 3 cite paper 0; paper 2
// cites paper 1. A venue has papers by two edge types, an author is a reader of venues, too.
Schema journal_schema(bool cites) {
  Schema schema;
  schema.add_node_type("venue", NodeKind::plain);
  schema.add_node_type("paper", NodeKind::event);
  schema.add_node_type("author", NodeKind::plain);
  if (cites) schema.add_relation({.source = "paper", .edge = "cites", .target = "paper"});
  schema.add_relation({.source = "paper", .edge = "talk_at", .target = "venue"});
  schema.add_relation({.source = "paper", .edge = "poster_at", .target = "venue"});
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
  schema.add_relation({.source = "author", .edge = "reads", .target = "venue"});
  schema.add_relation({.source = "paper", .edge = "like", .target = "paper", .symmetric = true});
  schema.number_relations();
  return schema;
}

TestGraph journals(bool cites = true) {
  return TestGraph(journal_schema(cites), [&](GraphBuilder& builder) {
    const Schema& schema = builder.schema();
    const auto add_nodes = [&](const char* type, const std::vector<Time>& times) {
      for (const Time time : times) builder.add_node(schema.node_type(type), {.time = time});
    };
    add_nodes("paper", {2001, 2005, 2003, 1999, kNoTime});
    add_nodes("venue", {kNoTime, kNoTime, kNoTime});
    add_nodes("author", {kNoTime, kNoTime});
    const auto add = [&](const char* source, const char* edge, const char* target, NodeId from,
                         NodeId to) {
      builder.add_edge(schema.relation(source, edge, target), {.source = from, .target = to});
    };
    for (const NodeId citing : {1U, 2U, 3U}) {
      if (cites) add("paper", "cites", "paper", citing, 0);
    }
    if (cites) add("paper", "cites", "paper", 2, 1);
    add("paper", "talk_at", "venue", 0, 1);
    add("paper", "poster_at", "venue", 1, 1);
    add("paper", "talk_at", "venue", 3, 0);
    add("paper", "talk_at", "venue", 4, 2);
    add("author", "writes", "paper", 0, 2);
    add("author", "writes", "paper", 0, 1);
    add("author", "reads", "venue", 1, 2);
    add("author", "reads", "venue", 0, 2);
    add("paper", "like", "paper", 3, 4);
  });
}

TEST(Standing, OfEventsIsHowOftenTheyAreCited) {
  const TestGraph graph = journals();
  EXPECT_EQ(natural_standing(graph->schema()), Standing::citations);
  EXPECT_EQ(standings(*graph, graph.type("paper"), Standing::citations),
            (LinkCounts{3, 1, 0, 0, 0}));
}

TEST(Standing, OfOtherNodesIsHowOftenTheirEventsAreCitedByWhicheverEdgeTypes) {
  const TestGraph graph = journals();
  EXPECT_EQ(standings(*graph, graph.type("venue"), Standing::citations), (LinkCounts{0, 4, 0}));
  EXPECT_EQ(standings(*graph, graph.type("author"), Standing::citations), (LinkCounts{1, 0}));
}

TEST(Standing, ByLinksCountsTheEdgesOfAllRelations) {
  const TestGraph graph = journals();
  EXPECT_EQ(standings(*graph, graph.type("venue"), Standing::links), (LinkCounts{1, 2, 3}));
  EXPECT_EQ(standings(*graph, graph.type("author"), Standing::links), (LinkCounts{3, 1}));
  // Cited and citing, venues, authors, likes.
  EXPECT_EQ(standings(*graph, graph.type("paper"), Standing::links), (LinkCounts{4, 4, 3, 3, 2}));
}

TEST(Standing, IsByLinksWhereNothingIsCited) {
  const TestGraph graph = journals(false);  // papers that are alike do not cite one another
  EXPECT_EQ(natural_standing(graph->schema()), Standing::links);
  const std::string error =
      error_of([&] { standings(*graph, graph.type("venue"), Standing::citations); });
  EXPECT_TRUE(contains(error, "the graph has no citations")) << error;
  EXPECT_EQ(standings(*graph, graph.type("venue"), Standing::links), (LinkCounts{1, 2, 3}));
}

TEST(Standing, HasWordsForPeople) {
  EXPECT_EQ(to_string(Standing::citations), "cited");
  EXPECT_EQ(to_string(Standing::links), "linked");
}

TEST(MostProminent, AreTheHighestFirstAndOfEqualsThoseWithLowerNumbers) {
  const TestGraph graph = journals();
  const auto most = [&](const char* type, Standing by, uint64_t count) {
    return most_prominent(*graph, graph.type(type), by, count);
  };
  using Nodes = std::vector<NodeId>;
  EXPECT_EQ(most("paper", Standing::citations, 10), (Nodes{0, 1, 2, 3, 4}));
  EXPECT_EQ(most("venue", Standing::citations, 2), (Nodes{1, 0}));
  EXPECT_EQ(most("venue", Standing::links, 3), (Nodes{2, 1, 0}));
  EXPECT_EQ(most("paper", Standing::links, 3), (Nodes{0, 1, 2}));
  EXPECT_TRUE(most("paper", Standing::links, 0).empty());
}

TEST(MostProminent, CanBeThoseOfSomeNodes) {
  const TestGraph graph = journals();
  using Nodes = std::vector<NodeId>;
  const auto most = [&](uint64_t count, const Nodes& nodes) {
    return most_prominent(*graph, graph.type("venue"), Standing::links, count, nodes);
  };
  EXPECT_EQ(most(1, {0, 1}), (Nodes{1}));
  EXPECT_EQ(most(5, {0, 2}), (Nodes{2, 0}));
  EXPECT_TRUE(most(5, {}).empty());
}

TEST(MostProminent, AgreesWithAFullSortOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const TestGraph graph = random_test_graph(seed);
    for (const char* type : {"paper", "author", "venue", "ghost"}) {
      const LinkCounts counts = standings(*graph, graph.type(type), Standing::citations);
      std::vector<NodeId> order(counts.size());
      for (NodeId node = 0; node < order.size(); ++node) order[node] = node;
      std::stable_sort(order.begin(), order.end(),
                       [&](NodeId a, NodeId b) { return counts[a] > counts[b]; });
      order.resize(std::min<size_t>(4, order.size()));
      EXPECT_EQ(most_prominent(*graph, graph.type(type), Standing::citations, 4), order) << type;
    }
  }
}

TEST(FirstTimes, AreThoseOfTheFirstEventThatHasATime) {
  const TestGraph graph = journals();
  using Times = std::vector<Time>;
  EXPECT_EQ(first_times(*graph, graph.type("venue")), (Times{1999, 2001, kNoTime}));
  EXPECT_EQ(first_times(*graph, graph.type("author")), (Times{2003, kNoTime}));
  EXPECT_EQ(first_times(*graph, graph.type("paper")), (Times{2001, 2005, 2003, 1999, kNoTime}));
}

}  // namespace
}  // namespace hgt
