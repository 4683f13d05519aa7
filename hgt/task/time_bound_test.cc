// Every row of the table of time bounds in docs/training.md.
#include "hgt/task/time_bound.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/task/audit.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

// --- graphs ---

Schema archive_schema(NodeKind of_papers) {
  Schema schema;
  schema.add_node_type("paper", of_papers);
  schema.add_node_type("memo", of_papers);
  schema.at(schema.add_node_type("author", NodeKind::plain)).names = true;
  schema.add_node_type("venue", NodeKind::plain);
  const bool times = of_papers == NodeKind::event;
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
  schema.add_relation({.source = "memo", .edge = "about", .target = "paper"});
  schema.add_relation({.source = "paper", .edge = "in", .target = "venue"});
  schema.add_relation({.source = "paper", .edge = "cites", .target = "paper"});
  schema.add_relation({.source = "author", .edge = "follows", .target = "venue", .times = times});
  schema.number_relations();
  return schema;
}

// Unlike those of the library, all papers are dated. Half of the memos are; `dated` is false: none.
TestGraph archive(bool dated) {
  constexpr NodeId kPapers = 60;
  const auto add_nodes = [=](GraphBuilder& builder) {
    const Schema& schema = builder.schema();
    const auto year = [=](NodeId i) { return dated ? 2010 + static_cast<Time>(i % 10) : kNoTime; };
    for (NodeId i = 0; i < kPapers; ++i) {
      builder.add_node(schema.node_type("paper"), {.id = "P" + std::to_string(i), .time = year(i)});
      builder.add_node(schema.node_type("memo"),
                       {.id = "M" + std::to_string(i), .time = i % 2 == 0 ? year(i) : kNoTime});
    }
    for (NodeId i = 0; i < 12; ++i) {
      builder.add_node(schema.node_type("author"),
                       {.id = "A" + std::to_string(i), .name = "Name " + std::to_string(i % 3)});
    }
    for (NodeId i = 0; i < 5; ++i) {
      builder.add_node(schema.node_type("venue"), {.id = "V" + std::to_string(i)});
    }
  };
  const auto add_edges = [=](GraphBuilder& builder) {
    const Schema& schema = builder.schema();
    for (NodeId i = 0; i < kPapers; ++i) {
      const auto add = [&](const char* source, const char* edge, const char* target, Edge ends) {
        builder.add_edge(schema.relation(source, edge, target), ends);
      };
      add("author", "writes", "paper", {.source = i % 12, .target = i});
      add("author", "writes", "paper", {.source = (i * 7 + 1) % 12, .target = i});
      add("memo", "about", "paper", {.source = i, .target = (i * 3) % kPapers});
      add("paper", "in", "venue", {.source = i, .target = (i * 11 / 3) % 5});
      add("paper", "cites", "paper", {.source = i, .target = (i * 17 + 5) % kPapers});
      const Time when = dated ? 2010 + static_cast<Time>(i % 10) : kNoTime;
      add("author", "follows", "venue", {.source = i % 12, .target = i % 5, .time = when});
    }
  };
  const auto add_labels = [](GraphBuilder& builder) {
    const Schema& schema = builder.schema();
    const auto label = [&](const char* type, const char* name, NodeId count, bool split) {
      const NodeType node = schema.node_type(type);
      const uint32_t column = builder.declare_label(node, name);
      for (NodeId i = 0; i < count; ++i) {
        builder.add_label(node, column, i, i % 2 == 0 ? "even" : "odd");
        if (split) builder.set_split(node, column, i, Split(1 + i % 3));
      }
    };
    label("paper", "topic", kPapers, false);
    label("paper", "shelf", kPapers, true);
    label("memo", "topic", kPapers, false);
    label("author", "group", 12, true);
  };
  return TestGraph(archive_schema(dated ? NodeKind::event : NodeKind::plain),
                   [&](GraphBuilder& builder) {
                     add_nodes(builder);
                     add_edges(builder);
                     add_labels(builder);
                   });
}

// --- the table ---

