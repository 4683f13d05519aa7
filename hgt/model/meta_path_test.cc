// Meta paths as they are written, and where they lead.
#include "hgt/message/meta_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/model/random_batch_test.h"
#include "hgt/model/torch.h"

namespace hgt {
namespace {

// Authors write papers that cite papers and appear in venues; an institute is where authors are,
// and nobody leads back from `note`.
const ModelSchema kAcademic = {
    .node_types = {{"paper"}, {"author"}, {"venue"}, {"institute"}, {"note"}},
    .edge_types = {"cites", "rev_cites", "writes", "rev_writes", "first-of", "rev_first-of", "in",
                   "rev_in", "at", "rev_at", "about", "self"},
    .relations = {{0, 0, 0},   // 0 cites
                  {0, 1, 0},   // 1 rev_cites
                  {1, 2, 0},   // 2 author writes paper
                  {0, 3, 1},   // 3
                  {1, 4, 0},   // 4 author first-of paper
                  {0, 5, 1},   // 5
                  {0, 6, 2},   // 6 paper in venue
                  {2, 7, 0},   // 7
                  {1, 8, 3},   // 8 author at institute
                  {3, 9, 1},   // 9
                  {4, 10, 0},  // 10 note about paper
                  {0, 11, 0},
                  {1, 11, 1},
                  {2, 11, 2},
                  {3, 11, 3},
                  {4, 11, 4}}};

using Steps = std::vector<std::vector<size_t>>;

// The relations of every step.
Steps steps_of(const std::string& name) {
  const std::vector<MetaPath> paths = meta_paths({name}, kAcademic);
  EXPECT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].name, name);
  Steps steps;
  for (const auto& step : paths[0].steps) {
    EXPECT_EQ(step.size(), kAcademic.relations.size());
    steps.emplace_back();
    for (size_t relation = 0; relation < step.size(); ++relation) {
      if (step[relation]) steps.back().push_back(relation);
    }
  }
  return steps;
}

std::string refusal(const std::string& name) {
  return error_of([&] { meta_paths({name}, kAcademic); });
}

// --- as they are written ---

TEST(MetaPaths, OfTypesTakeAnyRelationBetweenThemTowardTheTypeThatTheyLeave) {
  EXPECT_EQ(steps_of("paper-paper"), (Steps{{0, 1}}));
  EXPECT_EQ(steps_of("paper-author-paper"), (Steps{{2, 4}, {3, 5}}));
  EXPECT_EQ(steps_of("author-institute-author"), (Steps{{9}, {8}}));
  EXPECT_EQ(steps_of("author-paper-venue-paper-author"), (Steps{{3, 5}, {7}, {6}, {2, 4}}));
  EXPECT_EQ(meta_paths({"author-institute-author"}, kAcademic)[0].type, 1U);
}

TEST(MetaPaths, WithEdgesTakeTheseInEitherDirection) {
  EXPECT_EQ(steps_of("paper-(cites)-paper"), (Steps{{0, 1}}));
  EXPECT_EQ(steps_of("paper-(rev_cites)-paper"), (Steps{{1}}));
  EXPECT_EQ(steps_of("paper-(writes)-author-paper"), (Steps{{2}, {3, 5}}));
  EXPECT_EQ(steps_of("paper-(writes)-author-(first-of)-paper"), (Steps{{2}, {5}}));
  EXPECT_EQ(steps_of("paper-(cites)-paper-(in)-venue-(in)-paper"), (Steps{{0, 1}, {7}, {6}}));
}

TEST(MetaPaths, AreReadInTheirOrder) {
  const auto paths = meta_paths({"venue-paper-venue", "paper-paper"}, kAcademic);
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0].type, 2U);
  EXPECT_EQ(paths[1].type, 0U);
  EXPECT_TRUE(meta_paths({}, kAcademic).empty());
}

TEST(MetaPaths, AreRefusedWithTheWordThatIsWrong) {
  const auto expect = [](const std::string& name, const std::string& part) {
    const std::string text = refusal(name);
    EXPECT_TRUE(contains(text, "meta path '" + name + "'")) << text;
    EXPECT_TRUE(contains(text, part)) << text;
  };
  expect("paper-person-paper",
         "'person' is not a node type; the node types are paper, author, venue");
  expect("", "'' is not a node type");
  expect("paper--paper", "'' is not a node type");
  expect("paper-()-paper", "no edges () lead from paper to paper");
  expect("(cites)-paper", "'(cites)' is not a node type");
  expect("paper-(cites)-(cites)-paper", "'(cites)' is not a node type");
  expect("paper-(in)-author-paper", "no edges (in) lead from author to paper");
  expect("paper-(wrote)-author-paper", "no edges (wrote) lead from author to paper");
  expect("paper-institute-paper", "no edges lead from institute to paper");
  expect("note-paper-note", "no edges lead from paper to note");
  expect("paper-(self)-paper", "no edges (self)");
  expect("author-author", "no edges lead from author to author");
  expect("paper-author", "it must begin and end at the same node type");
  expect("paper", "it must begin and end at the same node type");
  expect("paper-author-(writes)", "an edge type must be followed by ')-' and a node type");
}

