// The audit finds every kind of leak, and none where there is none.
#include "hgt/task/audit.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

constexpr uint64_t kExamples = 64;

class AuditTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { graph_ = new TestGraph(library()); }
  static void TearDownTestSuite() { delete graph_; }

  static TaskSpec spec(const std::string& name, SplitRule split = SplitRule::time) {
    TaskSpec spec = find_task(name, (*graph_)->schema());
    spec.split = split;
    return spec;
  }
  static Audit audited(const TaskSpec& spec, TimeBound bound = TimeBound::automatic) {
    const SamplingOptions options{.strategy = Strategy::full, .depth = 2, .time_bound = bound};
    return audit(*open_task(**graph_, spec), options, kExamples);
  }
  static const Audit::Finding& of(const Audit& audit, Split split) {
    for (const Audit::Finding& finding : audit.findings) {
      if (finding.split == split) return finding;
    }
    throw std::logic_error("no such split");
  }

  static inline const TestGraph* graph_ = nullptr;
};

TEST_F(AuditTest, FindsNothingWhereTheGuardIsOn) {
  for (const SplitRule rule : {SplitRule::time, SplitRule::random}) {
    for (const Hidden hidden : {Hidden::batch, Hidden::split}) {
      for (const char* name : {"paper-venue", "paper-field-L1", "author-disambiguation",
                               "link:writes_first", "link:cites", "link:follows"}) {
        TaskSpec task = spec(name, rule);
        task.hide_links = hidden;
        const Audit found = audited(task);
        EXPECT_TRUE(found.clean()) << name << "\n" << audit_text(found);
        // Some papers have no time, and neither have authors.
        const bool bounded = rule == SplitRule::time;
        EXPECT_EQ(found.unbounded() == 0, bounded) << name;
        EXPECT_EQ(contains(audit_text(found), "Nothing leaks."), bounded) << audit_text(found);
      }
    }
  }
  EXPECT_TRUE(audited(spec("link:knows", SplitRule::random)).clean());
  EXPECT_TRUE(audited(spec("paper-venue"), TimeBound::seed).clean());
}

TEST_F(AuditTest, FindsPredictedLinksWithoutTheGuard) {
  for (const char* name : {"paper-venue", "author-disambiguation", "link:writes_first"}) {
    TaskSpec task = spec(name);
    task.guard = false;
    const Audit found = audited(task);
    EXPECT_FALSE(found.clean()) << name;
    EXPECT_GT(of(found, Split::test).predicted_links, 0U) << name;
    EXPECT_NE(of(found, Split::test).first, "");
    EXPECT_TRUE(contains(audit_text(found), "\nThe sub-graphs leak.\n"));
  }
  TaskSpec mutual = spec("link:knows", SplitRule::random);
  mutual.guard = false;
  EXPECT_FALSE(audited(mutual).clean());
}

TEST_F(AuditTest, FindsLinksThatGiveTheAnswerAway) {
  TaskSpec task = spec("paper-venue");
  task.edges = {"pub_conference", "pub_journal"};
  task.also_hide = {"sent_to"};
  EXPECT_TRUE(audited(task).clean());
  task.guard = false;
  EXPECT_GT(of(audited(task), Split::test).hidden_links, 0U);
}

TEST_F(AuditTest, FindsNodesAndEdgesAfterTheEndOfTheSplitWhateverTheBound) {
  const Audit found = audited(spec("paper-venue"), TimeBound::none);
  EXPECT_GT(of(found, Split::train).late_nodes, 0U);
  EXPECT_EQ(of(found, Split::test).late_nodes, 0U) << "nothing is later than the end";
  EXPECT_FALSE(found.clean());
  EXPECT_GT(of(found, Split::train).late_edges, 0U);
  EXPECT_TRUE(audited(spec("paper-venue", SplitRule::random), TimeBound::none).clean())
      << "where the split is not by time, there is no end";
}

// A sampler that holds less than it promised: what a looser bound leaves is measured by a stricter.
TEST_F(AuditTest, HoldsEachSeedToItsOwnTime) {
  const auto task = open_task(**graph_, spec("paper-venue"));
  const Question question = task->question(Split::test, all_examples(*task, Split::test), 0);
  const auto late = [&](TimeBound drawn_with) {
    Audit::Finding finding;
    const Subgraph subgraph =
        sampled_for(*task, Split::test, question,
                    {.strategy = Strategy::full, .depth = 2, .time_bound = drawn_with});
    count_offences(*task, Split::test, TimeBound::seed, question, subgraph, finding);
    return finding.late_nodes;
  };
  EXPECT_EQ(late(TimeBound::seed), 0U);
  EXPECT_GT(late(TimeBound::split), 0U);
}

