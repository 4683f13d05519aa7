// What holds for every graph, request and set of options.
#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/random_test_graph.h"
#include "hgt/sampling/sampled_test_instances.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/subgraph_check.h"

namespace hgt {
namespace {

struct RandomCase {
  SamplingOptions options;
  Request request;

  RandomCase(const HeteroGraph& graph, uint64_t number) {
    Draws draws(hash(40, number));
    options = random_test_options(graph, draws);
    const bool split = options.time_bound == TimeBound::split;
    request.seeds = random_test_seeds(graph, split ? options.split_end : kLastTestYear, draws);
    if (draws.below(3) == 0) request.hidden = random_test_edge(graph, draws);
  }
};

// Seeds, then component by component in the order drawn.
void expect_rows_in_order(const Subgraph& subgraph) {
  for (uint32_t row = 1; row < subgraph.num_rows(); ++row) {
    if (type_of_row(subgraph, row) != type_of_row(subgraph, row - 1)) continue;
    const auto order = [&](uint32_t each) {
      return std::tuple(subgraph.hops[each] != 0, subgraph.components[each], subgraph.hops[each]);
    };
    EXPECT_LE(order(row - 1), order(row)) << "row " << row;
  }
}

TEST(Sampler, GivesSubgraphsThatPassTheCheck) {
  uint64_t instances = 0;
  uint64_t edges = 0;
  for (uint64_t graph_number = 0; graph_number < 25; ++graph_number) {
    const TestGraph graph = random_test_graph(graph_number);
    for (uint64_t i = 0; i < 60; ++i) {
      const RandomCase random(*graph, hash(graph_number, i));
      SCOPED_TRACE(testing::Message() << "graph " << graph_number << ", case " << i);
      Subgraph subgraph;
      EXPECT_EQ(error_of([&] {
                  Sampler(*graph, random.options).sample(random.request, i, subgraph);
                  verify_subgraph(*graph, random.request, random.options, subgraph);
                }),
                "");
      expect_rows_in_order(subgraph);
      instances += subgraph.num_rows();
      edges += subgraph.num_edges();
    }
  }
  EXPECT_GT(instances, 10'000U) << "the test looked at almost nothing";
  EXPECT_GT(edges, 5 * instances);
}

TEST(Sampler, GivesTheSameForTheSameArguments) {
  const TestGraph graph = random_test_graph(2);
  for (uint64_t i = 0; i < 40; ++i) {
    const RandomCase random(*graph, hash(50, i));
    const Subgraph first = sample(*graph, random.request.seeds, random.options);
    EXPECT_EQ(sample(*graph, random.request.seeds, random.options), first);
    SamplingTrace trace;
    EXPECT_EQ(sample(*graph, random.request.seeds, random.options, &trace), first)
        << "looking at the budgets changes what is drawn";
  }
}

TEST(Sampler, GivesWhenReusedWhatAFreshOneGives) {
  const TestGraph graph = random_test_graph(2);
  for (uint64_t i = 0; i < 8; ++i) {
    const SamplingOptions options = RandomCase(*graph, hash(60, i)).options;
    Sampler reused(*graph, options);
    Subgraph result;  // reused too
    for (uint64_t round = 0; round < 20; ++round) {
      const Time last = options.time_bound == TimeBound::split ? options.split_end : kLastTestYear;
      Draws draws(hash(61, i, round));
      Request request{.seeds = random_test_seeds(*graph, last, draws), .hidden = {}};
      if (round % 2 == 0) request.hidden = random_test_edge(*graph, draws);
      reused.sample(request, round, result);
      Subgraph fresh;
      Sampler(*graph, options).sample(request, round, fresh);
      ASSERT_EQ(result, fresh) << i << " " << round;
    }
  }
}

TEST(Sampler, SurvivesBeingMoved) {
  const TestGraph graph = random_test_graph(2);
  const Request request{.seeds = {{.type = graph.type("paper"), .node = 0}}};
  auto first = std::make_unique<Sampler>(*graph, SamplingOptions{.width = 3, .depth = 3});
  Subgraph expected;
  first->sample(request, 1, expected);
  Sampler second(std::move(*first));
  first.reset();
  Subgraph result;
  second.sample(request, 1, result);
  EXPECT_EQ(result, expected);
}

TEST(Sampler, DrawsDifferentlyFromDifferentRandomSeeds) {
  const TestGraph graph = random_test_graph(5);
  const Request request{.seeds = {{.type = graph.type("paper"), .node = 0}}};
  for (const SamplingOptions& options :
       {SamplingOptions{.width = 2, .depth = 2, .neighbor_cap = 0},
        SamplingOptions{.strategy = Strategy::neighbors, .fanout = {1, 1}}}) {
    Sampler sampler(*graph, options);
    std::set<std::set<SampledInstance>> outcomes;
    Subgraph subgraph;
    for (uint64_t random_seed = 0; random_seed < 20; ++random_seed) {
      sampler.sample(request, random_seed, subgraph);
      outcomes.insert(sampled_instances(subgraph));
    }
    EXPECT_GT(outcomes.size(), 5U);
  }
}

TEST(Sampler, TakesNoSeedsAtAll) {
  const TestGraph graph = random_test_graph(1);
  for (const Strategy strategy : {Strategy::hgsampling, Strategy::neighbors, Strategy::full}) {
    for (const TimeBound bound : {TimeBound::split, TimeBound::seed, TimeBound::none}) {
      const SamplingOptions options{.strategy = strategy, .fanout = {2}, .time_bound = bound};
      const Subgraph subgraph = sample(*graph, {}, options);
      verify_subgraph(*graph, {}, options, subgraph);
      EXPECT_EQ(subgraph.num_rows(), 0U);
      EXPECT_EQ(subgraph.num_edges(), 0U);
      EXPECT_EQ(subgraph.edge_offsets, std::vector<uint64_t>{0});
    }
  }
}

// The last node of a type has no edge in a random graph.
TEST(Sampler, GivesAnIsolatedSeedItsSelfEdgeAlone) {
  const TestGraph graph = random_test_graph(4);
  for (const char* name : {"paper", "author", "talk"}) {
    const NodeType type = graph.type(name);
    ASSERT_GT(graph->num_nodes(type), 1U);
    const auto node = static_cast<NodeId>(graph->num_nodes(type) - 1);
    const std::vector<Seed> seeds = {{.type = type, .node = node}};
    for (const Strategy strategy : {Strategy::hgsampling, Strategy::neighbors, Strategy::full}) {
      const Subgraph subgraph = sample(*graph, seeds, {.strategy = strategy, .fanout = {0}});
      EXPECT_EQ(subgraph.nodes, std::vector<NodeId>{node});
      EXPECT_EQ(subgraph.num_edges(), 1U);
      EXPECT_EQ(subgraph.positions, std::vector<EdgePosition>{kSelfEdge});
    }
  }
}

}  // namespace
}  // namespace hgt
