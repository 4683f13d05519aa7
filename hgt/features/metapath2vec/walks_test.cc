#include "hgt/features/metapath2vec/walks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hgt/error.h"
#include "hgt/features/metapath2vec/allowed_entries.h"
#include "hgt/features/metapath2vec/walk_test_graph.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"
#include "hgt/sampling/chi_square_test.h"

namespace hgt {
namespace {

constexpr Time kLastYear = 2012;
constexpr Time kNoLastYear = std::numeric_limits<Time>::max();

// --- the oracle: edges as listed, one by one ---

// The nodes that a step may lead to from a node, with how many edges lead there.
std::map<NodeId, double> edges_from(const ListedGraph& listed,
                                    const std::vector<std::string>& edges, NodeId from,
                                    bool reverse, Time last) {
  std::map<NodeId, double> found;
  for (const ListedEdge& edge : listed.edges) {
    if (std::find(edges.begin(), edges.end(), edge.edge) == edges.end()) continue;
    const NodeId to = reverse ? edge.target : edge.source;
    if ((reverse ? edge.source : edge.target) != from || edge.time > last) continue;
    const bool to_paper = (reverse ? target_type(edge.edge) : source_type(edge.edge)) == "paper";
    if (to_paper && listed.papers[to] > last) continue;
    ++found[to];
  }
  return found;
}

// What is known of each step of author_path.
const std::vector<std::pair<std::vector<std::string>, bool>> kAuthorSteps = {
    {{"writes", "edits"}, true},
    {{"appears_in"}, true},
    {{"appears_in"}, false},
    {{"writes", "edits"}, false}};

Probabilities<NodeId> shares(const std::map<NodeId, double>& edges) {
  double sum = 0;
  for (const auto& [node, number] : edges) sum += number;
  Probabilities<NodeId> result;
  for (const auto& [node, number] : edges) result[node] = number / sum;
  return result;
}

// Compares how often each node followed each other one, step by step.
void expect_honest_steps(const ListedGraph& listed, const Walks& walks, Time last) {
  std::map<std::pair<size_t, NodeId>, Counts<NodeId>> seen;
  for (const auto& walk : all_walks(walks)) {
    for (size_t i = 1; i < walk.size(); ++i) ++seen[{(i - 1) % 4, walk[i - 1].node}][walk[i].node];
    const auto& [edges, reverse] = kAuthorSteps[(walk.size() - 1) % 4];
    if (walk.size() < walks.options().length) {
      EXPECT_TRUE(edges_from(listed, edges, walk.back().node, reverse, last).empty())
          << "the walk ended where it could have gone on";
    }
  }
  size_t compared = 0;
  for (const auto& [place, counts] : seen) {
    const auto& [edges, reverse] = kAuthorSteps[place.first];
    const auto expected = shares(edges_from(listed, edges, place.second, reverse, last));
    const ChiSquare test = chi_square(counts, expected);
    if (test.cells > 1) ++compared;
    EXPECT_LE(test.statistic, test.cells > 1 ? test.limit() : 1e-9)
        << "step " << place.first << " from node " << place.second << ": " << test;
  }
  EXPECT_GT(compared, 15U);
}

class WalksTest : public testing::Test {
 protected:
  HeteroGraph build(const ListedGraph& listed) {
    return build_listed(folder_ / std::to_string(graphs_++), listed);
  }
  TestFolder folder_;
  int graphs_ = 0;
};

TEST_F(WalksTest, EveryEdgeOfAStepIsTakenEquallyOften) {
  const ListedGraph listed = random_listed(12, 1);
  const HeteroGraph graph = build(listed);
  const Walks walks(graph, {author_path(graph.schema())}, {.walks_per_node = 2000, .length = 21});
  expect_honest_steps(listed, walks, kNoLastYear);
}

TEST_F(WalksTest, WithATimeBoundEveryAllowedEdgeIsTakenEquallyOften) {
  const ListedGraph listed = random_listed(24, 2);
  const HeteroGraph graph = build(listed);
  const Walks walks(graph, {author_path(graph.schema())},
                    {.walks_per_node = 2000, .length = 21, .last_time = kLastYear});
  expect_honest_steps(listed, walks, kLastYear);
}

TEST_F(WalksTest, OnAHubEveryAllowedEdgeIsTakenEquallyOften) {
  const ListedGraph listed = random_listed(9000, 3);
  const HeteroGraph graph = build(listed);
  const Walks walks(graph, {venue_path(graph.schema())},
                    {.walks_per_node = 10'000, .length = 2, .last_time = kLastYear});
  const auto allowed = edges_from(listed, {"appears_in"}, 0, false, kLastYear);
  ASSERT_GT(allowed.size(), 1500U);
  Counts<NodeId> seen;
  for (const auto& walk : all_walks(walks)) {
    if (walk[0].node != 0) continue;
    ASSERT_EQ(walk.size(), 2U);
    ++seen[walk[1].node / 32];  // several to a cell
    EXPECT_TRUE(allowed.contains(walk[1].node)) << walk[1].node << " is too late";
  }
  EXPECT_EQ(total(seen), 10'000U);
  Probabilities<NodeId> cells;
  for (const auto& [node, share] : shares(allowed)) cells[node / 32] += share;
  const ChiSquare test = chi_square(seen, cells);
  EXPECT_TRUE(test.agrees()) << test;
  EXPECT_GT(test.cells, 200U);
}

TEST_F(WalksTest, NothingAfterTheLastTimeChangesAnyWalk) {
  const ListedGraph before = random_listed(60, 4);
  ListedGraph reduced = before;
  // Of the edges, those that have a later time; of the papers, the appended ones below.
  std::erase_if(reduced.edges, [](const ListedEdge& edge) { return edge.time > kLastYear; });
  for (Time& time : reduced.papers) time = std::min(time, kLastYear);
  ListedGraph full = before;
  full.papers = reduced.papers;
  Draws draws(5);
  for (NodeId paper = 60; paper < 260; ++paper) {
    full.papers.push_back(kLastYear + 1 + static_cast<Time>(draws.below(3)));
    for (const char* edge : {"writes", "edits", "reads", "writes"}) {
      full.edges.push_back({edge, static_cast<NodeId>(draws.below(full.authors)), paper});
    }
    full.edges.push_back({"appears_in", paper, static_cast<NodeId>(draws.below(full.venues))});
  }
  const HeteroGraph with = build(full);
  const HeteroGraph without = build(reduced);
  const auto walks_on = [](const HeteroGraph& graph, Time last) {
    const Schema& schema = graph.schema();
    return all_walks(Walks(graph, {author_path(schema), venue_path(schema), paper_path(schema)},
                           {.walks_per_node = 20, .length = 40, .last_time = last}));
  };
  const auto expected = walks_on(without, kNoLastYear);
  EXPECT_EQ(walks_on(with, kLastYear), expected);
  EXPECT_EQ(walks_on(without, kLastYear), expected);
  EXPECT_NE(walks_on(with, kNoLastYear), expected) << "the later papers are not in the graph";
}

TEST_F(WalksTest, AWalkIsAFunctionOfSeedAndNumber) {
  const HeteroGraph graph = build(random_listed(40, 6));
  const auto walks_of = [&](uint64_t seed) {
    return Walks(graph, {author_path(graph.schema())}, {.walks_per_node = 5, .seed = seed});
  };
  const auto all = all_walks(walks_of(7));
  const Walks again = walks_of(7);
  std::vector<WalkNode> nodes(3);
  for (uint64_t i = again.size(); i-- > 0;) {
    again.walk(i, nodes);
    EXPECT_EQ(nodes, all[i]);
  }
  EXPECT_NE(all_walks(walks_of(8)), all);
}

TEST_F(WalksTest, TwoWalksOfOneNodeAreDifferent) {
  const HeteroGraph graph = build(random_listed(400, 6));
  const Walks walks(graph, {venue_path(graph.schema())}, {.walks_per_node = 50, .length = 9});
  std::map<std::vector<NodeId>, int> seen;
  for (const auto& walk : all_walks(walks)) {
    std::vector<NodeId> nodes;
    for (const WalkNode& node : walk) nodes.push_back(node.node);
    EXPECT_EQ(seen[nodes]++, 0);
  }
}

TEST_F(WalksTest, EveryNodeThatIsNotTooLateStartsTheSameNumberInShuffledOrder) {
  const ListedGraph listed = random_listed(300, 8);
  const HeteroGraph graph = build(listed);
  const Schema& schema = graph.schema();
  const Walks walks(graph, {paper_path(schema), venue_path(schema)},
                    {.walks_per_node = 3, .length = 5, .last_time = kLastYear});
  std::map<std::pair<uint32_t, NodeId>, int> starts;
  std::vector<NodeId> papers;
  for (const auto& walk : all_walks(walks)) {
    ++starts[{index(walk[0].type), walk[0].node}];
    if (walk[0].type == schema.node_type("paper")) papers.push_back(walk[0].node);
  }
  for (const auto& [node, times] : starts) EXPECT_EQ(times, 3) << node.second;
  const auto early = std::count_if(listed.papers.begin(), listed.papers.end(),
                                   [](Time time) { return time <= kLastYear; });
  EXPECT_EQ(starts.size(), static_cast<size_t>(early) + listed.venues);
  EXPECT_FALSE(starts.contains({index(schema.node_type("author")), 0}));
  size_t ascents = 0;
  for (size_t i = 1; i < papers.size(); ++i) ascents += papers[i - 1] < papers[i] ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(ascents) / static_cast<double>(papers.size()), 0.5, 0.1);
}

TEST_F(WalksTest, EveryStepFollowsARelationOfItsPath) {
  const ListedGraph listed = random_listed(100, 9);
  const HeteroGraph graph = build(listed);
  const Schema& schema = graph.schema();
  const WalkPath path = paper_path(schema);
  const Walks walks(graph, {path}, {.walks_per_node = 4, .length = 30, .last_time = kLastYear});
  EXPECT_EQ(walks.types().size(), 2U);
  size_t full = 0;
  for (const auto& walk : all_walks(walks)) {
    ASSERT_LE(walk.size(), 30U);
    full += walk.size() == 30 ? 1 : 0;
    for (size_t i = 1; i < walk.size(); ++i) {
      bool found = false;
      for (const Relation relation : path.steps[(i - 1) % 2]) {
        EXPECT_EQ(schema.at(relation).source, walk[i].type);
        const auto sources = graph.incoming(relation, walk[i - 1].node).sources;
        found = found || std::find(sources.begin(), sources.end(), walk[i].node) != sources.end();
      }
      EXPECT_TRUE(found) << "no edge from " << walk[i - 1].node << " to " << walk[i].node;
      EXPECT_LE(graph.time(walk[i].type, walk[i].node), kLastYear);
    }
  }
  EXPECT_GT(full, walks.size() / 2);
}

TEST_F(WalksTest, TheOrderOfTheRelationsOfAStepDoesNotMatter) {
  const HeteroGraph graph = build(random_listed(50, 10));
  WalkPath path = author_path(graph.schema());
  const auto all = all_walks(Walks(graph, {path}, {.length = 10}));
  for (auto& step : path.steps) std::reverse(step.begin(), step.end());
  EXPECT_EQ(all_walks(Walks(graph, {path}, {.length = 10})), all);
}

TEST_F(WalksTest, ProgressIsReportedAndMayInterrupt) {
  const HeteroGraph graph = build(random_listed(50, 10));
  std::vector<Progress> reports;
  const WalkOptions options{.last_time = kLastYear};
  const Walks walks(graph, {author_path(graph.schema())}, options,
                    [&](const Progress& progress) { reports.push_back(progress); });
  ASSERT_FALSE(reports.empty());
  EXPECT_TRUE(reports.back().finished);
  EXPECT_THROW(Walks(graph, {author_path(graph.schema())}, options,
                     [](const Progress&) { throw Interrupted(); }),
               Interrupted);
}

TEST_F(WalksTest, BadPathsAndOptionsAreRefused) {
  const HeteroGraph graph = build(random_listed(20, 11));
  const Schema& schema = graph.schema();
  const WalkPath good = author_path(schema);
  const auto error = [&](const std::vector<WalkPath>& paths, const WalkOptions& options = {}) {
    return error_of([&] { Walks(graph, paths, options); });
  };
  EXPECT_EQ(error({good}), "");
  EXPECT_TRUE(contains(error({}), "no path"));
  EXPECT_TRUE(contains(error({{.type = good.type}}), "the path from author has no steps"));
  WalkPath path = good;
  path.steps[2].clear();
  EXPECT_TRUE(contains(error({path}), "step 3 of the path from author has no relation"));
  path = good;
  path.steps.pop_back();
  EXPECT_TRUE(contains(error({path}), "ends at paper; its last step must return to author"));
  path = good;
  std::swap(path.steps[1], path.steps[2]);
  EXPECT_TRUE(contains(error({path}), "step 2 of the path from author takes"));
  path = good;
  path.steps[3].push_back(path.steps[3][0]);
  EXPECT_TRUE(contains(error({path}), "twice"));
  path = good;
  path.steps[0].push_back(path.steps[1][0]);
  EXPECT_TRUE(contains(error({path}), "has both paper -rev_writes-> author and")) << error({path});
  path.steps[0] = {Relation{999}};
  EXPECT_TRUE(contains(error({path}), "relation number 999"));
  path = good;
  path.type = NodeType{77};
  EXPECT_TRUE(contains(error({path}), "node type number 77"));
  EXPECT_TRUE(contains(error({good}, {.walks_per_node = 0}), "walks_per_node is 0"));
  EXPECT_TRUE(contains(error({good}, {.length = 1}), "length is 1"));
  EXPECT_TRUE(contains(error({good}, {.length = 20'000}), "length is 20000"));
}

TEST_F(WalksTest, WithoutANodeToStartAtThereIsAnError) {
  ListedGraph listed = random_listed(20, 12);
  for (Time& time : listed.papers) time = 2000;
  const HeteroGraph graph = build(listed);
  const std::vector<WalkPath> papers = {paper_path(graph.schema())};
  const auto error = error_of([&] { Walks(graph, papers, {.last_time = 1999}); });
  EXPECT_TRUE(contains(error, "no node of type paper can start a walk")) << error;
  EXPECT_EQ(error_of([&] { Walks(graph, papers, {.last_time = 2000}); }), "");
}

TEST_F(WalksTest, ADamagedSourceIsAnErrorAndNoCrash) {
  const HeteroGraph graph = build(random_listed(20, 13));
  const Path file = graph.folder() / "venue" / "incoming_sources.npy";
  std::string bytes = read_bytes(file);
  std::fill(bytes.begin() + 128, bytes.end(), '\xee');
  write_bytes(file, bytes);
  const HeteroGraph damaged = HeteroGraph::open(graph.folder());
  const std::vector<WalkPath> paths = {venue_path(damaged.schema())};
  const auto without = error_of([&] { all_walks(Walks(damaged, paths, {})); });
  EXPECT_TRUE(contains(without, "incoming_sources.npy")) << without;
  const auto with = error_of([&] { Walks(damaged, paths, {.last_time = kLastYear}); });
  EXPECT_TRUE(contains(with, "incoming_sources.npy")) << with;
}

// --- bits ---

TEST(AllowedEntries, AgreeWithAScanOfTheList) {
  for (const uint64_t entries : {1, 63, 64, 511, 512, 513, 5000}) {
    for (const double share : {0.0, 0.02, 0.5, 1.0}) {
      Draws draws(hash(entries, static_cast<uint64_t>(share * 100)));
      std::vector<bool> plain(entries);
      AllowedEntries allowed(entries);
      for (uint64_t i = 0; i < entries; ++i) {
        plain[i] = draws.chance(share);
        if (plain[i]) allowed.allow(i);
      }
      allowed.finish();
      for (int trial = 0; trial < 40; ++trial) {
        const uint64_t begin = trial == 0 ? 0 : draws.below(entries + 1);
        const uint64_t end = trial == 0 ? entries : begin + draws.below(entries - begin + 1);
        std::vector<uint64_t> scanned;
        for (uint64_t i = begin; i < end; ++i) {
          if (plain[i]) scanned.push_back(i);
        }
        ASSERT_EQ(allowed.count(begin, end), scanned.size());
        for (uint64_t i = 0; i < scanned.size(); ++i) {
          ASSERT_EQ(allowed.find(begin, end, i), scanned[i]);
        }
      }
    }
  }
}

TEST(AllowedEntries, WithoutBitsEverythingIsAllowed) {
  const AllowedEntries allowed;
  EXPECT_EQ(allowed.count(10, 25), 15U);
  EXPECT_EQ(allowed.find(10, 25, 3), 13U);
}

}  // namespace
}  // namespace hgt
