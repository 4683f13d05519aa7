// What is asked for must not be seen: the sub-graphs of every kind of task.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

// The links of a relation that a question asks about.
Links asked_links(const Task& task, const Question& question, Relation relation) {
  Links asked;
  const auto& seeds = question.request.seeds;
  if (task.num_classes() > 0) {
    for (const Ends& link : links_of(task.graph(), relation)) {
      const bool about = std::any_of(seeds.begin(), seeds.end(),
                                     [&](const Seed& seed) { return seed.node == link.second; });
      if (about) asked.insert(link);
    }
    return asked;
  }
  const Links all = links_of(task.graph(), relation);
  for (size_t i = 0; i < question.left.size(); ++i) {
    const Ends pair = {seeds[question.right[i]].node, seeds[question.left[i]].node};
    if (all.contains(pair)) asked.insert(pair);
  }
  return asked;
}

uint64_t common(const Links& a, const Links& b) {
  return static_cast<uint64_t>(
      std::count_if(a.begin(), a.end(), [&](const Ends& link) { return b.contains(link); }));
}

// A few, from all over the split.
std::vector<std::vector<uint32_t>> batches_of(const Task& task, Split split, uint64_t size) {
  std::vector<std::vector<uint32_t>> batches(4);
  Draws draws(hash(size, split));
  for (std::vector<uint32_t>& batch : batches) {
    for (uint64_t i = 0; i < size; ++i) {
      batch.push_back(static_cast<uint32_t>(draws.below(task.num_examples(split))));
    }
  }
  return batches;
}

void expect_nothing_later(const HeteroGraph& graph, const Subgraph& subgraph, Time last) {
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    const NodeType type = subgraph.type_of(row);
    EXPECT_LE(graph.time(type, subgraph.nodes[row]), last);
    EXPECT_LE(subgraph.times[row], last);
    for (const uint64_t edge : subgraph.incoming(row)) {
      const Relation relation = subgraph.relations[edge];
      if (subgraph.positions[edge] == kSelfEdge || !graph.schema().at(relation).times) continue;
      EXPECT_LE(graph.edge_time(relation, subgraph.nodes[row], subgraph.positions[edge]), last);
    }
  }
}

class TaskGuardTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { graph_ = new TestGraph(library()); }
  static void TearDownTestSuite() { delete graph_; }

  static TaskSpec spec(const std::string& name, SplitRule split) {
    TaskSpec spec = find_task(name, (*graph_)->schema());
    spec.split = split;
    return spec;
  }

  // Tasks of every kind, by time and at random.
  static std::vector<TaskSpec> specs() {
    std::vector<TaskSpec> specs;
    for (const SplitRule rule : {SplitRule::time, SplitRule::random}) {
      for (const char* name : {"paper-venue", "paper-field-L1", "author-disambiguation",
                               "link:writes_first", "link:cites", "link:follows"}) {
        specs.push_back(spec(name, rule));
      }
      specs.push_back(spec("link:cites", rule));
      specs.back().kind = TaskKind::edge;
    }
    specs.push_back(spec("link:knows", SplitRule::random));
    return specs;
  }

  // Papers were sent where they appear and thank their authors; topics lie in fields.
  static std::vector<TaskSpec> specs_with_giveaways(SplitRule rule) {
    TaskSpec venue = spec("paper-venue", rule);
    venue.edges = {"pub_conference", "pub_journal"};
    venue.also_hide = {"sent_to"};
    TaskSpec topic = spec("paper:topic", rule);
    topic.also_hide = {"rev_in_L1"};
    TaskSpec writer = spec("link:writes_first", rule);
    writer.also_hide = {"thanks"};
    TaskSpec name = spec("author-disambiguation", rule);
    name.edges = {"writes_first", "writes_other"};
    name.also_hide = {"thanks"};
    return {venue, topic, writer, name};
  }

  static inline const TestGraph* graph_ = nullptr;
};

struct Seen {
  uint64_t asked = 0;   // predicted links that the batch asks about
  uint64_t others = 0;  // other links of the same relations
};

Seen seen_by(const Task& task, Split split, const SamplingOptions& options,
             std::span<const Relation> relations) {
  Seen seen;
  for (const auto& batch : batches_of(task, split, 5)) {
    const Question question = task.question(split, batch, 11);
    const Subgraph subgraph = sampled_for(task, split, question, options);
    for (const Relation relation : relations) {
      const Links shown = links_seen(task.graph().schema(), subgraph, relation);
      const uint64_t asked = common(shown, asked_links(task, question, relation));
      seen.asked += asked;
      seen.others += shown.size() - asked;
    }
    if (task.time_bound(options.time_bound) == TimeBound::split) {
      expect_nothing_later(task.graph(), subgraph, task.time_split().last_time(split));
    }
  }
  return seen;
}