// The schema allows hyphens in names.
TEST(MetaPaths, TakeTheLongestTypeThatFits) {
  const ModelSchema schema{
      .node_types = {{"shop"}, {"shop-v1"}, {"user"}},
      .edge_types = {"buys", "rev_buys", "self"},
      .relations = {{2, 0, 1}, {1, 1, 2}, {2, 0, 0}, {0, 1, 2}, {0, 2, 0}, {1, 2, 1}, {2, 2, 2}}};
  const auto paths = meta_paths({"shop-v1-user-shop-v1", "shop-user-shop"}, schema);
  EXPECT_EQ(paths[0].type, 1U);
  EXPECT_TRUE(paths[0].steps[0][0] && paths[0].steps[1][1]);
  EXPECT_EQ(paths[1].type, 0U);
  EXPECT_EQ(meta_paths(propose_meta_paths(schema), schema).size(), 4U);
}

TEST(ProposedMetaPaths, LeadByEveryNeighboringTypeAndBack) {
  const std::vector<std::string> proposed = propose_meta_paths(kAcademic);
  EXPECT_EQ(proposed,
            (std::vector<std::string>{"paper-paper", "paper-author-paper", "paper-venue-paper",
                                      "author-paper-author", "author-institute-author",
                                      "venue-paper-venue", "institute-author-institute"}))
      << "note has no way back";
  EXPECT_EQ(meta_paths(proposed, kAcademic).size(), proposed.size());
  const ModelSchema alone{
      .node_types = {{"node"}}, .edge_types = {"self"}, .relations = {{0, 0, 0}}};
  EXPECT_TRUE(propose_meta_paths(alone).empty()) << "`self` is no edge";
}

// --- where they lead ---

// With times, of which every fourth is missing.
Subgraph timed_subgraph(const ModelSchema& schema, uint64_t seed) {
  Draws draws(hash(seed));
  Subgraph subgraph = random_subgraph(schema, draws, 3);
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    subgraph.times.push_back(row % 4 == 3 ? kNoTime : static_cast<Time>(draws.below(40)));
    subgraph.hops.push_back(row % 3);
    subgraph.components.push_back(0);
  }
  return subgraph;
}

// [rows, rows]: may one step of the path lead from a row to another?
at::Tensor step_matrix(const Subgraph& subgraph, const std::vector<bool>& allowed) {
  at::Tensor matrix = at::zeros({subgraph.num_rows(), subgraph.num_rows()});
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    for (const uint64_t edge : subgraph.incoming(row)) {
      if (allowed[index(subgraph.relations[edge])]) matrix[row][subgraph.sources[edge]] = 1;
    }
  }
  return matrix;
}

// What follow() should make of one row, in its order.
struct Expected {
  std::vector<uint32_t> sources;
  std::vector<Relation> relations;
};

std::vector<Expected> brute_force(const std::vector<MetaPath>& paths, const Subgraph& subgraph) {
  std::vector<Expected> rows(subgraph.num_rows());
  for (uint32_t path = 0; path < paths.size(); ++path) {
    at::Tensor reached = at::eye(subgraph.num_rows());
    for (const auto& step : paths[path].steps) {
      reached = (at::mm(reached, step_matrix(subgraph, step)) > 0).to(at::kFloat);
    }
    const auto is_reached = reached.accessor<float, 2>();
    for (const uint32_t row : subgraph.rows(NodeType(paths[path].type))) {
      for (uint32_t end = 0; end < subgraph.num_rows(); ++end) {
        if (end == row || is_reached[row][end] == 0) continue;
        rows[row].sources.push_back(end);
        rows[row].relations.push_back(Relation(path));
      }
    }
  }
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    rows[row].sources.push_back(row);
    rows[row].relations.push_back(Relation(paths.size() + index(subgraph.type_of(row))));
  }
  return rows;
}

void expect_edges(const Subgraph& made, const std::vector<Expected>& expected) {
  ASSERT_EQ(made.edge_offsets.size(), expected.size() + 1);
  for (uint32_t row = 0; row < expected.size(); ++row) {
    Expected own;
    for (const uint64_t edge : made.incoming(row)) {
      own.sources.push_back(made.sources[edge]);
      own.relations.push_back(made.relations[edge]);
      EXPECT_EQ(made.gaps[edge], time_gap(made.times[row], made.times[made.sources[edge]]));
      EXPECT_EQ(made.positions[edge], kSelfEdge);
    }
    EXPECT_EQ(own.sources, expected[row].sources) << "row " << row;
    EXPECT_EQ(own.relations, expected[row].relations) << "row " << row;
  }
  EXPECT_EQ(made.gaps.size(), made.num_edges());
  EXPECT_EQ(made.positions.size(), made.num_edges());
}