enum class Verdict {
  refused,        // the bound, before anything is sampled
  nothing_leaks,  // and all examples have a bound
  no_bound,       // for any example
  partly,         // for some examples
  leaks,          // what is later than the end of the split
};

struct TableRow {
  const char* name;  // of the test
  const char* task;
  SplitRule split = SplitRule::time;
  TimeBound asked = TimeBound::automatic;
  TimeBound settled = TimeBound::split;
  Verdict verdict = Verdict::nothing_leaks;
  std::optional<bool> sees_later = {};  // than its example, in the test split
  bool dated = true;                    // the graph
};

using enum TimeBound;
using enum Verdict;
constexpr SplitRule kByTime = SplitRule::time;
constexpr SplitRule kRandom = SplitRule::random;
constexpr SplitRule kGiven = SplitRule::given;

const std::vector<TableRow> kTable = {
    // by time: labels of events
    {"LabelByTime", "paper:topic", kByTime, automatic, seed, nothing_leaks, false},
    {"LabelByTimeSplit", "paper:topic", kByTime, split, split, nothing_leaks, true},
    {"LabelByTimeSeed", "paper:topic", kByTime, seed, seed, nothing_leaks, false},
    {"LabelByTimeNone", "paper:topic", kByTime, none, none, leaks, true},
    // by time: the other kinds
    {"EdgeByTime", "paper-venue", kByTime, automatic, split, nothing_leaks, true},
    {"EdgeByTimeSplit", "paper-venue", kByTime, split, split, nothing_leaks, true},
    {"EdgeByTimeSeed", "paper-venue", kByTime, seed, seed, nothing_leaks, false},
    {"EdgeByTimeNone", "paper-venue", kByTime, none, none, leaks, true},
    {"NameByTime", "author-disambiguation", kByTime, automatic, split, nothing_leaks, true},
    {"NameByTimeSplit", "author-disambiguation", kByTime, split, split, nothing_leaks, true},
    {"NameByTimeSeed", "author-disambiguation", kByTime, seed, seed, nothing_leaks, false},
    {"NameByTimeNone", "author-disambiguation", kByTime, none, none, leaks, true},
    {"LinkByTime", "link:cites", kByTime, automatic, split, nothing_leaks},
    {"LinkByTimeSplit", "link:cites", kByTime, split, split, nothing_leaks},
    {"LinkByTimeSeed", "link:cites", kByTime, seed, seed, nothing_leaks, false},
    {"LinkByTimeNone", "link:cites", kByTime, none, none, leaks},
    {"UndatedLinkByTime", "link:follows", kByTime, automatic, split, nothing_leaks},
    {"UndatedLinkByTimeSplit", "link:follows", kByTime, split, split, nothing_leaks},
    {"UndatedLinkByTimeSeed", "link:follows", kByTime, seed, seed, nothing_leaks, false},
    {"UndatedLinkByTimeNone", "link:follows", kByTime, none, none, leaks},
    // at random or given: labels of events
    {"LabelAtRandom", "paper:topic", kRandom, automatic, seed, nothing_leaks, false},
    {"LabelAtRandomSplit", "paper:topic", kRandom, split, split, refused},
    {"LabelAtRandomSeed", "paper:topic", kRandom, seed, seed, nothing_leaks, false},
    {"LabelAtRandomNone", "paper:topic", kRandom, none, none, no_bound, true},
    {"LabelGiven", "paper:shelf", kGiven, automatic, seed, nothing_leaks, false},
    {"LabelGivenSplit", "paper:shelf", kGiven, split, split, refused},
    {"LabelGivenSeed", "paper:shelf", kGiven, seed, seed, nothing_leaks, false},
    {"LabelGivenNone", "paper:shelf", kGiven, none, none, no_bound, true},
    // at random or given: labels of nodes some or all of which have no time
    {"HalfDatedAtRandom", "memo:topic", kRandom, automatic, seed, partly, false},
    {"HalfDatedAtRandomSplit", "memo:topic", kRandom, split, split, refused},
    {"HalfDatedAtRandomSeed", "memo:topic", kRandom, seed, seed, partly, false},
    {"HalfDatedAtRandomNone", "memo:topic", kRandom, none, none, no_bound, true},
    {"UndatedLabelGiven", "author:group", kGiven, automatic, seed, no_bound, false},
    {"UndatedLabelGivenSplit", "author:group", kGiven, split, split, refused},
    {"UndatedLabelGivenSeed", "author:group", kGiven, seed, seed, no_bound, false},
    {"UndatedLabelGivenNone", "author:group", kGiven, none, none, no_bound, false},
    {"UndatedEdgeAtRandom", "author-venue", kRandom, automatic, seed, no_bound, false},
    {"UndatedEdgeAtRandomSplit", "author-venue", kRandom, split, split, refused},
    {"UndatedEdgeAtRandomSeed", "author-venue", kRandom, seed, seed, no_bound, false},
    {"UndatedEdgeAtRandomNone", "author-venue", kRandom, none, none, no_bound, false},
    // at random: the other kinds
    {"EdgeAtRandom", "paper-venue", kRandom, automatic, seed, nothing_leaks, false},
    {"EdgeAtRandomSplit", "paper-venue", kRandom, split, split, refused},
    {"EdgeAtRandomSeed", "paper-venue", kRandom, seed, seed, nothing_leaks, false},
    {"EdgeAtRandomNone", "paper-venue", kRandom, none, none, no_bound, true},
    {"NameAtRandom", "author-disambiguation", kRandom, automatic, seed, nothing_leaks, false},
    {"NameAtRandomSplit", "author-disambiguation", kRandom, split, split, refused},
    {"NameAtRandomSeed", "author-disambiguation", kRandom, seed, seed, nothing_leaks, false},
    {"NameAtRandomNone", "author-disambiguation", kRandom, none, none, no_bound, true},
    {"LinkAtRandom", "link:cites", kRandom, automatic, seed, nothing_leaks, false},
    {"LinkAtRandomSplit", "link:cites", kRandom, split, split, refused},
    {"LinkAtRandomSeed", "link:cites", kRandom, seed, seed, nothing_leaks, false},
    {"LinkAtRandomNone", "link:cites", kRandom, none, none, no_bound},
    {"UndatedLinkAtRandom", "link:follows", kRandom, automatic, seed, no_bound, false},
    {"UndatedLinkAtRandomSplit", "link:follows", kRandom, split, split, refused},
    {"UndatedLinkAtRandomSeed", "link:follows", kRandom, seed, seed, no_bound, false},
    {"UndatedLinkAtRandomNone", "link:follows", kRandom, none, none, no_bound},
    // a graph without times
    {"Timeless", "paper:topic", kRandom, automatic, none, nothing_leaks, false, false},
    {"TimelessSplit", "paper:topic", kRandom, split, none, nothing_leaks, false, false},
    {"TimelessSeed", "paper:shelf", kGiven, seed, none, nothing_leaks, false, false},
    {"TimelessNone", "link:cites", kRandom, none, none, nothing_leaks, false, false},
};