// The links of other examples of the split: hidden from the batch alone, they are seen.
TEST_F(AuditTest, FindsLinksOfOtherExamplesWhereTheSplitIsToBeHidden) {
  for (const SplitRule rule : {SplitRule::time, SplitRule::random}) {
    for (const char* name : {"paper-venue", "link:writes_first"}) {
      TaskSpec whole = spec(name, rule);
      whole.hide_links = Hidden::split;
      TaskSpec batch = whole;
      batch.hide_links = Hidden::batch;
      const auto task = open_task(**graph_, whole);
      const auto careless = open_task(**graph_, batch);
      const std::vector<uint32_t> one = {0};
      const Question question = task->question(Split::test, one, 0);
      const auto seen = [&](const Task& drawn_with) {
        Audit::Finding finding;
        const Subgraph subgraph =
            sampled_for(drawn_with, Split::test, question,
                        {.strategy = Strategy::full, .depth = 3, .time_bound = TimeBound::none});
        count_offences(*task, Split::test, TimeBound::split, question, subgraph, finding);
        return finding.predicted_links;
      };
      EXPECT_GT(seen(*careless), 0U) << name;
      EXPECT_EQ(seen(*task), 0U) << name;
    }
  }
}

// --- features ---

// The library with features of authors that know what was known until then.
TestGraph library_with_features(std::optional<Time> until,
                                const std::vector<std::string>& edges = {}) {
  return TestGraph(library_schema(), [&](GraphBuilder& builder) {
    builder.declare_features(builder.schema().node_type("author"),
                             {.width = 1, .origin = "made up", .until = until, .edges = edges});
    builder.declare_features(builder.schema().node_type("paper"),
                             {.width = 1, .origin = "words", .until = {}});
    add_library_nodes(builder);
    add_library_edges(builder);
  });
}

Audit audit_of_features(const TestGraph& graph, SplitRule rule, const std::string& train_end) {
  TaskSpec spec = find_task("paper-venue", graph->schema());
  spec.split = rule;
  spec.train_end = train_end;
  return audit(*open_task(*graph, spec), {.width = 4, .depth = 1}, 1);
}

std::string refusal_of_features(const TestGraph& graph, SplitRule rule,
                                const std::string& train_end) {
  TaskSpec spec = find_task("paper-venue", graph->schema());
  spec.split = rule;
  spec.train_end = train_end;
  const auto task = open_task(*graph, spec);
  return error_of([&] { refuse_leaking_features(*task); });
}

TEST(AuditedFeatures, LeakWhenTheyKnowWhatIsLaterThanTraining) {
  const TestGraph graph = library_with_features(2014);
  EXPECT_TRUE(audit_of_features(graph, SplitRule::time, "2014").clean());
  EXPECT_EQ(refusal_of_features(graph, SplitRule::time, "2014"), "");
  const Audit late = audit_of_features(graph, SplitRule::time, "2012");
  EXPECT_FALSE(late.clean());
  const std::string what =
      "features of author (made up): made with data up to 2014, but training ends with 2012; make "
      "them again with --until 2012";
  EXPECT_EQ(late.leaking_features, std::vector<std::string>{what});
  EXPECT_TRUE(contains(audit_text(late), "\nThe features leak.\n")) << audit_text(late);
  EXPECT_EQ(refusal_of_features(graph, SplitRule::time, "2012"),
            (*graph).folder().string() + ": " + what + " (hgt features), or choose --no-guard");
}

TEST(AuditedFeatures, AreNotHeldToAnEndThatTheSplitDoesNotHave) {
  const TestGraph graph = library_with_features(2018);
  const Audit found = audit_of_features(graph, SplitRule::random, "");
  EXPECT_TRUE(found.clean());
  EXPECT_TRUE(contains(audit_text(found),
                       "made with nothing later than 2018, so they may know what comes after"))
      << audit_text(found);
  EXPECT_EQ(refusal_of_features(graph, SplitRule::random, ""), "");
}

TEST(AuditedFeatures, LeakWhenTheyCameByEdgesThatAreHidden) {
  const TestGraph harmless = library_with_features({}, {"cites", "writes_first"});
  EXPECT_TRUE(audit_of_features(harmless, SplitRule::random, "").clean());
  EXPECT_EQ(refusal_of_features(harmless, SplitRule::random, ""), "");
  const TestGraph graph = library_with_features({}, {"cites", "pub_journal", "writes_first"});
  for (const SplitRule rule : {SplitRule::random, SplitRule::time}) {
    EXPECT_FALSE(audit_of_features(graph, rule, "").clean());
    EXPECT_TRUE(contains(refusal_of_features(graph, rule, ""),
                         "features of author (made up): made along edges of type pub_journal, "
                         "which task paper-venue hides; make them again with --task paper-venue"));
  }
  TaskSpec fields = find_task("paper-field-L1", graph->schema());
  EXPECT_EQ(error_of([&] { refuse_leaking_features(*open_task(*graph, fields)); }), "");
  fields.also_hide = {"pub_journal"};
  EXPECT_NE(error_of([&] { refuse_leaking_features(*open_task(*graph, fields)); }), "");
}

TEST(AuditedFeatures, OfWhichNothingIsKnownAreNoted) {
  const std::string text =
      audit_text(audit_of_features(library_with_features({}), SplitRule::time, ""));
  EXPECT_TRUE(contains(text, "features of author (made up): the type has no time, so the graph"));
  EXPECT_TRUE(contains(text, "features of paper (words): each belongs to a node")) << text;
}

}  // namespace
}  // namespace hgt
