// HGSampling by hand, on the 13 nodes of the preset tiny (hgt/academic/tiny_graph.cc):
//
//   paper 0 @2000  author 0          fields 0, 2     venue 1 (journal)
//   paper 1 @2005  authors 0, 1      fields 0, 1, 2  venue 0 (conference)  cites 0
//   paper 2 @2010  authors 1, 0, 2   fields 0, 1     venue 0 (conference)  cites 0, 1
//   paper 3 @2010  author 2          fields 0, 2     venue 1 (journal)     cites 0, 1
//
// First, other and last authors are three relations; field 0 is of level L0, fields 1 and 2 are of
// level L1 and within field 0; all authors are affiliated with institute 0. Every relation has a
// list of its own, and every entry of a list gives 1 / (length of the list).
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/disk/temporary_test_folder.h"
#include "hgt/sampling/sampler.h"

namespace hgt {
namespace {

enum Type : uint16_t { kPaper, kAuthor, kField, kVenue, kInstitute, kTypes };

struct Expected {
  NodeId node;
  Time time;
  double weight;
  double probability;
};

class WorkedExample : public testing::Test {
 protected:
  WorkedExample() { generate_academic_graph(folder_ / "tiny.graph", {.preset = "tiny"}); }

  HeteroGraph graph() const { return HeteroGraph::open(folder_ / "tiny.graph"); }
  static const SamplingTrace::Draw& draw_of(const SamplingTrace& trace, uint32_t step, Type type) {
    return trace.draws.at((step - 1) * kTypes + type);
  }

  // The budget of a type right before the draw of a step.
  static void expect_budget(const SamplingTrace& trace, uint32_t step, Type type,
                            const std::vector<Expected>& expected) {
    SCOPED_TRACE(testing::Message() << "step " << step << ", type " << type);
    const SamplingTrace::Draw& draw = draw_of(trace, step, type);
    EXPECT_EQ(draw.step, step);
    EXPECT_EQ(draw.type, NodeType(type));
    std::map<std::pair<NodeId, Time>, SamplingTrace::Candidate> candidates;
    for (const auto& each : draw.candidates) candidates[{each.node, each.time}] = each;
    EXPECT_EQ(candidates.size(), draw.candidates.size()) << "a candidate is there twice";
    EXPECT_EQ(candidates.size(), expected.size());
    for (const Expected& each : expected) {
      const auto found = candidates.find({each.node, each.time});
      ASSERT_NE(found, candidates.end()) << each.node << "@" << each.time;
      EXPECT_NEAR(found->second.weight, each.weight, 1e-12) << each.node << "@" << each.time;
      EXPECT_NEAR(found->second.probability, each.probability, 1e-12)
          << each.node << "@" << each.time;
    }
  }

  static bool drew(const SamplingTrace& trace, uint32_t step, Type type, NodeId node, Time time) {
    for (const auto& each : draw_of(trace, step, type).candidates) {
      if (each.node == node && each.time == time) return each.drawn;
    }
    return false;
  }