class TimeBoundTable : public testing::TestWithParam<TableRow> {
 protected:
  static void SetUpTestSuite() {
    dated_ = new TestGraph(archive(true));
    timeless_ = new TestGraph(archive(false));
  }
  static void TearDownTestSuite() {
    delete dated_;
    delete timeless_;
  }
  static std::unique_ptr<const Task> task() {
    const TestGraph& graph = GetParam().dated ? *dated_ : *timeless_;
    TaskSpec spec = find_task(GetParam().task, graph->schema());
    spec.split = GetParam().split;
    return open_task(*graph, spec);
  }
  static Audit audited(const Task& task) {
    return audit(task, {.strategy = Strategy::full, .depth = 2, .time_bound = GetParam().asked},
                 1000);
  }

  static inline const TestGraph* dated_ = nullptr;
  static inline const TestGraph* timeless_ = nullptr;
};

TEST_P(TimeBoundTable, SaysWhichBoundIsInForce) {
  const TableRow& row = GetParam();
  const auto task = TimeBoundTable::task();
  const auto settle = [&] { return task->time_bound(row.asked); };
  if (row.verdict == refused) {
    const std::string error = error_of(settle);
    EXPECT_TRUE(contains(error, "would bound nothing; train with --time-bound seed")) << error;
    EXPECT_TRUE(contains(error, std::string(to_string(row.split)))) << error;
    EXPECT_EQ(error_of([&] { task->sampling({.time_bound = row.asked}, Split::test); }), error);
    EXPECT_EQ(error_of([&] { audited(*task); }), error);
    return;
  }
  EXPECT_EQ(settle(), row.settled);
  for (const Split each : kSplits) {
    const SamplingOptions options = task->sampling({.time_bound = row.asked}, each);
    EXPECT_EQ(options.time_bound, row.settled);
    if (row.settled == split) {
      EXPECT_EQ(options.split_end, task->time_split().last_time(each));
    }
  }
}

