// What holds for the plan of every layer graph.
#include "hgt/message/attention_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "hgt/error.h"
#include "hgt/message/random_layer_graph_test.h"

namespace hgt {
namespace {

using Pair = std::pair<uint32_t, uint32_t>;

class PlanCheck {
 public:
  PlanCheck(const TestLayer& layer, bool temporal)
      : layer_(layer), graph_(layer.graph), plan_(graph_, layer.sets, layer.num_sets, temporal) {}

  const AttentionPlan& plan() const { return plan_; }

  void expect_all() {
    expect_sizes();
    expect_time_rows();
    source_relation_ = expect_runs(plan_.source_runs, plan_.num_source_pairs());
    target_relation_ = expect_runs(plan_.target_runs, plan_.num_target_pairs());
    expect_blocks();
    if (testing::Test::HasFailure()) return;  // what follows would go astray
    expect_edges();
    expect_no_needless_pairs();
    expect_cheaper_ends();
    if (testing::Test::HasFailure()) return;
    expect_uses();
    expect_chunks();
  }

 private:
  void expect_sizes() {
    EXPECT_EQ(plan_.num_relations, layer_.num_sets);
    EXPECT_EQ(plan_.num_sources, graph_.num_sources());
    EXPECT_EQ(plan_.num_targets, graph_.num_targets());
    EXPECT_EQ(plan_.num_edges(), graph_.num_edges());
    EXPECT_EQ(plan_.edge_origin.size(), graph_.num_edges());
    EXPECT_EQ(plan_.edge_time.size(), plan_.temporal ? graph_.num_edges() : 0);
    EXPECT_EQ(plan_.first_source_pair(), plan_.num_sources + plan_.num_time_rows());
    EXPECT_EQ(plan_.source_rows, plan_.first_source_pair() + plan_.num_source_pairs());
    EXPECT_EQ(plan_.target_rows, plan_.num_targets + plan_.num_target_pairs());
  }

  // The (type, gap) of all edges, each once, by type.
  void expect_time_rows() {
    std::set<Pair> expected;
    for (uint64_t edge = 0; plan_.temporal && edge < graph_.num_edges(); ++edge) {
      expected.insert({layer_.source_type(edge), graph_.gaps[edge]});
    }
    ASSERT_EQ(plan_.time_offsets.size(), graph_.num_types() + 1U);
    ASSERT_EQ(plan_.time_offsets.back(), plan_.time_gaps.size());
    for (uint32_t type = 0; type < graph_.num_types(); ++type) {
      for (uint32_t i = plan_.time_offsets[type]; i < plan_.time_offsets[type + 1]; ++i) {
        time_rows_.emplace_back(type, plan_.time_gaps[i]);
      }
    }
    EXPECT_EQ(time_rows_.size(), plan_.time_gaps.size());
    EXPECT_EQ(std::set<Pair>(time_rows_.begin(), time_rows_.end()), expected);
    EXPECT_EQ(time_rows_.size(), expected.size()) << "a (type, gap) has two rows";
  }

  // The relation of each pair: every pair is in exactly one run.
  std::vector<uint32_t> expect_runs(const std::vector<PairRun>& runs, uint32_t pairs) const {
    std::vector<uint32_t> relation(pairs, layer_.num_sets);
    uint32_t next = 0;
    for (const PairRun& run : runs) {
      EXPECT_EQ(run.first, next);
      EXPECT_LT(run.first, run.last);
      EXPECT_LE(run.last, pairs);
      EXPECT_LT(run.relation, layer_.num_sets);
      for (uint32_t pair = run.first; pair < std::min(run.last, pairs); ++pair) {
        relation[pair] = run.relation;
      }
      next = run.last;
    }
    EXPECT_EQ(next, pairs) << "a pair is in no run";
    return relation;
  }

  template <typename Bound>
  static void expect_bounds(const std::vector<Bound>& bounds, size_t end) {
    ASSERT_FALSE(bounds.empty());
    EXPECT_EQ(bounds.front(), 0U);
    EXPECT_EQ(bounds.back(), end);
    EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
  }

  void expect_blocks() const {
    expect_bounds(plan_.target_blocks, plan_.num_targets);
    expect_bounds(plan_.block_runs, plan_.target_runs.size());
    ASSERT_EQ(plan_.block_runs.size(), plan_.target_blocks.size());
    uint32_t pairs = 0;
    for (uint32_t block = 0; block < plan_.num_blocks(); ++block) {
      std::set<uint32_t> relations;
      uint32_t own_pairs = 0;
      for (uint32_t i = plan_.block_runs[block]; i < plan_.block_runs[block + 1]; ++i) {
        const PairRun& run = plan_.target_runs[i];
        EXPECT_TRUE(relations.insert(run.relation).second) << "two runs of a relation in a block";
        expect_targets_in_block(run, block);
        own_pairs += run.last - run.first;
      }
      EXPECT_EQ(plan_.pairs_of(block).size(), own_pairs);
      EXPECT_TRUE(own_pairs == 0 || plan_.pairs_of(block).first == pairs);
      pairs += own_pairs;
    }
    EXPECT_EQ(pairs, plan_.num_target_pairs());
  }