TEST(Follow, LeadsWhereTheProductOfTheStepsLeads) {
  uint64_t joined = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Subgraph subgraph = timed_subgraph(kAcademic, seed);
    const std::vector<MetaPath> paths =
        meta_paths({"paper-author-paper", "author-paper-author", "paper-(cites)-paper",
                    "author-(writes)-paper-venue-paper-author", "venue-paper-venue"},
                   kAcademic);
    const Subgraph made = follow(paths, subgraph);
    expect_edges(made, brute_force(paths, subgraph));
    EXPECT_EQ(made.type_offsets, subgraph.type_offsets);
    EXPECT_EQ(made.nodes, subgraph.nodes);
    EXPECT_EQ(made.times, subgraph.times);
    EXPECT_EQ(made.hops, subgraph.hops);
    EXPECT_EQ(made.components, subgraph.components);
    EXPECT_EQ(made.seed_rows, subgraph.seed_rows);
    joined += made.num_edges() - made.num_rows();
  }
  EXPECT_GT(joined, 300U);
}

TEST(Follow, LeavesOnlySelfWithoutPaths) {
  const Subgraph subgraph = timed_subgraph(kAcademic, 3);
  const Subgraph made = follow({}, subgraph);
  expect_edges(made, brute_force({}, subgraph));
  EXPECT_EQ(made.num_edges(), made.num_rows());
}

// --- fifty at most ---

// Paper 0 cites papers 1 .. count; author i wrote papers 0 and i + 1.
Subgraph star(uint32_t count) {
  Subgraph subgraph;
  subgraph.type_offsets = {
      0, count + 1, 2 * count + 1, 2 * count + 1, 2 * count + 1, 2 * count + 1};
  subgraph.nodes.assign(2 * count + size_t{1}, 0);
  subgraph.times.assign(subgraph.nodes.size(), kNoTime);
  subgraph.edge_offsets = {0};
  const auto add = [&](uint32_t source, uint32_t relation) {
    subgraph.sources.push_back(source);
    subgraph.relations.push_back(Relation(relation));
  };
  for (uint32_t i = count; i > 0; --i) add(i, 0);
  for (uint32_t i = 0; i < count; ++i) add(count + 1 + i, 2);
  subgraph.edge_offsets.push_back(subgraph.sources.size());
  for (uint32_t i = 0; i < count; ++i) {
    add(count + 1 + i, 2);
    subgraph.edge_offsets.push_back(subgraph.sources.size());
  }
  for (uint32_t i = 0; i < count; ++i) {
    add(0, 3);
    add(i + 1, 3);
    subgraph.edge_offsets.push_back(subgraph.sources.size());
  }
  return subgraph;
}

std::vector<uint32_t> reached_from_first(const std::string& path, uint32_t count) {
  const Subgraph made = follow(meta_paths({path}, kAcademic), star(count));
  return {made.sources.begin(),
          made.sources.begin() + static_cast<ptrdiff_t>(made.edge_offsets[1]) - 1};
}

TEST(Follow, KeepsFiftyNeighborsThatAreSpreadOut) {
  for (const uint32_t count : {49U, 50U, 51U, 60U, 120U}) {
    const std::vector<uint32_t> ends = reached_from_first("paper-paper", count);
    ASSERT_EQ(ends.size(), std::min(50U, count)) << count;
    for (uint32_t i = 0; i < ends.size(); ++i) {
      EXPECT_EQ(ends[i], 1 + (count <= 50 ? i : i * count / 50)) << count;
    }
  }
}

// Of 60 authors, 50 count; with paper 0 they lead to 51 papers, of which 50 count, the first among
// them paper 0, which does not lead to itself.
TEST(Follow, KeepsFiftyAtEveryStep) {
  EXPECT_EQ(reached_from_first("paper-author-paper", 49).size(), 49U);
  EXPECT_EQ(reached_from_first("paper-author-paper", 50).size(), 49U);
  const std::vector<uint32_t> ends = reached_from_first("paper-author-paper", 60);
  EXPECT_EQ(ends.size(), 49U);
  for (const uint32_t end : ends) {
    bool of_kept_author = false;
    for (uint32_t i = 0; i < 50; ++i) of_kept_author |= end == 1 + i * 60 / 50;
    EXPECT_TRUE(of_kept_author) << end;
  }
}

}  // namespace
}  // namespace hgt