TEST_P(TimeBoundTable, IsWhatTheAuditFinds) {
  const TableRow& row = GetParam();
  if (row.verdict == refused) return;
  const auto task = TimeBoundTable::task();
  const Audit found = audited(*task);
  const std::string text = audit_text(found);
  uint64_t examples = 0;
  for (const Audit::Finding& finding : found.findings) examples += finding.examples;
  EXPECT_EQ(found.clean(), row.verdict != leaks) << text;
  EXPECT_EQ(contains(text, "Nothing leaks."), row.verdict == nothing_leaks) << text;
  EXPECT_EQ(contains(text, "The sub-graphs leak."), row.verdict == leaks) << text;
  if (row.verdict == no_bound) {
    EXPECT_EQ(found.unbounded(), examples) << text;
  } else if (row.verdict == partly) {
    EXPECT_GT(found.unbounded(), 0U);
    EXPECT_LT(found.unbounded(), examples);
  }
  const bool tells = row.verdict == no_bound || row.verdict == partly;
  EXPECT_EQ(contains(text, "No time bounds what "), tells) << text;
  const Audit::Finding& last = found.findings.back();
  if (row.sees_later) {
    EXPECT_EQ(last.later_nodes + last.later_edges > 0, *row.sees_later) << text;
  }
  const std::string bound = describe_time_bound(*task, row.settled);
  EXPECT_TRUE(text.starts_with("time bound " + bound + "\n")) << text;
  EXPECT_TRUE(bound.starts_with(std::string(to_string(row.settled)) + ": ")) << bound;
  EXPECT_EQ(contains(bound, "the graph has no times"), !row.dated) << bound;
}

INSTANTIATE_TEST_SUITE_P(OfTheDocuments, TimeBoundTable, testing::ValuesIn(kTable),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(TimeBoundInWords, TellsForWhomThereIsNone) {
  const TestGraph graph = archive(true);
  const auto words = [&](const char* name, SplitRule rule, TimeBound bound) {
    TaskSpec spec = find_task(name, graph->schema());
    spec.split = rule;
    return describe_time_bound(*open_task(*graph, spec), bound);
  };
  const std::string own = "seed: a sub-graph contains nothing later than its own example";
  EXPECT_EQ(words("paper:topic", kByTime, split),
            "split: a sub-graph contains nothing later than 2014 in training and 2016 in "
            "validation; in testing there is no end");
  EXPECT_EQ(words("paper:topic", kRandom, none),
            "none: a sub-graph may contain what is later than its example");
  EXPECT_EQ(words("paper:topic", kRandom, seed), own);
  EXPECT_EQ(words("author-disambiguation", kRandom, seed), own) << "at the time of the mention";
  EXPECT_EQ(words("link:follows", kByTime, seed), own) << "at the end of the split";
  EXPECT_EQ(words("memo:topic", kRandom, seed),
            own + "; 30 of 60 nodes of type memo have no time, so there is no bound for them");
  EXPECT_EQ(words("link:follows", kRandom, seed),
            own +
                "; nodes of type author have no time, so there is no bound for them; nodes of "
                "type venue have no time, so there is no bound for them");
}

}  // namespace
}  // namespace hgt
