// HGSampling against its reference: the same sets of instances, equally often.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "hgt/sampling/chi_square_test.h"
#include "hgt/sampling/random_test_graph.h"
#include "hgt/sampling/sampled_test_instances.h"
#include "hgt/sampling/sampler.h"
#include "reference/hgsampling_reference.h"

namespace hgt {
namespace {

using Outcome = std::set<SampledInstance>;

// Five papers (one without a time), three authors, and a venue in which all papers appear, one of
// them three times.
void fill_village(GraphBuilder& builder) {
  const Schema& schema = builder.schema();
  for (const Time time : {2001, 2003, kNoTime, 2005, 2007}) {
    builder.add_node(schema.node_type("paper"), {.time = time});
  }
  for (int i = 0; i < 3; ++i) builder.add_node(schema.node_type("author"), {});
  builder.add_node(schema.node_type("venue"), {});
  const auto add = [&](const char* source, const char* edge, const char* target,
                       const std::vector<Edge>& edges) {
    for (const Edge& one : edges) builder.add_edge(schema.relation(source, edge, target), one);
  };
  add("author", "writes", "paper", {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 3}, {2, 4}, {2, 4}});
  add("paper", "cites", "paper", {{1, 0}, {3, 0}, {4, 0}, {4, 1}, {2, 2}, {3, 2}});
  add("paper", "appears_in", "venue",
      {{0, 0, 2001}, {1, 0, 2003}, {1, 0, 2004}, {1, 0, 2008}, {2, 0}, {3, 0, 2005}, {4, 0, 2007}});
  add("author", "knows", "author", {{0, 1, 2002}, {1, 2, 2006}, {2, 2}});
}

class HgSamplingFrequency : public testing::Test {
 protected:
  static constexpr uint64_t kRounds = 10'000;

  Counts<Outcome> fast(const SamplingOptions& options, const Request& request) const {
    Sampler sampler(*village_, options);
    Counts<Outcome> counts;
    Subgraph subgraph;
    for (uint64_t round = 0; round < kRounds; ++round) {
      sampler.sample(request, round, subgraph);
      ++counts[sampled_instances(subgraph)];
    }
    return counts;
  }
  Counts<Outcome> slow(const SamplingOptions& options, const Request& request) const {
    Counts<Outcome> counts;
    for (uint64_t round = 0; round < kRounds; ++round) {
      ++counts[hgsampling_reference(*village_, request, options, round)];
    }
    return counts;
  }
  // `cells`: at least so many sets of instances are common, or the test looks at almost nothing.
  void expect_agreement(const SamplingOptions& options, const Request& request,
                        uint64_t cells) const {
    const ChiSquare test = chi_square(fast(options, request), slow(options, request));
    EXPECT_TRUE(test.agrees()) << test;
    EXPECT_GE(test.cells, cells);
  }

  Seed paper(NodeId node) const { return {.type = village_.type("paper"), .node = node}; }

