#include "hgt/message/layer_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/message/random_layer_graph_test.h"
#include "hgt/random.h"

namespace hgt {
namespace {

using RowSet = std::set<uint32_t>;

constexpr uint32_t kRelations = 7;

struct SubgraphEdge {
  uint32_t target = 0;
  uint32_t source = 0;
  uint32_t relation = 0;
  int64_t gap = 0;
};

// `rows`: of each type.
Subgraph test_subgraph(const std::vector<uint32_t>& rows, std::vector<SubgraphEdge> edges,
                       const std::vector<uint32_t>& seed_rows) {
  Subgraph subgraph;
  subgraph.type_offsets.push_back(0);
  for (const uint32_t count : rows) {
    subgraph.type_offsets.push_back(subgraph.type_offsets.back() + count);
  }
  subgraph.nodes.resize(subgraph.type_offsets.back());
  subgraph.seed_rows = seed_rows;
  std::stable_sort(edges.begin(), edges.end(), [](const auto& left, const auto& right) {
    return std::pair(left.target, left.relation) < std::pair(right.target, right.relation);
  });
  subgraph.edge_offsets.assign(subgraph.num_rows() + size_t{1}, 0);
  for (const SubgraphEdge& edge : edges) {
    ++subgraph.edge_offsets[edge.target + size_t{1}];
    subgraph.sources.push_back(edge.source);
    subgraph.relations.push_back(Relation(edge.relation));
    subgraph.gaps.push_back(edge.gap);
  }
  std::partial_sum(subgraph.edge_offsets.begin(), subgraph.edge_offsets.end(),
                   subgraph.edge_offsets.begin());
  return subgraph;
}

// Up to five types, some without rows; up to two edges a row, so that much is out of reach.
Subgraph random_subgraph(uint64_t number) {
  Draws draws(hash(90, number));
  std::vector<uint32_t> rows(1 + draws.below(5));
  for (uint32_t& count : rows) {
    count = draws.below(4) == 0 ? 0 : static_cast<uint32_t>(draws.below(14));
  }
  const uint32_t total = std::accumulate(rows.begin(), rows.end(), 0U);
  if (total == 0) return test_subgraph(rows, {}, {});
  const auto some_row = [&] { return static_cast<uint32_t>(draws.below(total)); };
  std::vector<SubgraphEdge> edges(draws.below(uint64_t{2} * total + 1));
  for (SubgraphEdge& edge : edges) {
    edge = {.target = some_row(),
            .source = some_row(),
            .relation = static_cast<uint32_t>(draws.below(kRelations - 1)),
            .gap = static_cast<int64_t>(draws.below(9)) - 4};
    if (draws.below(8) == 0) edge.gap *= int64_t{1} << 40U;
  }
  for (uint32_t row = 0; row < total; ++row) {
    if (draws.below(2) == 0) edges.push_back({row, row, kRelations - 1, 0});
  }
  std::vector<uint32_t> seeds;
  for (uint64_t i = draws.below(5); i > 0; --i) {
    seeds.push_back(some_row());
    if (draws.below(3) == 0) seeds.push_back(seeds.front());
  }
  return test_subgraph(rows, edges, seeds);
}

// The rows from which a seed is reached in at most so many steps, by trying every edge each time.
RowSet rows_within(const Subgraph& subgraph, uint32_t steps) {
  RowSet rows(subgraph.seed_rows.begin(), subgraph.seed_rows.end());
  for (uint32_t step = 0; step < steps; ++step) {
    const RowSet before = rows;
    for (uint32_t target = 0; target < subgraph.num_rows(); ++target) {
      if (before.count(target) == 0) continue;
      for (const uint64_t edge : subgraph.incoming(target)) rows.insert(subgraph.sources[edge]);
    }
  }
  return rows;
}

RowSet all_rows(const Subgraph& subgraph) {
  RowSet rows;
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) rows.insert(row);
  return rows;
}

// These rows of the sub-graph, each once and under its own type.
void expect_rows(const Subgraph& subgraph, const std::vector<uint32_t>& rows,
                 const std::vector<uint32_t>& offsets, const RowSet& expected) {
  EXPECT_EQ(RowSet(rows.begin(), rows.end()), expected);
  EXPECT_EQ(rows.size(), expected.size());
  ASSERT_EQ(offsets.size(), subgraph.type_offsets.size());
  ASSERT_EQ(offsets.back(), rows.size());
  for (size_t type = 0; type + 1 < offsets.size(); ++type) {
    for (uint32_t place = offsets[type]; place < offsets[type + 1]; ++place) {
      EXPECT_EQ(index(subgraph.type_of(rows[place])), type);
    }
  }
}

// The rows of the sub-graph that a layer writes, when it reads these.
std::vector<uint32_t> outputs_of(const LayerGraph& layer, const std::vector<uint32_t>& inputs) {
  std::vector<uint32_t> outputs;
  for (uint32_t type = 0; type < layer.num_types(); ++type) {
    const auto first = inputs.begin() + layer.source_offsets[type];
    outputs.insert(outputs.end(), first, first + layer.num_targets(type));
  }
  return outputs;
}

void expect_edges(const Subgraph& subgraph, const LayerGraph& layer,
                  const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs) {
  ASSERT_EQ(layer.edge_ids.size(), layer.num_edges());
  ASSERT_EQ(layer.source_degrees.size(), inputs.size());
  for (size_t input = 0; input < inputs.size(); ++input) {
    EXPECT_EQ(layer.source_degrees[input], subgraph.incoming(inputs[input]).size());
  }
  for (uint32_t output = 0; output < outputs.size(); ++output) {
    std::set<uint64_t> expected;
    for (const uint64_t edge : subgraph.incoming(outputs[output])) expected.insert(edge);
    std::set<uint64_t> found;
    for (const uint64_t edge : layer.incoming(output)) {
      const uint64_t id = layer.edge_ids[edge];
      found.insert(id);
      ASSERT_LT(id, subgraph.num_edges());
      EXPECT_EQ(inputs[layer.sources[edge]], subgraph.sources[id]);
      EXPECT_EQ(layer.relations[edge], subgraph.relations[id]);
      EXPECT_EQ(layer.gap_values[layer.gaps[edge]], static_cast<double>(subgraph.gaps[id]));
    }
    EXPECT_EQ(found, expected) << "output " << output;
    EXPECT_EQ(layer.incoming(output).size(), expected.size()) << "output " << output;
  }
}

// Everything that is promised. Gives the number of rows and edges of all layers.
uint64_t expect_field(const Subgraph& subgraph, uint32_t layers, Trim trim) {
  const ReceptiveField field = receptive_field(subgraph, layers, trim);
  EXPECT_EQ(field.layers.size(), layers);
  const auto needed = [&](uint32_t steps) {
    return trim == Trim::on ? rows_within(subgraph, steps) : all_rows(subgraph);
  };
  expect_rows(subgraph, field.rows, field.type_offsets, needed(layers));
  std::vector<uint32_t> inputs = field.rows;
  std::vector<uint32_t> offsets = field.type_offsets;
  uint64_t work = 0;
  for (uint32_t i = 0; i < layers && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "layer " << i + 1 << " of " << layers);
    const LayerGraph& layer = *field.layers[i];
    check(layer, kRelations);
    EXPECT_EQ(layer.source_offsets, offsets) << "a layer reads what the one before wrote";
    const std::vector<uint32_t> outputs = outputs_of(layer, inputs);
    expect_rows(subgraph, outputs, layer.target_offsets, needed(layers - i - 1));
    expect_edges(subgraph, layer, inputs, outputs);
    work += outputs.size() + layer.num_edges();
    inputs = outputs;
    offsets = layer.target_offsets;
  }
  EXPECT_EQ(field.seed_rows.size(), subgraph.seed_rows.size());
  for (size_t seed = 0; seed < field.seed_rows.size(); ++seed) {
    EXPECT_EQ(inputs.at(field.seed_rows[seed]), subgraph.seed_rows[seed]);
  }
  return work;
}

