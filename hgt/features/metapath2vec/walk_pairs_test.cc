#include "hgt/features/metapath2vec/walk_pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include "hgt/features/metapath2vec/negative_table.h"
#include "hgt/features/metapath2vec/skip_gram.h"
#include "hgt/features/metapath2vec/walk_test_graph.h"
#include "hgt/random.h"
#include "hgt/sampling/chi_square_test.h"

namespace hgt {
namespace {

// What draw_other must do: proportional to count^0.75, without the context.
Probabilities<NodeId> noise(const std::vector<uint64_t>& counts, NodeId context) {
  Probabilities<NodeId> shares;
  double sum = 0;
  for (NodeId node = 0; node < counts.size(); ++node) {
    if (node == context || counts[node] == 0) continue;
    shares[node] = std::pow(static_cast<double>(counts[node]), 0.75);
    sum += shares[node];
  }
  for (auto& [node, share] : shares) share /= sum;
  return shares;
}

void expect_noise(const std::vector<uint64_t>& counts, NodeId context) {
  const NegativeTable table(counts);
  ASSERT_TRUE(table.has_other(context));
  Counts<NodeId> seen;
  Draws draws(hash(context, counts.size()));
  for (int i = 0; i < 40'000; ++i) ++seen[table.draw_other(context, draws.bits(), draws)];
  const auto expected = noise(counts, context);
  const ChiSquare test = chi_square(seen, expected);
  EXPECT_LE(test.statistic, expected.size() > 1 ? test.limit() : 0)
      << test << ", context " << context;
}

TEST(NegativeTable, DrawsInProportionToTheCountsToTheThreeQuarters) {
  const std::vector<uint64_t> counts = {5, 0, 100, 1, 1, 17, 0, 40, 3, 260, 0};
  for (const NodeId context : {0U, 1U, 3U, 9U}) expect_noise(counts, context);
}

TEST(NegativeTable, DrawsBesideANodeThatHasAlmostAllTheWeight) {
  const std::vector<uint64_t> counts = {3, 1'000'000'000'000, 0, 2, 9};
  for (const NodeId context : {0U, 1U, 2U}) expect_noise(counts, context);
}

TEST(NegativeTable, DrawsFromManyNodes) {
  std::vector<uint64_t> counts;
  for (uint64_t i = 0; i < 3000; ++i) counts.push_back(i % 7 == 0 ? 0 : 1 + i % 50);
  expect_noise(counts, 1);
}

TEST(NegativeTable, HasNothingToDrawWhenNoOtherNodeOccurs) {
  const std::vector<uint64_t> one = {0, 4, 0};
  EXPECT_FALSE(NegativeTable(one).has_other(1));
  EXPECT_TRUE(NegativeTable(one).has_other(0));
  expect_noise(one, 0);
  EXPECT_FALSE(NegativeTable(std::vector<uint64_t>(3)).has_other(0));
  EXPECT_FALSE(NegativeTable({}).has_other(0));
}

class WalkPairsTest : public testing::Test {
 protected:
  TestFolder folder_;
  HeteroGraph graph_ = build_listed(folder_ / "graph", random_listed(40, 1));
  Walks walks_{graph_, {author_path(graph_.schema())}, {.walks_per_node = 40, .length = 13}};
  NodeRows rows_{walks_};
  std::vector<uint64_t> occurrences_ = count_occurrences(walks_, walks_.size());
  Negatives negatives_{rows_, occurrences_};
};

TEST_F(WalkPairsTest, RowsAreTheTypesOneAfterTheOther) {
  const Schema& schema = graph_.schema();
  EXPECT_EQ(rows_.size(), 40U + 15U + 6U);
  std::set<uint32_t> seen;
  for (const char* name : {"paper", "author", "venue"}) {
    const NodeType type = schema.node_type(name);
    EXPECT_EQ(rows_.nodes(type), graph_.num_nodes(type));
    for (NodeId node = 0; node < graph_.num_nodes(type); ++node) seen.insert(rows_({type, node}));
  }
  EXPECT_EQ(seen.size(), rows_.size());
  EXPECT_EQ(*seen.rbegin(), rows_.size() - 1);
  const NodeRows two(Walks(graph_, {venue_path(schema)}, {}));
  EXPECT_EQ(two.size(), 46U) << "authors are not on this path";
}

TEST_F(WalkPairsTest, EachNodeIsPairedWithEachOtherWithinTheWindow) {
  for (const uint32_t window : {1U, 2U, 5U, 50U}) {
    WalkPairs pairs(rows_, negatives_, {.window = window, .negatives = 2});
    for (const auto& walk : all_walks(walks_)) {
      std::vector<std::pair<uint32_t, uint32_t>> expected;
      for (int64_t i = 0; i < std::ssize(walk); ++i) {
        for (int64_t j = 0; j < std::ssize(walk); ++j) {
          if (i == j || std::abs(i - j) > int64_t{window}) continue;
          expected.emplace_back(rows_(walk[static_cast<size_t>(i)]),
                                rows_(walk[static_cast<size_t>(j)]));
        }
      }
      const PairList list = pairs.list(walk, Draws(1));
      std::vector<std::pair<uint32_t, uint32_t>> listed;
      for (size_t i = 0; i < list.size; ++i) {
        listed.emplace_back(list.pairs[i].center, list.rows[list.pairs[i].first]);
      }
      ASSERT_EQ(listed, expected);
    }
  }
}

// All negatives of all pairs, by type of the context and context.
TEST_F(WalkPairsTest, NegativesAreOfTheContextsTypeInProportionToItsCounts) {
  constexpr uint32_t kNegatives = 5;
  WalkPairs pairs(rows_, negatives_, {.window = 3, .negatives = kNegatives});
  std::map<uint32_t, Counts<uint32_t>> seen;
  uint64_t repeated = 0;
  for (uint64_t number = 0; const auto& walk : all_walks(walks_)) {
    const PairList list = pairs.list(walk, Draws(hash(1, number++)));
    for (size_t i = 0; i < list.size; ++i) {
      const TrainingPair& pair = list.pairs[i];
      std::set<uint32_t> different;
      float copies = 0;
      for (uint32_t j = pair.first; j < pair.first + pair.count; ++j) {
        different.insert(list.rows[j]);
        if (j == pair.first) continue;
        copies += list.copies[j];
        repeated += list.copies[j] > 1 ? 1 : 0;
        seen[list.rows[pair.first]][list.rows[j]] += static_cast<uint64_t>(list.copies[j]);
      }
      ASSERT_EQ(different.size(), pair.count) << "a row is there twice";
      ASSERT_EQ(list.copies[pair.first], 1);
      ASSERT_EQ(copies, kNegatives);
    }
  }
  EXPECT_GT(repeated, 1000U);
  for (const auto& [context, counts] : seen) {
    for (const NodeType type : rows_.types()) {
      const uint32_t first = rows_.first(type);
      if (context < first || context >= first + rows_.nodes(type)) continue;
      const std::vector<uint64_t> of_type(
          occurrences_.begin() + first,
          occurrences_.begin() + first + static_cast<int64_t>(rows_.nodes(type)));
      Probabilities<uint32_t> expected;
      for (const auto& [node, share] : noise(of_type, context - first))
        expected[first + node] = share;
      const ChiSquare test = chi_square(counts, expected);
      EXPECT_TRUE(test.agrees()) << test << ", context " << context;
    }
  }
  EXPECT_GT(seen.size(), 40U);
}

TEST_F(WalkPairsTest, ATypeOfOneNodeHasNoNegatives) {
  const NodeType venue = graph_.schema().node_type("venue");
  std::vector<uint64_t> counts = occurrences_;
  for (NodeId node = 1; node < rows_.nodes(venue); ++node) counts[rows_({venue, node})] = 0;
  const Negatives negatives(rows_, counts);
  WalkPairs pairs(rows_, negatives, {.window = 1, .negatives = 5});
  const NodeType paper = graph_.schema().node_type("paper");
  const PairList list = pairs.list(std::vector<WalkNode>{{paper, 3}, {venue, 0}}, Draws(1));
  ASSERT_EQ(list.size, 2U);
  EXPECT_EQ(list.pairs[0].count, 1U);
  EXPECT_GT(list.pairs[1].count, 2U);
}

TEST_F(WalkPairsTest, OccurrencesAreThoseOfTheWalksWhateverTheThreads) {
  std::vector<uint64_t> expected(rows_.size());
  std::vector<uint64_t> part(rows_.size());
  for (uint64_t number = 0; const auto& walk : all_walks(walks_)) {
    for (const WalkNode& node : walk) {
      ++expected[rows_(node)];
      if (number < 100) ++part[rows_(node)];
    }
    ++number;
  }
  EXPECT_EQ(occurrences_, expected);
  EXPECT_EQ(count_occurrences(walks_, walks_.size(), 3), expected);
  EXPECT_EQ(count_occurrences(walks_, 100, 2), part);
}

TEST_F(WalkPairsTest, ANodeWhoseWalksEndAtOnceDoesNotOccur) {
  ListedGraph listed = random_listed(40, 2);
  listed.papers.push_back(2020);
  listed.edges.push_back({"writes", static_cast<NodeId>(listed.authors), 40});
  listed.authors += 2;  // the first of them has a late paper, the second none
  const HeteroGraph graph = build_listed(folder_ / "alone", listed);
  const Walks walks(graph, {author_path(graph.schema())}, {.length = 9, .last_time = 2019});
  const NodeRows rows(walks);
  const auto occurrences = count_occurrences(walks, walks.size());
  const NodeType author = graph.schema().node_type("author");
  const auto last = static_cast<NodeId>(listed.authors - 1);
  EXPECT_EQ(occurrences[rows({author, last})], 0U);
  EXPECT_EQ(occurrences[rows({author, last - 1})], 0U);
  EXPECT_GT(occurrences[rows({author, 0})], 0U);
}

}  // namespace
}  // namespace hgt