  const TestGraph village_{random_test_schema(), fill_village};
  const Request request_{.seeds = {paper(0)}};
};

TEST_F(HgSamplingFrequency, AgreesWithTheReference) {
  expect_agreement({.width = 1, .depth = 1, .neighbor_cap = 0}, request_, 10);
  expect_agreement({.width = 1, .depth = 2, .neighbor_cap = 0}, request_, 100);
  expect_agreement({.width = 2, .depth = 2, .neighbor_cap = 0}, request_, 100);
}

TEST_F(HgSamplingFrequency, AgreesWithTheReferenceWhenListsAreCut) {
  expect_agreement({.width = 1, .depth = 2, .neighbor_cap = 1}, request_, 100);
  expect_agreement({.width = 2, .depth = 2, .neighbor_cap = 2}, request_, 100);
}

TEST_F(HgSamplingFrequency, AgreesWithTheReferenceForSeveralSeeds) {
  const Request request{
      .seeds = {paper(2), {.type = village_.type("venue"), .node = 0, .time = 2004}, paper(2)}};
  expect_agreement({.width = 1, .depth = 2, .neighbor_cap = 0}, request, 30);
  expect_agreement({.width = 1, .depth = 2, .neighbor_cap = 2}, request, 30);
}

TEST_F(HgSamplingFrequency, AgreesWithTheReferenceUnderATimeBound) {
  expect_agreement({.width = 1, .depth = 2, .neighbor_cap = 0, .split_end = 2005}, request_, 30);
  expect_agreement({.width = 1, .depth = 2, .neighbor_cap = 2, .split_end = 2003}, request_, 10);
  const Request request{.seeds = {paper(3)}};
  expect_agreement({.width = 1, .depth = 3, .neighbor_cap = 2, .time_bound = TimeBound::seed},
                   request, 30);
}

TEST_F(HgSamplingFrequency, AgreesWithTheReferenceWhenEdgesAreHidden) {
  const Relation writes = village_.relation("author", "writes", "paper");
  const Relation cites = village_.relation("paper", "cites", "paper");
  const Relation knows = village_.relation("author", "knows", "author");
  SamplingOptions options{.width = 1, .depth = 2, .neighbor_cap = 0};
  options.hidden.everywhere = {knows};
  options.hidden.at_seeds = {writes};
  options.hidden.edges = {{.relation = cites, .source = 4, .target = 1}};
  expect_agreement(options, request_, 20);
  options.neighbor_cap = 2;
  Request request = request_;
  request.hidden = {{.relation = cites, .source = 3, .target = 0}};
  expect_agreement(options, request, 20);
}

// What the tests above would not notice, they do not test.
TEST_F(HgSamplingFrequency, DiffersFromAReferenceThatDoesSomethingElse) {
  const SamplingOptions options{.width = 1, .depth = 2, .neighbor_cap = 0};
  const Counts<Outcome> counts = fast(options, request_);
  SamplingOptions capped = options;
  capped.neighbor_cap = 2;
  EXPECT_FALSE(chi_square(counts, slow(capped, request_)).agrees());
  SamplingOptions bounded = options;
  bounded.split_end = 2007;  // one late edge of 24
  EXPECT_FALSE(chi_square(counts, slow(bounded, request_)).agrees());
  Request hidden = request_;
  hidden.hidden = {
      {.relation = village_.relation("paper", "cites", "paper"), .source = 3, .target = 2}};
  EXPECT_FALSE(chi_square(counts, slow(options, hidden)).agrees());
}

// --- the cap ---

using Weights = std::map<std::pair<NodeId, Time>, double>;

Weights weights_of(const SamplingTrace::Draw& draw) {
  Weights weights;
  for (const auto& each : draw.candidates) weights[{each.node, each.time}] = each.weight;
  return weights;
}

// The papers in the budget of step 1 come from the seeds alone: from the venue's list of 7 entries
// and from the lists of paper 0.
TEST_F(HgSamplingFrequency, GivesTheSameBudgetsInExpectationWhenListsAreCut) {
  const Request request{
      .seeds = {{.type = village_.type("venue"), .node = 0, .time = 2002}, paper(0)}};
  const auto papers = [&](Sampler& sampler, uint64_t random_seed) {
    SamplingTrace trace;
    Subgraph subgraph;
    sampler.sample(request, random_seed, subgraph, &trace);
    return weights_of(trace.draws.front());
  };
  Sampler exact(*village_, {.width = 1, .depth = 1, .neighbor_cap = 0});
  const Weights expected = papers(exact, 0);
  ASSERT_EQ(expected.size(), 4U);
  const std::pair<NodeId, Time> repeated{1, 2003};
  EXPECT_NEAR(expected.at(repeated), 3.0 / 7 + 1.0 / 3, 1e-12) << "three entries, and it cites 0";

  for (const uint32_t cap : {1U, 2U, 5U}) {
    Sampler capped(*village_, {.width = 1, .depth = 1, .neighbor_cap = cap});
    std::map<std::pair<NodeId, Time>, std::pair<double, double>> sums;  // of weights, of squares
    constexpr uint64_t kTimes = 10'000;
    for (uint64_t round = 0; round < kTimes; ++round) {
      for (const auto& [paper, weight] : papers(capped, round)) {
        sums[paper].first += weight / kTimes;
        sums[paper].second += weight * weight / kTimes;
      }
    }
    ASSERT_EQ(sums.size(), expected.size());
    for (const auto& [paper, weight] : expected) {
      const auto [mean, square] = sums.at(paper);
      const double error = std::sqrt((square - mean * mean) / kTimes);
      EXPECT_GT(error, 0) << "nothing was cut";
      EXPECT_NEAR(mean, weight, 4.5 * error) << "paper " << paper.first << ", cap " << cap;
    }
  }
}

// --- Strategy::neighbors ---

// A fan-out of 1 draws an entry of the venue's list, so the repeated paper three times as often.
TEST_F(HgSamplingFrequency, DrawsEntriesOfALightListUniformlyByFanOut) {
  Sampler sampler(*village_, {.strategy = Strategy::neighbors, .fanout = {1}});
  const Request request{.seeds = {{.type = village_.type("venue"), .node = 0, .time = 2002}}};
  Counts<NodeId> counts;
  Subgraph subgraph;
  for (uint64_t round = 0; round < 5000; ++round) {
    sampler.sample(request, round, subgraph);
    ASSERT_EQ(subgraph.num_rows(village_.type("paper")), 1U);
    ++counts[subgraph.nodes[0]];
  }
  const ChiSquare test = chi_square(
      counts,
      Probabilities<NodeId>{{0, 1.0 / 7}, {1, 3.0 / 7}, {2, 1.0 / 7}, {3, 1.0 / 7}, {4, 1.0 / 7}});
  EXPECT_TRUE(test.agrees()) << test;
}

}  // namespace
}  // namespace hgt
