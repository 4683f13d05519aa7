#include "hgt/insight/neighbor_removal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

// Target, source, relation, gap, position.
using EdgeTuple = std::tuple<uint32_t, uint32_t, uint32_t, int64_t, EdgePosition>;

std::vector<EdgeTuple> edges_of(const Subgraph& subgraph) {
  std::vector<EdgeTuple> edges;
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    for (const uint64_t edge : subgraph.incoming(row)) {
      edges.emplace_back(row, subgraph.sources[edge], index(subgraph.relations[edge]),
                         subgraph.gaps[edge], subgraph.positions[edge]);
    }
  }
  return edges;
}

// Seven rows of one type with up to twelve edges into each, some from the row itself; then `self`.
Subgraph random_subgraph(uint64_t number) {
  Draws draws(hash(73, number));
  Subgraph subgraph;
  subgraph.type_offsets = {0, 7};
  subgraph.nodes = {0, 1, 2, 3, 4, 5, 6};
  subgraph.edge_offsets = {0};
  subgraph.times.assign(7, kNoTime);
  for (uint32_t row = 0; row < 7; ++row) {
    const auto add = [&](uint32_t source, uint32_t relation, EdgePosition position) {
      subgraph.sources.push_back(source);
      subgraph.relations.push_back(Relation(relation));
      subgraph.gaps.push_back(static_cast<int64_t>(draws.below(9)));
      subgraph.positions.push_back(position);
    };
    for (uint64_t i = draws.below(13); i > 0; --i) {
      add(static_cast<uint32_t>(draws.below(7)), 0, draws.below(100));
    }
    add(row, 1, kSelfEdge);
    subgraph.edge_offsets.push_back(subgraph.sources.size());
  }
  return subgraph;
}

TEST(NeighborRemoval, TakesTheEdgesBetweenBothAndNoOthers) {
  size_t removed = 0;
  for (uint64_t number = 0; number < 50; ++number) {
    const Subgraph subgraph = random_subgraph(number);
    const std::vector<uint32_t> others = {4, 2, 5};
    const Subgraph result = without_edges_between(subgraph, 2, others);  // row 2 cites itself
    std::vector<EdgeTuple> expected;
    for (const EdgeTuple& edge : edges_of(subgraph)) {
      const auto [target, source, relation, gap, position] = edge;
      const bool from = source == 2 && (target == 4 || target == 2 || target == 5);
      const bool to = target == 2 && (source == 4 || source == 2 || source == 5);
      if (position == kSelfEdge || !(from || to)) expected.push_back(edge);
    }
    EXPECT_EQ(edges_of(result), expected);
    EXPECT_EQ(result.num_edges(), expected.size());
    EXPECT_EQ(result.nodes, subgraph.nodes);
    EXPECT_EQ(result.gaps.size(), expected.size());
    removed += subgraph.num_edges() - expected.size();
    EXPECT_EQ(without_edges_between(subgraph, 2, {}), subgraph);
  }
  EXPECT_GT(removed, 50U);
}

}  // namespace
}  // namespace hgt
