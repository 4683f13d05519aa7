// Nothing later than the bound enters a sub-graph.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "hgt/sampling/random_test_graph.h"
#include "hgt/sampling/sampled_test_instances.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/subgraph_check.h"

namespace hgt {
namespace {

// Times of edges, by the row of their target.
std::vector<Time> edge_times(const HeteroGraph& graph, const Subgraph& subgraph, uint32_t row) {
  std::vector<Time> times;
  for (const uint64_t edge : subgraph.incoming(row)) {
    if (subgraph.positions[edge] == kSelfEdge) continue;
    if (!graph.schema().at(subgraph.relations[edge]).times) continue;
    times.push_back(
        graph.edge_time(subgraph.relations[edge], subgraph.nodes[row], subgraph.positions[edge]));
  }
  return times;
}

// All papers with a time, in an order that is not that of their times.
std::vector<Seed> dated_papers(const TestGraph& graph) {
  std::vector<Seed> seeds;
  const NodeType paper = graph.type("paper");
  for (NodeId node = 0; node < graph->num_nodes(paper); ++node) {
    if (graph->time(paper, node) == kNoTime) continue;
    seeds.push_back({.type = paper, .node = node, .time = graph->time(paper, node)});
  }
  return seeds;
}

class TimeBounds : public testing::TestWithParam<Strategy> {
 protected:
  static SamplingOptions options(TimeBound bound, Time split_end = 2004) {
    return {.strategy = GetParam(),
            .width = 20,
            .depth = 3,
            .neighbor_cap = 3,
            .fanout = {2, 2, 2},
            .time_bound = bound,
            .split_end = split_end};
  }
};

TEST_P(TimeBounds, LetNothingLaterThanTheSplitIn) {
  bool nodes_at_the_bound = false;
  for (uint64_t i = 0; i < 10; ++i) {
    const TestGraph graph = random_test_graph(i);
    const std::vector<Seed> seeds = {{.type = graph.type("venue"), .node = 0, .time = 2001},
                                     {.type = graph.type("author"), .node = 0}};
    const Subgraph subgraph = sample(*graph, seeds, options(TimeBound::split));
    for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
      EXPECT_LE(subgraph.times[row], 2004);
      nodes_at_the_bound |= subgraph.times[row] == 2004;
      for (const Time time : edge_times(*graph, subgraph, row)) EXPECT_LE(time, 2004);
    }
  }
  EXPECT_TRUE(nodes_at_the_bound) << "the bound itself belongs to the split";
}

TEST_P(TimeBounds, LetNothingLaterThanItsSeedIn) {
  for (uint64_t i = 0; i < 10; ++i) {
    const TestGraph graph = random_test_graph(i);
    const std::vector<Seed> seeds = dated_papers(graph);
    const SamplingOptions strict = options(TimeBound::seed);
    const Subgraph subgraph = sample(*graph, seeds, strict);
    verify_subgraph(*graph, {.seeds = seeds}, strict, subgraph);
    std::map<uint32_t, std::set<Time>> bounds;
    for (const uint32_t row : subgraph.seed_rows) {
      bounds[subgraph.components[row]].insert(subgraph.times[row]);
    }
    for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
      const std::set<Time>& bound = bounds.at(subgraph.components[row]);
      ASSERT_EQ(bound.size(), 1U) << "seeds of two times lie in one component";
      EXPECT_LE(subgraph.times[row], *bound.begin());
      for (const Time time : edge_times(*graph, subgraph, row)) EXPECT_LE(time, *bound.begin());
      for (const uint64_t edge : subgraph.incoming(row)) {
        EXPECT_EQ(subgraph.components[subgraph.sources[edge]], subgraph.components[row]);
      }
    }
  }
}

// Every seed has what it would have alone: those of other times take nothing from it.
TEST_P(TimeBounds, GiveSeedsOfDifferentTimesPartsOfTheirOwn) {
  const TestGraph graph = random_test_graph(7);
  const std::vector<Seed> seeds = dated_papers(graph);
  std::set<Time> times;
  for (const Seed& seed : seeds) times.insert(seed.time);
  ASSERT_GE(times.size(), 3U);
  SamplingOptions all = options(TimeBound::seed);
  all.neighbor_cap = 0;
  all.width = 1000;  // so that nothing is left to chance
  all.fanout = {0, 0, 0};
  const Subgraph together = sample(*graph, seeds, all);
  for (const Time time : times) {
    std::vector<Seed> some;
    uint32_t component = 0;
    for (size_t i = 0; i < seeds.size(); ++i) {
      if (seeds[i].time != time) continue;
      some.push_back(seeds[i]);
      component = together.components[together.seed_rows[i]];
    }
    std::set<SampledInstance> part;
    for (uint32_t row = 0; row < together.num_rows(); ++row) {
      if (together.components[row] == component) part.insert(sampled_instance(together, row));
    }
    EXPECT_EQ(part, sampled_instances(sample(*graph, some, all))) << time;
  }
}