const std::vector<SamplingOptions> kOptions = {
    {.strategy = Strategy::full, .depth = 2},
    {.width = 20, .depth = 3},
    {.strategy = Strategy::full, .depth = 2, .time_bound = TimeBound::none},
    {.width = 20, .depth = 3, .time_bound = TimeBound::seed}};

TEST_F(TaskGuardTest, EdgeTypesThatAreLeftOutAreNeverSeen) {
  const Schema& schema = (*graph_)->schema();
  const std::vector<Relation> cites = {schema.relation("paper", "cites", "paper")};
  for (const bool guard : {true, false}) {
    TaskSpec spec = this->spec("paper-venue", SplitRule::time);
    spec.guard = guard;
    const auto whole = open_task(**graph_, spec);
    spec.leave_out = {"cites"};
    const auto task = open_task(**graph_, spec);
    EXPECT_EQ(task->left_out(), cites);
    for (const SamplingOptions& options : kOptions) {
      EXPECT_GT(seen_by(*whole, Split::train, options, cites).others, 0U);
      const Seen seen = seen_by(*task, Split::train, options, cites);
      EXPECT_EQ(seen.asked + seen.others, 0U);
    }
  }
  TaskSpec wrong = spec("paper-venue", SplitRule::time);
  wrong.leave_out = {"cits"};
  EXPECT_EQ(error_of([&] { open_task(**graph_, wrong); }),
            "leave-out: the graph has no edge type 'cits'");
}

TEST_F(TaskGuardTest, HidesWhatIsAskedForInBothDirections) {
  for (const TaskSpec& spec : specs()) {
    const auto task = open_task(**graph_, spec);
    for (const Split split : kSplits) {
      for (const SamplingOptions& options : kOptions) {
        const Seen seen = seen_by(*task, split, options, task->predicted());
        EXPECT_EQ(seen.asked, 0U) << spec.name << " " << to_string(split);
        EXPECT_GT(seen.others, 0U) << spec.name << ": the other links are there to be used";
      }
    }
  }
}

TEST_F(TaskGuardTest, WhenOffShowsWhatIsAskedForAndStillNothingLater) {
  for (TaskSpec spec : specs()) {
    spec.guard = false;
    const auto task = open_task(**graph_, spec);
    for (const Split split : kSplits) {
      const Seen seen = seen_by(*task, split, kOptions[0], task->predicted());
      EXPECT_GT(seen.asked, 0U) << spec.name << " " << to_string(split);
      const auto& hidden = task->sampling({}, split).hidden;
      EXPECT_TRUE(hidden.at_seeds.empty() && hidden.edges.empty() && hidden.everywhere.empty());
    }
  }
}

TEST_F(TaskGuardTest, HidesOtherEdgeTypesThatGiveTheAnswerAway) {
  for (const SplitRule rule : {SplitRule::time, SplitRule::random}) {
    for (const TaskSpec& spec : specs_with_giveaways(rule)) {
      const auto closed = open_task(**graph_, spec);
      ASSERT_EQ(closed->also_hidden().size(), 1U);
      TaskSpec careless = spec;
      careless.also_hide.clear();
      const auto open = open_task(**graph_, careless);
      for (const Split split : kSplits) {
        const auto seen = [&](const Task& task) {
          return seen_by(task, split, kOptions[0], closed->also_hidden());
        };
        EXPECT_GT(seen(*open).asked, 0U) << spec.name;
        EXPECT_EQ(seen(*closed).asked, 0U) << spec.name;
        EXPECT_GT(seen(*closed).others, 0U) << spec.name;
        EXPECT_EQ(seen_by(*closed, split, kOptions[0], closed->predicted()).asked, 0U);
      }
    }
  }
}

TEST_F(TaskGuardTest, KeepsOtherEdgesThatAreHiddenAlready) {
  const auto task = open_task(**graph_, spec("paper-venue", SplitRule::time));
  const Relation cites = graph_->relation("paper", "cites", "paper");
  SamplingOptions options{.width = 7};
  options.hidden.at_seeds = {cites};
  const SamplingOptions guarded = task->sampling(options, Split::train);
  EXPECT_EQ(guarded.width, 7U);
  EXPECT_EQ(guarded.hidden.at_seeds.front(), cites);
  EXPECT_EQ(guarded.hidden.at_seeds.size(), 1 + task->predicted().size());
}