  TestFolder folder_;
};

// The width exceeds every budget: all candidates are drawn and nothing is left to chance.
TEST_F(WorkedExample, GivesTheBudgetsOfTwoStepsWhenAllIsDrawn) {
  SamplingTrace trace;
  const SamplingOptions options{
      .width = 100, .depth = 2, .neighbor_cap = 0, .time_bound = TimeBound::none};
  sample(graph(), std::vector<Seed>{{.type = NodeType(kPaper), .node = 1}}, options, &trace);
  ASSERT_EQ(trace.draws.size(), 2U * kTypes);

  // From the seed, paper 1 @2005: cited by 2 and 3 (1/2 each), cites 0 (1).
  // Squares 1, 1/4, 1/4: sum 3/2.
  expect_budget(trace, 1, kPaper,
                {{0, 2000, 1, 2.0 / 3}, {2, 2010, 0.5, 1.0 / 6}, {3, 2010, 0.5, 1.0 / 6}});

  // Plain nodes take the time of the paper through which they are met.
  // Paper 1 gave author 0 (first) and 1 (last) @2005; paper 0 gives author 0 @2000; paper 2 gives
  // 1 (first), 0 (other) and 2 (last) @2010; paper 3 gives 2 (first) @2010, which makes 2 in all.
  // Squares five times 1, and 4: sum 9.
  expect_budget(trace, 1, kAuthor,
                {{0, 2000, 1, 1.0 / 9},
                 {0, 2005, 1, 1.0 / 9},
                 {1, 2005, 1, 1.0 / 9},
                 {0, 2010, 1, 1.0 / 9},
                 {1, 2010, 1, 1.0 / 9},
                 {2, 2010, 2, 4.0 / 9}});

  // Level L0: field 0 once through each paper, so 2 @2010. Level L1: paper 0 gives 2; paper 1 gives
  // 1 and 2, half each; paper 2 gives 1; paper 3 gives 2.
  // Squares: 1 and 1 @2000; 1, 1/4, 1/4 @2005; 4, 1, 1 @2010; sum 19/2.
  expect_budget(trace, 1, kField,
                {{0, 2000, 1, 2.0 / 19},
                 {2, 2000, 1, 2.0 / 19},
                 {0, 2005, 1, 2.0 / 19},
                 {1, 2005, 0.5, 1.0 / 38},
                 {2, 2005, 0.5, 1.0 / 38},
                 {0, 2010, 2, 8.0 / 19},
                 {1, 2010, 1, 2.0 / 19},
                 {2, 2010, 1, 2.0 / 19}});

  // One venue per paper; papers 2 and 3 go to different ones.
  expect_budget(trace, 1, kVenue,
                {{1, 2000, 1, 0.25}, {0, 2005, 1, 0.25}, {0, 2010, 1, 0.25}, {1, 2010, 1, 0.25}});

  // Institute 0 is met through every author drawn: one @2000, two @2005, three @2010. Sum 14.
  expect_budget(trace, 1, kInstitute,
                {{0, 2000, 1, 1.0 / 14}, {0, 2005, 2, 4.0 / 14}, {0, 2010, 3, 9.0 / 14}});

  // All papers are in. The institute knows three authors (1/3 each), of which 1 and 2 are new
  // @2000, 2 is new @2005 and none @2010.
  expect_budget(trace, 2, kPaper, {});
  expect_budget(
      trace, 2, kAuthor,
      {{1, 2000, 1.0 / 3, 1.0 / 3}, {2, 2000, 1.0 / 3, 1.0 / 3}, {2, 2005, 1.0 / 3, 1.0 / 3}});
  // Within field 0 lie 1 and 2 (1/2 each); only 1 @2000 was not yet there.
  expect_budget(trace, 2, kField, {{1, 2000, 0.5, 1}});
  expect_budget(trace, 2, kVenue, {});
  expect_budget(trace, 2, kInstitute, {});
}

// One instance per draw. Among many random seeds one is sought that draws a given path.
TEST_F(WorkedExample, GivesTheBudgetsAlongADrawnPath) {
  Sampler sampler(graph(),
                  {.width = 1, .depth = 2, .neighbor_cap = 0, .time_bound = TimeBound::none});
  SamplingTrace trace;
  Subgraph subgraph;
  const auto on_path = [&] {
    return drew(trace, 1, kPaper, 3, 2010) && drew(trace, 1, kAuthor, 2, 2010) &&
           drew(trace, 1, kField, 2, 2010) && drew(trace, 1, kVenue, 1, 2010) &&
           drew(trace, 2, kPaper, 2, 2010);
  };
  uint64_t random_seed = 0;
  for (; random_seed < 20'000; ++random_seed) {
    sampler.sample({.seeds = {{.type = NodeType(kPaper), .node = 1}}}, random_seed, subgraph,
                   &trace);
    if (on_path()) break;
  }
  ASSERT_TRUE(on_path()) << "its probability is 1/6 * 1/3 * 2/7 * 1/2 * 81/277, about 1 in 400";

  expect_budget(trace, 1, kPaper,
                {{0, 2000, 1, 2.0 / 3}, {2, 2010, 0.5, 1.0 / 6}, {3, 2010, 0.5, 1.0 / 6}});
  // Paper 3 is drawn and brings its author, its fields and its venue @2010.
  expect_budget(trace, 1, kAuthor,
                {{0, 2005, 1, 1.0 / 3}, {1, 2005, 1, 1.0 / 3}, {2, 2010, 1, 1.0 / 3}});
  // Squares 1, 1/4, 1/4, 1, 1: sum 7/2.
  expect_budget(trace, 1, kField,
                {{0, 2005, 1, 2.0 / 7},
                 {1, 2005, 0.5, 1.0 / 14},
                 {2, 2005, 0.5, 1.0 / 14},
                 {0, 2010, 1, 2.0 / 7},
                 {2, 2010, 1, 2.0 / 7}});
  expect_budget(trace, 1, kVenue, {{0, 2005, 1, 0.5}, {1, 2010, 1, 0.5}});
  // Author 2 @2010 is drawn and brings the institute.
  expect_budget(trace, 1, kInstitute, {{0, 2010, 1, 1}});

  // Paper 0: 1 from the seed, 1/2 from paper 3 (which cites 0 and 1), 1/3 from field 2 (papers 0,
  // 1, 3), 1/2 from venue 1 (papers 0, 3): 7/3. Paper 2: 1/2 from the seed, 1 from author 2, who is
  // the last author of this paper only: 3/2. Squares 49/9 and 9/4, as 196 to 81.
  expect_budget(trace, 2, kPaper, {{0, 2000, 7.0 / 3, 196.0 / 277}, {2, 2010, 1.5, 81.0 / 277}});
  // Authors 0 and 1 @2010: 1/3 each from the institute and 1 each from paper 2, which was drawn.
  // Those @2005 are left over. Squares 1, 1, 16/9, 16/9: sum 50/9.
  expect_budget(trace, 2, kAuthor,
                {{0, 2005, 1, 9.0 / 50},
                 {1, 2005, 1, 9.0 / 50},
                 {0, 2010, 4.0 / 3, 16.0 / 50},
                 {1, 2010, 4.0 / 3, 16.0 / 50}});
  // One instance per draw, and the seed: 1 + 2 papers, 2 authors, 2 fields, 2 venues, and the
  // institute only if an author of another time brought it again.
  EXPECT_EQ(subgraph.num_rows(NodeType(kPaper)), 3U);
  EXPECT_EQ(subgraph.num_rows(NodeType(kAuthor)), 2U);
}

// Papers 2 and 3 are later than 2005, and so is the affiliation of author 2 (2009).
TEST_F(WorkedExample, LeavesOutWhatIsLaterThanTheBound) {
  SamplingTrace trace;
  const SamplingOptions options{.width = 100, .depth = 2, .neighbor_cap = 0, .split_end = 2005};
  sample(graph(), std::vector<Seed>{{.type = NodeType(kPaper), .node = 1}}, options, &trace);
  expect_budget(trace, 1, kPaper, {{0, 2000, 1, 1}});
  expect_budget(trace, 1, kAuthor,
                {{0, 2000, 1, 1.0 / 3}, {0, 2005, 1, 1.0 / 3}, {1, 2005, 1, 1.0 / 3}});
  expect_budget(trace, 1, kInstitute, {{0, 2000, 1, 0.2}, {0, 2005, 2, 0.8}});
  // The institute still has three entries, of which the third is not to be seen: 1/3 each.
  expect_budget(trace, 2, kAuthor, {{1, 2000, 1.0 / 3, 1}});
}

// A list longer than the cap gives `cap` entries with 1 / cap each.
TEST_F(WorkedExample, CutsLongListsToTheCap) {
  SamplingTrace trace;
  const SamplingOptions options{
      .width = 100, .depth = 1, .neighbor_cap = 1, .time_bound = TimeBound::none};
  sample(graph(), std::vector<Seed>{{.type = NodeType(kPaper), .node = 1}}, options, &trace);
  const SamplingTrace::Draw& papers = draw_of(trace, 1, kPaper);
  ASSERT_EQ(papers.candidates.size(), 2U) << "paper 0, and one of papers 2 and 3";
  for (const auto& each : papers.candidates) {
    EXPECT_EQ(each.weight, 1);
    EXPECT_EQ(each.probability, 0.5);
  }
}

}  // namespace
}  // namespace hgt
