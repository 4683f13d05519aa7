// Edges by row and by source, and lists cut to a length.
#include "hgt/message/edge_lists.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

using Edges = std::vector<uint64_t>;

Edges uses_of(const EdgeLists& lists, uint32_t source) {
  const auto first = lists.uses.begin();
  return {first + static_cast<ptrdiff_t>(lists.use_offsets[source]),
          first + static_cast<ptrdiff_t>(lists.use_offsets[source + size_t{1}])};
}

TEST(EdgeLists, KnowRowsAndUsesOfASmallExample) {
  // Row 0 reads 2, 0, 2; row 1 nothing; row 2 reads 4, 2. Nobody reads 1, 3 or 5.
  const EdgeLists lists({0, 3, 3, 5}, {2, 0, 2, 4, 2}, 6);
  EXPECT_EQ(lists.num_rows(), 3U);
  EXPECT_EQ(lists.num_edges(), 5U);
  EXPECT_EQ(lists.length(0), 3U);
  EXPECT_EQ(lists.length(1), 0U);
  EXPECT_EQ(lists.length(2), 2U);
  EXPECT_EQ(lists.rows, (std::vector<uint32_t>{0, 0, 0, 2, 2}));
  EXPECT_EQ(lists.num_sources, 6U);
  EXPECT_EQ(lists.use_offsets, (Edges{0, 1, 1, 4, 4, 5, 5}));
  EXPECT_EQ(lists.uses, (Edges{1, 0, 2, 4, 3}));
}

TEST(EdgeLists, HaveEveryEdgeOnceUnderItsSourceInAscendingOrder) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Draws draws(hash(seed));
    const auto num_sources = static_cast<uint32_t>(1 + draws.below(30));
    Edges offsets = {0};
    std::vector<uint32_t> sources;
    std::vector<uint32_t> rows;
    std::vector<Edges> uses(num_sources);
    for (uint32_t row = 0; row < draws.below(40); ++row) {
      for (uint64_t i = draws.below(6); i > 0; --i) {
        const auto source = static_cast<uint32_t>(draws.below(num_sources));
        uses[source].push_back(sources.size());
        sources.push_back(source);
        rows.push_back(row);
      }
      offsets.push_back(sources.size());
    }
    const EdgeLists lists(offsets, sources, num_sources);
    EXPECT_EQ(lists.offsets, offsets);
    EXPECT_EQ(lists.sources, sources);
    EXPECT_EQ(lists.rows, rows) << "seed " << seed;
    EXPECT_EQ(lists.uses.size(), sources.size());
    for (uint32_t source = 0; source < num_sources; ++source) {
      EXPECT_EQ(uses_of(lists, source), uses[source]) << "seed " << seed << " source " << source;
    }
  }
}

TEST(EdgeLists, MayHaveNoEdgesNoRowsOrNoSources) {
  const EdgeLists no_edges({0, 0, 0, 0}, {}, 2);
  EXPECT_EQ(no_edges.num_rows(), 3U);
  EXPECT_EQ(no_edges.num_edges(), 0U);
  EXPECT_EQ(no_edges.length(2), 0U);
  EXPECT_TRUE(no_edges.rows.empty());
  EXPECT_TRUE(no_edges.uses.empty());
  EXPECT_EQ(no_edges.use_offsets, (Edges{0, 0, 0}));
  const EdgeLists nothing({0}, {}, 0);
  EXPECT_EQ(nothing.num_rows(), 0U);
  EXPECT_EQ(nothing.use_offsets, Edges{0});
}

// --- lists cut to a length ---

std::vector<uint32_t> first_numbers(size_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

TEST(SpreadOut, LeavesAShortListAsItIs) {
  const std::vector<uint32_t> list = {7, 7, 3, 9};
  EXPECT_EQ(spread_out<uint32_t>(list, 4), list);
  EXPECT_EQ(spread_out<uint32_t>(list, 5), list);
  EXPECT_TRUE(spread_out<uint32_t>(std::vector<uint32_t>(), 5).empty());
  EXPECT_TRUE(spread_out<uint32_t>(std::vector<uint32_t>(), 0).empty());
}

TEST(SpreadOut, KeepsTheEntriesThemselvesInTheOrderOfTheList) {
  const std::vector<uint32_t> list = {9, 4, 8, 1, 1, 6, 5};  // places 0, 2, 4 of 7
  EXPECT_EQ(spread_out<uint32_t>(list, 3), (std::vector<uint32_t>{9, 8, 1}));
  EXPECT_TRUE(spread_out<uint32_t>(list, 0).empty());
}

TEST(SpreadOut, TakesExactlySoManyDistinctPlacesEvenlyFromTheFirstOn) {
  for (size_t size = 1; size < 70; ++size) {
    const std::vector<uint32_t> list = first_numbers(size);
    for (size_t most = 1; most < size; ++most) {
      const std::vector<uint32_t> some = spread_out<uint32_t>(list, most);
      ASSERT_EQ(some.size(), most) << "of " << size;
      EXPECT_EQ(some.front(), 0U);
      EXPECT_LT(some.back(), size);
      for (size_t i = 0; i < most; ++i) {
        // The next place; after the last one the end of the list.
        const size_t next = i + 1 < most ? some[i + 1] : size;
        EXPECT_GE(next, some[i] + size / most) << most << " of " << size;
        EXPECT_LE(next, some[i] + (size + most - 1) / most) << most << " of " << size;
      }
    }
  }
}

}  // namespace
}  // namespace hgt