TEST(ReceptiveField, HoldsExactlyTheRowsAndEdgesThatReachASeed) {
  uint64_t trimmed = 0;
  uint64_t whole = 0;
  for (uint64_t number = 0; number < 300 && !HasFailure(); ++number) {
    SCOPED_TRACE(testing::Message() << "sub-graph " << number);
    const Subgraph subgraph = random_subgraph(number);
    for (uint32_t layers = 1; layers <= 4; ++layers) {
      trimmed += expect_field(subgraph, layers, Trim::on);
      whole += expect_field(subgraph, layers, Trim::off);
    }
  }
  EXPECT_GT(trimmed, 5'000U) << "the test looked at almost nothing";
  EXPECT_LT(2 * trimmed, whole) << "almost nothing is out of reach in the sub-graphs";
}

TEST(ReceptiveField, GrowsByOneRowPerLayerAlongAChain) {
  const Subgraph chain =
      test_subgraph({3, 0, 3}, {{0, 5, 0, 1}, {5, 1, 1, 2}, {1, 4, 0, 3}, {4, 2, 1, 4}}, {0});
  const ReceptiveField field = receptive_field(chain, 3);
  EXPECT_EQ(field.rows, (std::vector<uint32_t>{0, 1, 5, 4}));
  EXPECT_EQ(field.type_offsets, (std::vector<uint32_t>{0, 2, 2, 4}));
  EXPECT_EQ(field.layers[0]->target_offsets, (std::vector<uint32_t>{0, 2, 2, 3}));
  EXPECT_EQ(field.layers[1]->target_offsets, (std::vector<uint32_t>{0, 1, 1, 2}));
  EXPECT_EQ(field.layers[2]->target_offsets, (std::vector<uint32_t>{0, 1, 1, 1}));
  EXPECT_EQ(field.layers[2]->edge_ids, std::vector<uint64_t>{0});
  for (uint32_t layers = 1; layers <= 12; ++layers) expect_field(chain, layers, Trim::on);
}

TEST(ReceptiveField, OfASeedWithoutEdgesIsTheSeed) {
  const Subgraph subgraph = test_subgraph({2, 3}, {}, {3});
  for (const uint32_t layers : {1U, 2U, 5U}) {
    expect_field(subgraph, layers, Trim::on);
    EXPECT_EQ(receptive_field(subgraph, layers).rows, std::vector<uint32_t>{3});
    EXPECT_EQ(receptive_field(subgraph, layers).seed_rows, std::vector<uint32_t>{0});
  }
}

TEST(ReceptiveField, OfNoSeedsIsEmpty) {
  const Subgraph subgraph = test_subgraph({2, 3}, {{0, 1, 0, 0}, {4, 4, 1, 0}}, {});
  EXPECT_EQ(expect_field(subgraph, 2, Trim::on), 0U);
  EXPECT_TRUE(receptive_field(subgraph, 2).rows.empty());
}

TEST(ReceptiveField, SharesOneGraphAmongUntrimmedLayers) {
  const Subgraph subgraph = random_subgraph(3);
  const ReceptiveField field = receptive_field(subgraph, 3, Trim::off);
  ASSERT_EQ(field.layers.size(), 3U);
  EXPECT_EQ(field.layers[0], field.layers[1]);
  EXPECT_EQ(field.layers[0], field.layers[2]);
  EXPECT_EQ(field.layers[0]->num_edges(), subgraph.num_edges());
  EXPECT_EQ(field.seed_rows, subgraph.seed_rows);
}

// --- gaps ---

void expect_distinct(const std::vector<int64_t>& gaps) {
  const DistinctGaps distinct = distinct_gaps(gaps);
  const std::set<int64_t> expected(gaps.begin(), gaps.end());
  EXPECT_EQ(distinct.values, std::vector<double>(expected.begin(), expected.end()));
  ASSERT_EQ(distinct.places.size(), gaps.size());
  for (size_t i = 0; i < gaps.size(); ++i) {
    ASSERT_LT(distinct.places[i], distinct.values.size());
    EXPECT_EQ(distinct.values[distinct.places[i]], static_cast<double>(gaps[i])) << "gap " << i;
  }
}

TEST(DistinctGaps, AreTheSortedSetOfTheGaps) {
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  const int64_t highest = std::numeric_limits<int64_t>::max();
  const int64_t far = int64_t{1} << 40U;
  for (const std::vector<int64_t>& gaps :
       std::vector<std::vector<int64_t>>{{},
                                         {0},
                                         {-7},
                                         {3, 3, 3},
                                         {2, -1, 0, 2},
                                         {-5, -2, -9, -2},
                                         {far, -far, 0, far},
                                         {lowest},
                                         {highest, highest},
                                         {lowest, highest},
                                         {highest, 0, lowest, -1},
                                         {lowest + 4096, lowest, lowest + 4096},
                                         {0, 11, 5},
                                         {0, 12, 5}}) {
    expect_distinct(gaps);
  }
}

TEST(DistinctGaps, AreTheSameWhetherFewOrManyValuesLieBetween) {
  Draws draws(11);
  for (const uint64_t range : {1U, 10U, 390U, 400U, 410U, 4000U, 1'000'000'000U}) {
    for (const int64_t least : {int64_t{0}, int64_t{-200}, -(int64_t{1} << 50U)}) {
      std::vector<int64_t> gaps(100);
      for (int64_t& gap : gaps) gap = least + static_cast<int64_t>(draws.below(range));
      expect_distinct(gaps);
    }
  }
}

// --- check ---

LayerGraph fitting_graph() {
  return test_layer_graph({2, 3}, {1, 2}, {{0, 4, 2, 1}, {1, 0, 0, 0}, {1, 1, 1, 0}}, 2);
}

std::string complaint(const std::function<void(LayerGraph&)>& spoil) {
  LayerGraph graph = fitting_graph();
  spoil(graph);
  try {
    check(graph, 3);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_complaint(const std::string& part, const std::function<void(LayerGraph&)>& spoil) {
  const std::string text = complaint(spoil);
  EXPECT_NE(text.find("the graph of a layer is inconsistent: "), std::string::npos) << text;
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(LayerGraphCheck, AcceptsWhatFits) {
  EXPECT_EQ(complaint([](LayerGraph&) {}), "");
  EXPECT_EQ(complaint([](LayerGraph& graph) { graph = test_layer_graph({}, {}, {}, 0); }), "");
  EXPECT_EQ(complaint([](LayerGraph& graph) {
              graph = test_layer_graph({0, 2}, {0, 0}, {}, 0);
            }),
            "");
}

TEST(LayerGraphCheck, NamesOffsetsOfTypesThatDoNotFit) {
  const std::string rows = "source_offsets and target_offsets must start at 0";
  expect_complaint(rows, [](LayerGraph& graph) { graph = {}; });
  expect_complaint(rows, [](LayerGraph& graph) { graph.source_offsets.clear(); });
  expect_complaint(rows, [](LayerGraph& graph) { graph.target_offsets.clear(); });
  expect_complaint(rows, [](LayerGraph& graph) { graph.source_offsets[0] = 1; });
  expect_complaint(rows, [](LayerGraph& graph) { graph.target_offsets[0] = 1; });
  expect_complaint(rows, [](LayerGraph& graph) { graph.source_offsets[1] = 6; });
  expect_complaint(rows, [](LayerGraph& graph) { graph.target_offsets[1] = 4; });
  expect_complaint(rows, [](LayerGraph& graph) { graph.source_offsets.push_back(5); });
  expect_complaint(rows, [](LayerGraph& graph) { graph.target_offsets.pop_back(); });
  expect_complaint("type 1 has 2 outputs but only 1 inputs",
                   [](LayerGraph& graph) { graph.source_offsets[1] = 4; });
}

TEST(LayerGraphCheck, NamesArraysOfEdgesThatDoNotFit) {
  const std::string offsets = "edge_offsets must start at 0";
  expect_complaint(offsets, [](LayerGraph& graph) { graph.edge_offsets.clear(); });
  expect_complaint(offsets, [](LayerGraph& graph) { graph.edge_offsets[0] = 1; });
  expect_complaint(offsets, [](LayerGraph& graph) { graph.edge_offsets[1] = 4; });
  expect_complaint(offsets, [](LayerGraph& graph) { graph.edge_offsets.push_back(3); });
  expect_complaint(offsets, [](LayerGraph& graph) { graph.edge_offsets.pop_back(); });
  expect_complaint(offsets, [](LayerGraph& graph) { graph.edge_offsets.back() = 4; });
  expect_complaint(offsets, [](LayerGraph& graph) { graph.sources.push_back(0); });
  const std::string lengths = "sources, relations, gaps and edge_ids must have the same length";
  expect_complaint(lengths, [](LayerGraph& graph) { graph.relations.pop_back(); });
  expect_complaint(lengths, [](LayerGraph& graph) { graph.gaps.push_back(0); });
  expect_complaint(lengths, [](LayerGraph& graph) { graph.edge_ids.clear(); });
}

TEST(LayerGraphCheck, NamesTheEdgeThatPointsNowhere) {
  expect_complaint("edge 0 names source 5 of 5", [](LayerGraph& graph) { graph.sources[0] = 5; });
  expect_complaint("edge 1 names source 0 of 5, relation 3 of 3",
                   [](LayerGraph& graph) { graph.relations[1] = Relation(3); });
  expect_complaint("edge 2 names source 1 of 5, relation 1 of 3, gap 2 of 2",
                   [](LayerGraph& graph) { graph.gaps[2] = 2; });
  expect_complaint("edge 0 names", [](LayerGraph& graph) { graph.gap_values.clear(); });
}

}  // namespace
}  // namespace hgt