TEST_F(TaskGuardTest, EndsWithTheSplitWhereItIsByTime) {
  const auto by_time = open_task(**graph_, spec("paper-venue", SplitRule::time));
  EXPECT_EQ(by_time->sampling({}, Split::train).split_end, 2014);
  EXPECT_EQ(by_time->sampling({}, Split::validation).split_end, 2016);
  EXPECT_GE(by_time->sampling({}, Split::test).split_end, 2019);
  const auto random = open_task(**graph_, spec("paper-venue", SplitRule::random));
  for (const Split split : kSplits) {
    EXPECT_EQ(random->sampling({}, split).time_bound, TimeBound::seed);
    for (const TimeBound bound : {TimeBound::seed, TimeBound::none}) {
      const auto other = by_time->sampling({.time_bound = bound, .split_end = 2000}, split);
      EXPECT_EQ(other.time_bound, bound);
      EXPECT_EQ(other.split_end, 2000) << "it is left alone";
    }
  }
}

// --- hiding the links of whole splits ---

// The links of a relation that are examples of a split.
Links example_links(const Task& task, Split split, Relation relation) {
  Question question = task.question(split, all_examples(task, split), Task::kNoDraw);
  if (task.num_classes() > 0) return asked_links(task, question, relation);
  const Links all = links_of(task.graph(), relation);
  Links links;
  for (size_t i = 0; i < question.left.size(); ++i) {
    const auto& seeds = question.request.seeds;
    const Ends pair = {seeds[question.right[i]].node, seeds[question.left[i]].node};
    if (question.relevant[i] == 1 && all.contains(pair)) links.insert(pair);
  }
  return links;
}

// How many example links of each split are seen while one is read, by split.
std::map<Split, uint64_t> example_links_seen(const Task& task, Split split, TimeBound bound,
                                             std::span<const Relation> relations) {
  std::map<Split, uint64_t> seen;
  const SamplingOptions options{.strategy = Strategy::full, .depth = 2, .time_bound = bound};
  std::map<Relation, Links> shown;
  for (const auto& batch : batches_of(task, split, 2)) {
    const Subgraph subgraph = sampled_for(task, split, task.question(split, batch, 11), options);
    for (const Relation relation : relations) {
      shown[relation].merge(links_seen(task.graph().schema(), subgraph, relation));
    }
  }
  for (const auto& [relation, links] : shown) {
    for (const Split each : kSplits) {
      seen[each] += common(links, example_links(task, each, relation));
    }
  }
  return seen;
}

TEST_F(TaskGuardTest, OfSplitsHidesTheLinksOfTheSplitAndOfLaterOnes) {
  for (TaskSpec spec : specs()) {
    spec.hide_links = Hidden::split;
    const auto task = open_task(**graph_, spec);
    for (const TimeBound bound : {TimeBound::automatic, TimeBound::none}) {
      for (const Split split : kSplits) {
        auto seen = example_links_seen(*task, split, bound, task->predicted());
        const std::string where = spec.name + " " + std::string(to_string(split));
        EXPECT_GT(seen[Split::train], 0U) << where << ": what is for training may be seen";
        EXPECT_EQ(seen[Split::test], 0U) << where;
        if (split == Split::test) {
          EXPECT_GT(seen[Split::validation], 0U) << where << ": it lies before";
        } else {
          EXPECT_EQ(seen[Split::validation], 0U) << where;
        }
      }
    }
  }
}

TEST_F(TaskGuardTest, OfBatchesHidesNoLinksOfOthers) {
  for (TaskSpec spec : specs()) {
    spec.hide_links = Hidden::batch;
    const auto task = open_task(**graph_, spec);
    for (const Split split : kSplits) {
      auto seen = example_links_seen(*task, split, TimeBound::none, task->predicted());
      for (const Split each : kSplits) EXPECT_GT(seen[each], 0U) << spec.name;
    }
  }
}

TEST_F(TaskGuardTest, OfSplitsHidesOtherEdgeTypesThatGiveTheAnswerAway) {
  for (TaskSpec spec : specs_with_giveaways(SplitRule::random)) {
    spec.hide_links = Hidden::split;
    const auto task = open_task(**graph_, spec);
    const auto seen = [&](Split split) {
      return example_links_seen(*task, split, TimeBound::automatic, task->also_hidden());
    };
    EXPECT_GT(seen(Split::train)[Split::train], 0U) << spec.name;
    EXPECT_EQ(seen(Split::train)[Split::validation], 0U) << spec.name;
    EXPECT_EQ(seen(Split::train)[Split::test], 0U) << spec.name;
    EXPECT_EQ(seen(Split::test)[Split::test], 0U) << spec.name;
    EXPECT_GT(seen(Split::test)[Split::train], 0U) << spec.name;
  }
}

}  // namespace
}  // namespace hgt