  void expect_targets_in_block(const PairRun& run, uint32_t block) const {
    for (uint32_t pair = run.first; pair < run.last; ++pair) {
      EXPECT_GE(plan_.target_pairs[pair], plan_.target_blocks[block]);
      EXPECT_LT(plan_.target_pairs[pair], plan_.target_blocks[block + 1]);
    }
  }

  void expect_edges() {
    expect_bounds(plan_.target_groups, plan_.groups.size() - 1);
    ASSERT_EQ(plan_.target_groups.size(), plan_.num_targets + 1U);
    ASSERT_EQ(plan_.groups.back().first_edge, plan_.num_edges());
    for (uint32_t target = 0; target < plan_.num_targets; ++target) {
      const uint32_t first = plan_.target_groups[target];
      EXPECT_EQ(plan_.groups[first].first_edge, graph_.edge_offsets[target]);
      for (uint32_t i = first; i < plan_.target_groups[target + size_t{1}]; ++i) {
        EXPECT_TRUE(i == first || plan_.groups[i - 1].target_row < plan_.groups[i].target_row);
        expect_group(i, target);
      }
    }
    const std::set<uint64_t> origins(plan_.edge_origin.begin(), plan_.edge_origin.end());
    EXPECT_EQ(origins.size(), graph_.num_edges()) << "an edge is missing";
  }

  void expect_group(uint32_t group, uint32_t target) {
    const auto [target_row, first] = plan_.groups[group];
    const uint32_t last = plan_.groups[group + size_t{1}].first_edge;
    EXPECT_LT(first, last) << "an empty group";
    for (uint32_t edge = first; edge < last; ++edge) expect_edge(edge, target, target_row);
  }

  // Its matrix is applied at one end, and what it reads is what the layer graph says.
  void expect_edge(uint32_t edge, uint32_t target, uint32_t target_row) {
    target_row_.push_back(target_row);
    const uint64_t origin = plan_.edge_origin[edge];
    ASSERT_GE(origin, graph_.incoming(target).first);
    ASSERT_LT(origin, graph_.incoming(target).last);
    const uint32_t set = layer_.set_of(origin);
    const bool at_source = target_row < plan_.num_targets;
    const auto [end, fresh] = at_source_.emplace(set, at_source);
    EXPECT_EQ(end->second, at_source) << "set " << set << " is at both ends";
    if (at_source) {
      EXPECT_EQ(target_row, target);
    } else {
      EXPECT_EQ(plan_.target_pairs.at(target_row - plan_.num_targets), target);
      EXPECT_EQ(target_relation_.at(target_row - plan_.num_targets), set);
    }
    EXPECT_EQ(origin_row(plan_.edge_source[edge], set, at_source), graph_.sources[origin]);
    if (!plan_.temporal) return;
    const uint32_t time_row = origin_row(plan_.edge_time[edge], set, at_source);
    ASSERT_GE(time_row, plan_.num_sources);
    EXPECT_EQ(time_rows_.at(time_row - plan_.num_sources),
              Pair(layer_.source_type(origin), graph_.gaps[origin]));
  }

  // The input or (type, gap) row behind a row of the source table.
  uint32_t origin_row(uint32_t row, uint32_t set, bool expect_pair) const {
    const bool pair = row >= plan_.first_source_pair();
    EXPECT_EQ(pair, expect_pair) << "the matrix is applied at both ends or at none";
    if (!pair) return row;
    EXPECT_EQ(source_relation_.at(row - plan_.first_source_pair()), set);
    return plan_.source_pairs.at(row - plan_.first_source_pair());
  }

  // No pair twice, and each is there for an edge.
  void expect_no_needless_pairs() const {
    std::set<Pair> source_pairs, target_pairs;
    std::set<uint32_t> used;
    for (uint32_t pair = 0; pair < plan_.num_source_pairs(); ++pair) {
      EXPECT_TRUE(source_pairs.insert({plan_.source_pairs[pair], source_relation_[pair]}).second);
    }
    for (uint32_t pair = 0; pair < plan_.num_target_pairs(); ++pair) {
      EXPECT_TRUE(target_pairs.insert({plan_.target_pairs[pair], target_relation_[pair]}).second);
    }
    for (const auto* rows : {&plan_.edge_source, &plan_.edge_time}) {
      for (const uint32_t row : *rows) {
        if (row >= plan_.first_source_pair()) used.insert(row);
      }
    }
    EXPECT_EQ(used.size(), plan_.num_source_pairs());
    used.clear();
    for (const EdgeGroup& group : plan_.groups) {
      if (group.first_edge < plan_.num_edges()) used.insert(group.target_row);
    }
    std::erase_if(used, [&](uint32_t row) { return row < plan_.num_targets; });
    EXPECT_EQ(used.size(), plan_.num_target_pairs());
  }