TEST_P(TimeBounds, LeaveASeedWithoutATimeUnbounded) {
  const TestGraph graph = random_test_graph(7);
  const std::vector<Seed> seeds = {{.type = graph.type("venue"), .node = 0}};
  EXPECT_EQ(sample(*graph, seeds, options(TimeBound::seed)),
            sample(*graph, seeds, options(TimeBound::none)));
  const Time last = std::numeric_limits<Time>::max();
  EXPECT_EQ(sample(*graph, seeds, options(TimeBound::split, last)),
            sample(*graph, seeds, options(TimeBound::none)));
}

INSTANTIATE_TEST_SUITE_P(OfEveryStrategy, TimeBounds,
                         testing::Values(Strategy::hgsampling, Strategy::neighbors,
                                         Strategy::full));

// Papers of three times, all by the same thirty authors.
TestGraph faculty() {
  return TestGraph(random_test_schema(), [](GraphBuilder& builder) {
    const NodeType paper = builder.schema().node_type("paper");
    const NodeType author = builder.schema().node_type("author");
    for (const Time time : {2001, 2002, 2002, 2003, 2003, 2003}) {
      builder.add_node(paper, {.time = time});
    }
    for (NodeId i = 0; i < 30; ++i) {
      builder.add_node(author, {});
      for (NodeId to = 0; to < 6; ++to) {
        builder.add_edge(builder.schema().relation("author", "writes", "paper"),
                         {.source = i, .target = to});
      }
    }
  });
}

// How many authors the papers of each time draw, all six papers being seeds.
std::map<Time, uint32_t> authors_drawn(const TestGraph& graph, const SamplingOptions& options) {
  Request request;
  for (NodeId node = 0; node < 6; ++node) {
    request.seeds.push_back({.type = graph.type("paper"), .node = node});
  }
  const Subgraph subgraph = sample(*graph, request.seeds, options);
  verify_subgraph(*graph, request, options, subgraph);
  std::map<Time, uint32_t> authors;
  for (const uint32_t row : subgraph.rows(graph.type("author"))) ++authors[subgraph.times[row]];
  return authors;
}

// A width of 10 for seeds of three times: 1, 2 and 3 of 6 seeds have 2, 4 and 5.
TEST(HgSampling, SharesTheWidthOutAmongTheTimesOfTheSeeds) {
  const TestGraph graph = faculty();
  SamplingOptions options{.width = 10, .seed_width = 0, .depth = 1, .time_bound = TimeBound::seed};
  using Counts = std::map<Time, uint32_t>;
  EXPECT_EQ(authors_drawn(graph, options), (Counts{{2001, 2}, {2002, 4}, {2003, 5}}));
  options.seed_width = 4;
  EXPECT_EQ(authors_drawn(graph, options), (Counts{{2001, 4}, {2002, 4}, {2003, 5}}))
      << "no time draws fewer than that";
  options.seed_width = 100;
  EXPECT_EQ(authors_drawn(graph, options), (Counts{{2001, 10}, {2002, 10}, {2003, 10}}))
      << "no time draws more than the whole width";
}

TEST(HgSampling, GivesSeedsOfOneTimeTheWholeWidthWhateverTheSeedWidth) {
  const TestGraph graph = faculty();
  const std::vector<Seed> seeds = {{.type = graph.type("paper"), .node = 1},
                                   {.type = graph.type("paper"), .node = 2}};
  SamplingOptions options{.width = 10, .seed_width = 0, .depth = 2, .time_bound = TimeBound::seed};
  const Subgraph expected = sample(*graph, seeds, options);
  options.seed_width = 8;
  EXPECT_EQ(sample(*graph, seeds, options), expected);
}

TEST(HgSampling, DrawsAnewForEachTimeOfTheSeeds) {
  const TestGraph graph = faculty();
  const Request request{.seeds = {{.type = graph.type("paper"), .node = 0},
                                  {.type = graph.type("paper"), .node = 1}}};
  Sampler sampler(*graph, {.width = 4, .depth = 1, .time_bound = TimeBound::seed});
  Subgraph subgraph;
  int same = 0;
  for (uint64_t random_seed = 0; random_seed < 50; ++random_seed) {
    sampler.sample(request, random_seed, subgraph);
    std::map<Time, std::set<NodeId>> authors;
    for (const uint32_t row : subgraph.rows(graph.type("author"))) {
      authors[subgraph.times[row]].insert(subgraph.nodes[row]);
    }
    ASSERT_EQ(authors.size(), 2U);
    same += authors.at(2001) == authors.at(2002) ? 1 : 0;
  }
  EXPECT_LE(same, 3) << "two of 30 authors are the same two once in 435 times";
}

}  // namespace
}  // namespace hgt
