// The edges that a task predicts are not seen, in neither direction.
#include <gtest/gtest.h>

#include <vector>

#include "hgt/sampling/random_test_graph.h"
#include "hgt/sampling/sampled_test_instances.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/subgraph_check.h"

namespace hgt {
namespace {

// Two papers, two authors and a venue. Author 0 wrote both papers (paper 0 twice), author 1 wrote
// paper 1; the authors know each other; paper 1 alone appears in the venue.
void fill_desk(GraphBuilder& builder) {
  const Schema& schema = builder.schema();
  for (const Time time : {2001, 2002}) builder.add_node(schema.node_type("paper"), {.time = time});
  for (int i = 0; i < 2; ++i) builder.add_node(schema.node_type("author"), {});
  builder.add_node(schema.node_type("venue"), {});
  const Relation writes = schema.relation("author", "writes", "paper");
  builder.add_edge(writes, {.source = 0, .target = 0});
  builder.add_edge(writes, {.source = 0, .target = 0});
  builder.add_edge(writes, {.source = 0, .target = 1});
  builder.add_edge(writes, {.source = 1, .target = 1});
  builder.add_edge(schema.relation("author", "knows", "author"), {.source = 0, .target = 1});
  builder.add_edge(schema.relation("paper", "appears_in", "venue"), {.source = 1, .target = 0});
}

class HiddenEdgesTest : public testing::Test {
 protected:
  Seed seed(const char* name, NodeId node) const {
    return {.type = desk_.type(name), .node = node};
  }
  Subgraph sampled(const Request& request, SamplingOptions options) const {
    options.depth = 5;
    Subgraph subgraph;
    Sampler(*desk_, options).sample(request, 0, subgraph);
    verify_subgraph(*desk_, request, options, subgraph);
    return subgraph;
  }
  static uint64_t edges(const Subgraph& subgraph, Relation relation) {
    uint64_t count = 0;
    for (const Relation each : subgraph.relations) count += each == relation ? 1 : 0;
    return count;
  }
  // Between two nodes, over all their instances.
  uint64_t edges(const Subgraph& subgraph, Relation relation, NodeId source, NodeId target) const {
    uint64_t count = 0;
    const NodeType type = desk_->schema().at(relation).target;
    for (const uint32_t row : rows_of_node(subgraph, type, target)) {
      for (const uint64_t edge : subgraph.incoming(row)) {
        const bool from = subgraph.nodes[subgraph.sources[edge]] == source;
        count += subgraph.relations[edge] == relation && from ? 1 : 0;
      }
    }
    return count;
  }