  // A pair at a source costs as much as two at targets; of equals, the targets have it.
  void expect_cheaper_ends() const {
    for (const auto& [set, at_source] : at_source_) {
      std::set<uint32_t> targets, types;
      std::set<Pair> rows;  // sources, and (type, gap) after them
      for (uint32_t edge = 0; edge < plan_.num_edges(); ++edge) {
        const uint64_t origin = plan_.edge_origin[edge];
        if (layer_.set_of(origin) != set) continue;
        const uint32_t type = layer_.source_type(origin);
        const uint32_t row = target_row_[edge];
        targets.insert(at_source ? row : plan_.target_pairs[row - plan_.num_targets]);
        types.insert(type);
        rows.insert({graph_.num_types(), graph_.sources[origin]});
        if (plan_.temporal) rows.insert({type, graph_.gaps[origin]});
      }
      if (!at_source) {
        EXPECT_LE(targets.size(), 2 * rows.size()) << "set " << set;
      }
      // Where types mix, the plan may take several (type, gap) for one.
      if (at_source && types.size() == 1) {
        EXPECT_GT(targets.size(), 2 * rows.size());
      }
    }
  }

  void expect_uses() {
    std::set<Pair> expected;
    for (uint32_t edge = 0; edge < plan_.num_edges(); ++edge) {
      expected.insert({plan_.edge_source[edge], edge});
      if (plan_.temporal) expected.insert({plan_.edge_time[edge], edge});
    }
    std::set<Pair> found;
    for (const UseChunk& chunk : plan_.chunks) {
      ASSERT_LE(chunk.first, chunk.last);
      ASSERT_LE(chunk.last, plan_.uses.size());
      for (uint32_t i = chunk.first; i < chunk.last; ++i) {
        const EdgeUse& use = plan_.uses[i];
        EXPECT_TRUE(found.insert({chunk.row, use.edge}).second) << "a use comes twice";
        ASSERT_LT(use.edge, plan_.num_edges());
        EXPECT_EQ(use.target_row, target_row_[use.edge]);
      }
    }
    EXPECT_EQ(plan_.uses.size(), expected.size());
    EXPECT_TRUE(found == expected);
  }

  // Chunks of a row follow each other; those of a row that has several have partials of their own.
  void expect_chunks() const {
    expect_bounds(plan_.chunk_blocks, plan_.chunks.size());
    std::vector<uint32_t> chunks_of_row(plan_.source_rows, 0);
    for (const UseChunk& chunk : plan_.chunks) {
      ASSERT_LT(chunk.row, plan_.source_rows);
      ++chunks_of_row[chunk.row];
    }
    EXPECT_EQ(std::count(chunks_of_row.begin(), chunks_of_row.end(), 0), 0);
    std::set<uint32_t> partials, rows_done;
    std::optional<uint32_t> last_row;
    for (const UseChunk& chunk : plan_.chunks) {
      EXPECT_EQ(chunk.partial == kWhole, chunks_of_row[chunk.row] == 1) << "row " << chunk.row;
      EXPECT_LE(chunk.last - chunk.first, 1000U) << "row " << chunk.row << " is not shared out";
      if (chunk.partial != kWhole) {
        EXPECT_TRUE(partials.insert(chunk.partial).second);
      }
      if (chunk.row != last_row) {
        EXPECT_TRUE(rows_done.insert(chunk.row).second);
      }
      last_row = chunk.row;
    }
    EXPECT_EQ(partials.size(), plan_.num_partials);
    if (!partials.empty()) {
      EXPECT_EQ(*partials.rbegin() + 1, plan_.num_partials);
    }
  }

  const TestLayer& layer_;
  const LayerGraph& graph_;
  AttentionPlan plan_;
  std::vector<Pair> time_rows_;                              // type and gap of each
  std::vector<uint32_t> source_relation_, target_relation_;  // of each pair
  std::map<uint32_t, bool> at_source_;                       // of each set that has edges
  std::vector<uint32_t> target_row_;                         // of each edge, in the plan's order
};

// Which parts of the source table have rows that are cut into chunks.
struct CutRows {
  bool input = false, time = false, source_pair = false, time_pair = false;

  explicit CutRows(const AttentionPlan& plan) {
    for (const UseChunk& chunk : plan.chunks) {
      if (chunk.partial == kWhole) continue;
      const bool pair = chunk.row >= plan.first_source_pair();
      const uint32_t row =
          pair ? plan.source_pairs[chunk.row - plan.first_source_pair()] : chunk.row;
      bool& cut = row < plan.num_sources ? (pair ? source_pair : input) : (pair ? time_pair : time);
      cut = true;
    }
  }
};

TEST(AttentionPlan, FitsEveryRandomLayer) {
  uint64_t source_pairs = 0;
  uint64_t target_pairs = 0;
  for (uint64_t number = 0; number < 60 && !HasFailure(); ++number) {
    const auto types = static_cast<uint32_t>(3 + number % 4);
    const RandomLayerOptions options{.types = types,
                                     .most_rows = number % 2 == 0 ? 8U : 90U,
                                     .relations = 1 + static_cast<uint32_t>(number % 14)};
    const TestLayer layer = random_layer(options, number);
    for (const bool temporal : {false, true}) {
      SCOPED_TRACE(testing::Message() << "layer " << number << ", temporal " << temporal);
      PlanCheck checked(layer, temporal);
      checked.expect_all();
      source_pairs += checked.plan().num_source_pairs();
      target_pairs += checked.plan().num_target_pairs();
    }
  }
  EXPECT_GT(source_pairs, 100U) << "no relation went to its sources";
  EXPECT_GT(target_pairs, 1000U) << "no relation went to its targets";
}

TEST(AttentionPlan, FitsHubs) {
  const TestLayer hubs = hub_layer(6000);
  const TestLayer random = random_layer({.most_rows = 300, .most_edges = 3000, .gaps = 40}, 5);
  for (const bool temporal : {false, true}) {
    PlanCheck checked(hubs, temporal);
    checked.expect_all();
    const CutRows cut(checked.plan());
    EXPECT_TRUE(cut.input && cut.source_pair);
    EXPECT_EQ(cut.time && cut.time_pair, temporal);
    EXPECT_GT(checked.plan().num_blocks(), 4U);
    PlanCheck(random, temporal).expect_all();
  }
}

// Around the number of uses from which on a row is cut.
TEST(AttentionPlan, FitsRowsOfAnyNumberOfUses) {
  for (uint32_t uses = 500; uses < 520 && !HasFailure(); ++uses) {
    const std::vector<TestEdge> edges(uses, {.target = 0, .source = 1, .relation = 0, .gap = 0});
    const TestLayer layer{
        .graph = test_layer_graph({3}, {2}, edges, 1), .sets = {0}, .num_sets = 1};
    PlanCheck(layer, true).expect_all();
  }
}

TEST(AttentionPlan, FitsLayersWithoutEdges) {
  for (const bool temporal : {false, true}) {
    for (const std::vector<uint32_t>& targets : {std::vector{0U, 0U}, std::vector{3U, 1U}}) {
      const TestLayer layer{
          .graph = test_layer_graph({4, 1}, targets, {}, 2), .sets = {0, 1}, .num_sets = 2};
      PlanCheck checked(layer, temporal);
      checked.expect_all();
      EXPECT_EQ(checked.plan().source_rows, 5U);
      EXPECT_EQ(checked.plan().chunks.size(), 5U);
    }
  }
}

// Two inputs for n targets and one gap: 3 pairs at the sources, or n at the targets.
TEST(AttentionPlan, TakesTheSourcesWhereTargetsWouldNeedMoreThanTwiceThePairs) {
  for (const auto& [targets, temporal, at_source] :
       {std::tuple(4U, false, false), std::tuple(5U, false, true), std::tuple(6U, true, false),
        std::tuple(7U, true, true)}) {
    std::vector<TestEdge> edges;
    for (uint32_t i = 0; i < 3 * targets; ++i) {
      edges.push_back({.target = i % targets, .source = i % 2, .relation = 0, .gap = 1});
    }
    const TestLayer layer{
        .graph = test_layer_graph({9}, {targets}, edges, 2), .sets = {0}, .num_sets = 1};
    PlanCheck checked(layer, temporal);
    checked.expect_all();
    EXPECT_EQ(checked.plan().num_source_pairs(), at_source ? (temporal ? 3U : 2U) : 0U);
    EXPECT_EQ(checked.plan().num_target_pairs(), at_source ? 0U : targets);
  }
}

TEST(AttentionPlan, RefusesAGraphThatDoesNotFitTogether) {
  TestLayer layer = random_layer({}, 1);
  layer.graph.sources[0] = layer.graph.num_sources();
  EXPECT_THROW(AttentionPlan(layer.graph, layer.sets, layer.num_sets, true), Error);
  layer = random_layer({}, 1);
  EXPECT_THROW(AttentionPlan(layer.graph, {}, layer.num_sets, true), Error)
      << "a relation has no set";
}

}  // namespace
}  // namespace hgt