  const TestGraph desk_{random_test_schema(), fill_desk};
  const Relation writes_ = desk_.relation("author", "writes", "paper");
  const Relation written_ = desk_.relation("paper", "rev_writes", "author");
  const Relation knows_ = desk_.relation("author", "knows", "author");
};

TEST_F(HiddenEdgesTest, OfARelationHiddenEverywhereAreGoneInBothDirections) {
  const Request request{.seeds = {seed("paper", 0), seed("paper", 1)}};
  for (const Relation relation : {writes_, written_}) {
    const Subgraph subgraph = sampled(request, {.hidden = {.everywhere = {relation}}});
    EXPECT_EQ(edges(subgraph, writes_), 0U);
    EXPECT_EQ(edges(subgraph, written_), 0U);
    EXPECT_EQ(subgraph.num_rows(desk_.type("author")), 0U) << "there is no other way to them";
    EXPECT_EQ(subgraph.num_rows(desk_.type("venue")), 1U);
  }
}

TEST_F(HiddenEdgesTest, AtSeedsAreGoneThereAndNowhereElse) {
  const Request request{.seeds = {seed("paper", 1)}};
  for (const Relation relation : {writes_, written_}) {
    const SamplingOptions options{.hidden = {.at_seeds = {relation}}};
    EXPECT_EQ(sampled(request, options).num_rows(desk_.type("author")), 0U);
    // With an author as well there is a way in. Paper 0 and author 0 are no seeds.
    const Subgraph subgraph = sampled({.seeds = {seed("paper", 1), seed("author", 1)}}, options);
    EXPECT_EQ(edges(subgraph, writes_, 0, 1) + edges(subgraph, written_, 1, 0), 0U);
    EXPECT_EQ(edges(subgraph, writes_, 1, 1) + edges(subgraph, written_, 1, 1), 0U);
    EXPECT_GT(edges(subgraph, writes_, 0, 0), 0U);
    EXPECT_EQ(edges(subgraph, writes_, 0, 0), edges(subgraph, written_, 0, 0));
  }
}

TEST_F(HiddenEdgesTest, AreHiddenAtAllInstancesOfTheNodeOfASeed) {
  // Author 0 is a seed at one time and comes in at two others.
  const Request request{.seeds = {{.type = desk_.type("author"), .node = 0, .time = 1999},
                                  seed("paper", 0),
                                  seed("paper", 1)}};
  const Subgraph subgraph = sampled(request, {.hidden = {.at_seeds = {knows_}}});
  EXPECT_EQ(edges(subgraph, knows_), 0U);
  EXPECT_GT(edges(sampled(request, {}), knows_), 0U);
}

TEST_F(HiddenEdgesTest, OneByOneAreGoneWithTheirCopiesAndInBothDirections) {
  const Request request{.seeds = {seed("paper", 0), seed("paper", 1)}};
  for (const HiddenEdge& edge : {HiddenEdge{.relation = writes_, .source = 0, .target = 0},
                                 HiddenEdge{.relation = written_, .source = 0, .target = 0}}) {
    const Subgraph subgraph = sampled(request, {.hidden = {.edges = {edge}}});
    EXPECT_EQ(edges(subgraph, writes_, 0, 0), 0U);
    EXPECT_EQ(edges(subgraph, written_, 0, 0), 0U);
    EXPECT_GT(edges(subgraph, writes_, 0, 1), 0U);
    EXPECT_GT(edges(subgraph, writes_, 1, 1), 0U);
  }
}

TEST_F(HiddenEdgesTest, OfASymmetricRelationAreGoneInBothDirections) {
  const Request request{.seeds = {seed("author", 0), seed("author", 1)}};
  for (const HiddenEdge& edge : {HiddenEdge{.relation = knows_, .source = 0, .target = 1},
                                 HiddenEdge{.relation = knows_, .source = 1, .target = 0}}) {
    EXPECT_EQ(edges(sampled(request, {.hidden = {.edges = {edge}}}), knows_), 0U);
  }
  EXPECT_GT(edges(sampled(request, {}), knows_), 0U);
}

TEST_F(HiddenEdgesTest, OfARequestComeOnTopAndAreForgottenAfterIt) {
  const Request plain{.seeds = {seed("paper", 0), seed("paper", 1)}};
  Request request = plain;
  request.hidden = {{.relation = writes_, .source = 0, .target = 0}};
  SamplingOptions options{.depth = 5};
  options.hidden.edges = {{.relation = writes_, .source = 1, .target = 1}};
  Sampler sampler(*desk_, options);
  Subgraph subgraph;
  for (int round = 0; round < 3; ++round) {
    sampler.sample(request, 0, subgraph);
    EXPECT_EQ(edges(subgraph, writes_, 0, 0), 0U);
    EXPECT_EQ(edges(subgraph, writes_, 1, 1), 0U) << "the options are still in force";
    sampler.sample(plain, 0, subgraph);
    EXPECT_GT(edges(subgraph, writes_, 0, 0), 0U);
    EXPECT_EQ(edges(subgraph, writes_, 1, 1), 0U);
  }
}

TEST_F(HiddenEdgesTest, AtSeedsAreForgottenWithTheSeeds) {
  Sampler sampler(*desk_, {.depth = 5, .hidden = {.at_seeds = {writes_}}});
  Subgraph subgraph;
  for (int round = 0; round < 3; ++round) {
    sampler.sample({.seeds = {seed("paper", 0)}}, 0, subgraph);
    EXPECT_EQ(subgraph.num_rows(), 1U);
    sampler.sample({.seeds = {seed("venue", 0)}}, 0, subgraph);
    EXPECT_GT(edges(subgraph, writes_, 0, 0), 0U);
  }
}

// Hidden neighbors still count as neighbors: the normalization is by the full degree.
TEST_F(HiddenEdgesTest, DoNotChangeTheSharesOfTheOthers) {
  SamplingTrace trace;
  SamplingOptions options{.depth = 1};
  options.hidden.edges = {{.relation = writes_, .source = 0, .target = 1}};
  sample(*desk_, std::vector{seed("paper", 1)}, options, &trace);
  const SamplingTrace::Draw& authors = trace.draws.at(index(desk_.type("author")));
  ASSERT_EQ(authors.candidates.size(), 1U);
  EXPECT_EQ(authors.candidates[0].node, 1U);
  EXPECT_EQ(authors.candidates[0].weight, 0.5);
}

TEST_F(HiddenEdgesTest, ThatTheGraphDoesNotHaveChangeNothing) {
  const Request request{.seeds = {seed("paper", 0), seed("paper", 1)}};
  SamplingOptions options;
  options.hidden.edges = {{.relation = writes_, .source = 1, .target = 0},
                          {.relation = writes_, .source = 77, .target = ~NodeId{0}}};
  EXPECT_EQ(sampled(request, options), sampled(request, {}));
}

}  // namespace
}  // namespace hgt
