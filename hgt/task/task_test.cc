// Which examples a task has, in which split they lie, and what is true of them. See task_error_test
// for what is refused and task_guard_test for what is hidden.
#include "hgt/task/task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/task/class_task.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

class TaskTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { graph_ = new TestGraph(library()); }
  static void TearDownTestSuite() { delete graph_; }

  static TaskSpec spec(const std::string& name) { return find_task(name, (*graph_)->schema()); }
  static std::unique_ptr<const Task> open(const TaskSpec& spec) {
    return open_task(**graph_, spec);
  }
  static NodeType paper() { return graph_->type("paper"); }

  static inline const TestGraph* graph_ = nullptr;
};

// The split of every node that is an example, each once.
std::map<NodeId, Split> splits_of(const Task& task) {
  std::map<NodeId, Split> splits;
  for (const Split split : kSplits) {
    const Question question = task.question(split, all_examples(task, split), Task::kNoDraw);
    EXPECT_EQ(question.num_examples(), task.num_examples(split));
    for (const Seed& seed : question.request.seeds) {
      EXPECT_EQ(seed.type, task.node_type());
      EXPECT_TRUE(splits.emplace(seed.node, split).second) << seed.node << " is there twice";
    }
  }
  return splits;
}

TEST_F(TaskTest, SplitsByTheYearOfThePaperUnlessToldOtherwise) {
  for (const auto& [train_end, validation_end] :
       std::vector<std::pair<std::string, std::string>>{{"", ""}, {"2011", "2018"}, {"2010", ""}}) {
    TaskSpec wanted = spec("paper-venue");
    wanted.train_end = train_end;
    wanted.validation_end = validation_end;
    const auto task = open(wanted);
    const Time last_of_training = train_end.empty() ? 2014 : std::stoi(train_end);
    const Time last_of_validation = validation_end.empty() ? 2016 : std::stoi(validation_end);
    const auto splits = splits_of(*task);
    for (NodeId node = 0; node < kLibraryPapers; ++node) {
      const Time year = library_year(node);
      const bool is_example = node % 11 != 10 && year != kNoTime;
      ASSERT_EQ(splits.contains(node), is_example) << node;
      if (!is_example) continue;
      EXPECT_EQ(splits.at(node), year <= last_of_training     ? Split::train
                                 : year <= last_of_validation ? Split::validation
                                                              : Split::test);
    }
  }
}

// One node for each number, with one class; without times.
TestGraph crowd(NodeId nodes) {
  Schema schema;
  schema.add_node_type("node", NodeKind::plain);
  schema.number_relations();
  return TestGraph(schema, [&](GraphBuilder& builder) {
    const NodeType type = builder.schema().node_type("node");
    const uint32_t label = builder.declare_label(type, "class");
    const uint32_t given = builder.declare_label(type, "given");
    for (NodeId i = 0; i < nodes; ++i) {
      builder.add_node(type, {});
      builder.add_label(type, label, i, "c" + std::to_string(i % 2));
      builder.add_label(type, given, i, "c" + std::to_string(i % 2));
      builder.set_split(type, given, i, i % 4 == 0 ? Split::test : Split::train);
    }
  });
}

// Four standard deviations of a share of `of` drawn nodes.
void expect_share(uint64_t count, double share, uint64_t of) {
  const auto all = static_cast<double>(of);
  EXPECT_NEAR(static_cast<double>(count), share * all, 4 * std::sqrt(share * (1 - share) * all));
}

TEST(TaskSplit, ByRandomHasItsSharesAndASeed) {
  constexpr NodeId kNodes = 4000;
  const TestGraph graph = crowd(kNodes);
  TaskSpec spec = find_task("node:class", graph->schema());
  spec.split = SplitRule::random;
  spec.validation_share = 0.1;
  spec.test_share = 0.3;
  const auto splits = splits_of(*open_task(*graph, spec));
  EXPECT_EQ(splits.size(), kNodes) << "every node lies somewhere";
  const auto task = open_task(*graph, spec);
  expect_share(task->num_examples(Split::validation), 0.1, kNodes);
  expect_share(task->num_examples(Split::test), 0.3, kNodes);
  EXPECT_EQ(splits_of(*task), splits);
  spec.split_seed = 1;
  const auto others = splits_of(*open_task(*graph, spec));
  uint64_t moved = 0;
  for (const auto& [node, split] : splits) moved += others.at(node) == split ? 0 : 1;
  expect_share(moved, 1 - 0.1 * 0.1 - 0.3 * 0.3 - 0.6 * 0.6, kNodes);
}

TEST(TaskSplit, ByRandomKeepsLargerSharesOfTheSameSeedTogether) {
  const TestGraph graph = crowd(400);
  TaskSpec spec = find_task("node:class", graph->schema());
  spec.split = SplitRule::random;
  const auto small = splits_of(*open_task(*graph, spec));
  spec.test_share = 0.5;
  for (const auto& [node, split] : splits_of(*open_task(*graph, spec))) {
    if (small.at(node) == Split::test) {
      EXPECT_EQ(split, Split::test);
    }
  }
}

TEST(TaskSplit, ThatIsGivenLosesAShareOfTrainingToValidation) {
  constexpr NodeId kNodes = 4000;
  const TestGraph graph = crowd(kNodes);
  TaskSpec spec = find_task("node:given", graph->schema());
  spec.validation_share = 0.1;
  const auto task = open_task(*graph, spec);
  EXPECT_EQ(task->spec().split, SplitRule::given) << "where there is one, it is taken";
  for (const auto& [node, split] : splits_of(*task)) {
    EXPECT_EQ(split == Split::test, node % 4 == 0) << node;
  }
  EXPECT_EQ(splits_of(*task).size(), kNodes);
  expect_share(task->num_examples(Split::validation), 0.1, kNodes / 4 * 3);
  const auto before = splits_of(*task);
  spec.split_seed = 9;
  EXPECT_NE(splits_of(*open_task(*graph, spec)), before);
}

// Five draws of a fifth: every example that is not for testing is for validation in one of them.
TEST(TaskSplit, DrawsOfValidationHaveNothingInCommonAndTheSameTestSet) {
  const TestGraph graph = crowd(4000);
  for (const char* name : {"node:class", "node:given"}) {
    TaskSpec spec = find_task(name, graph->schema());
    const bool random = std::string(name) == "node:class";
    if (random) spec.split = SplitRule::random;
    spec.validation_share = 0.15;
    spec.test_share = 0.25;
    const double share = random ? 0.15 / 0.75 : 0.15;
    const auto first = splits_of(*open_task(*graph, spec));
    std::map<NodeId, int> drawn;
    const auto draws = static_cast<uint32_t>(1 / share);
    for (spec.validation_draw = 0; spec.validation_draw < draws; ++spec.validation_draw) {
      const auto task = open_task(*graph, spec);
      EXPECT_TRUE(task->draws_validation());
      for (const auto& [node, split] : splits_of(*task)) {
        EXPECT_EQ(split == Split::test, first.at(node) == Split::test) << node;
        if (split == Split::validation) ++drawn[node];
      }
      expect_share(task->num_examples(Split::validation), 0.15, random ? 4000 : 3000);
    }
    for (const auto& [node, times] : drawn) EXPECT_EQ(times, 1) << node;
    if (random) expect_share(drawn.size(), 0.75, 4000);
  }
}

TEST_F(TaskTest, TakesAGivenSplitAsItIsWhereItHasValidation) {
  const auto task = open(spec("paper:shelf"));
  EXPECT_FALSE(task->draws_validation());
  EXPECT_FALSE(open(spec("paper-venue"))->draws_validation()) << "by time";
  const auto splits = splits_of(*task);
  EXPECT_EQ(splits.size(), kLibraryPapers);
  for (const auto& [node, split] : splits) EXPECT_EQ(split, Split(1 + node % 3)) << node;
}

TEST_F(TaskTest, LeavesOutNodesThatTheGivenSplitLeavesOut) {
  for (const auto& [node, split] : splits_of(*open(spec("paper:topic")))) {
    EXPECT_NE(node % 5, 4U) << "it is in no split";
    EXPECT_NE(node % 9, 8U) << "it has no class";
    EXPECT_EQ(split == Split::test, node % 5 == 3);
  }
}

TEST_F(TaskTest, SplitsALabelByTimeWhereNoSplitIsGivenOrWhenTold) {
  const auto tags = open(spec("paper:tags"));
  EXPECT_EQ(tags->spec().split, SplitRule::time);
  TaskSpec told = spec("paper:shelf");
  told.split = SplitRule::time;
  for (const auto& task : {open(spec("paper:tags")), open(told)}) {
    for (const auto& [node, split] : splits_of(*task)) {
      EXPECT_EQ(split, task->time_split().split_of(library_year(node)));
    }
  }
}

// --- what is true ---

Texts answers_of(const Task& task, const Question& question, size_t example) {
  Texts ids;
  for (uint32_t i = question.answer_offsets[example]; i < question.answer_offsets[example + 1];
       ++i) {
    ids.push_back(task.class_id(question.answers[i]));
  }
  return ids;
}

TEST_F(TaskTest, AnswersAreTheOtherEndsOfTheEdges) {
  const HeteroGraph& graph = **graph_;
  const std::map<std::string, Texts> edges_of = {
      {"paper-venue", {"pub_conference", "pub_journal", "sent_to"}},
      {"paper-venue-journal", {"pub_journal"}},
      {"paper-field-L1", {"in_L1"}},
      {"paper-field", {"in_L0", "in_L1"}}};
  for (const auto& [name, edges] : edges_of) {
    const auto task = open(spec(name));
    for (const Split split : kSplits) {
      const Question question = task->question(split, all_examples(*task, split), Task::kNoDraw);
      for (size_t i = 0; i < question.num_examples(); ++i) {
        std::set<std::string> ends;
        for (const std::string& edge : edges) {
          const NodeType other = task->other_type();
          const Relation relation =
              graph.schema().relation(graph.schema().at(other).name, "rev_" + edge, "paper");
          for (const NodeId end :
               graph.incoming(relation, question.request.seeds[i].node).sources) {
            ends.insert(graph.id(other, end));
          }
        }
        EXPECT_FALSE(ends.empty());
        EXPECT_EQ(answers_of(*task, question, i), Texts(ends.begin(), ends.end())) << name;
      }
    }
  }
}

TEST_F(TaskTest, AnswersAreTheLabelsOfTheNode) {
  const auto topics = open(spec("paper:topic"));
  const auto tags = open(spec("paper:tags"));
  for (const Split split : kSplits) {
    const Question topic = topics->question(split, all_examples(*topics, split), 1);
    for (size_t i = 0; i < topic.num_examples(); ++i) {
      const NodeId node = topic.request.seeds[i].node;
      EXPECT_EQ(answers_of(*topics, topic, i), Texts{"t" + std::to_string(node % 3)});
    }
    const Question tag = tags->question(split, all_examples(*tags, split), 1);
    for (size_t i = 0; i < tag.num_examples(); ++i) {
      const auto found = answers_of(*tags, tag, i);
      const bool red = tag.request.seeds[i].node % 4 == 0;
      EXPECT_EQ(std::set(found.begin(), found.end()),
                red ? (std::set<std::string>{"old", "red"}) : std::set<std::string>{"old"});
      EXPECT_EQ(found.size(), red ? 2U : 1U);
    }
  }
}

TEST_F(TaskTest, NumbersTheNodesThatAreAnswers) {
  const auto task = open(spec("paper-venue"));
  ASSERT_EQ(task->num_classes(), kLibraryVenues - 1) << "no paper appears in venue 0";
  for (uint32_t i = 0; i < task->num_classes(); ++i) {
    EXPECT_EQ(task->class_id(i), "V" + std::to_string(i + 1));
    EXPECT_EQ(task->class_name(i), "Venue " + std::to_string(i + 1));
  }
  EXPECT_EQ(open(spec("paper-field"))->class_name(0), "") << "fields have no names";
}

TEST_F(TaskTest, NumbersTheClassesOfALabel) {
  const auto task = open(spec("paper:topic"));
  ASSERT_EQ(task->num_classes(), 3U);
  std::map<std::string, std::string> names;
  for (uint32_t i = 0; i < 3; ++i) names[task->class_id(i)] = task->class_name(i);
  EXPECT_EQ(names.size(), 3U);
  EXPECT_EQ(names.at("t1"), "Topic one");
  EXPECT_EQ(open(spec("paper:tags"))->class_name(1), "");
}

TEST_F(TaskTest, AsksAboutTheExamplesInTheirOrder) {
  const auto task = open(spec("paper-field-L1"));
  for (const Split split : kSplits) {
    const std::vector<uint32_t> some = {3, 0, 3, 5};
    const Question question = task->question(split, some, Task::kNoDraw);
    ASSERT_EQ(question.request.seeds.size(), some.size());
    ASSERT_EQ(question.num_examples(), some.size());
    for (size_t i = 0; i < some.size(); ++i) {
      EXPECT_EQ(task->graph().id(paper(), question.request.seeds[i].node),
                task->describe_example(split, some[i]));
      EXPECT_EQ(question.request.seeds[i].time, kNoTime) << "a paper has its own";
    }
    EXPECT_TRUE(question.pair_offsets.empty());
    EXPECT_EQ(task->question(split, {}, Task::kNoDraw).num_examples(), 0U);
  }
}

TEST_F(TaskTest, AsksTheSameWhateverWasAskedBefore) {
  for (const char* name : {"paper-venue", "paper:topic", "author-disambiguation", "link:cites"}) {
    const auto once = open(spec(name));
    const auto again = open(spec(name));
    for (const Split split : {Split::test, Split::train, Split::validation, Split::test}) {
      again->question(split, all_examples(*again, split), 9);
    }
    for (const Split split : kSplits) {
      const Question a = once->question(split, all_examples(*once, split), 5);
      const Question b = again->question(split, all_examples(*again, split), 5);
      EXPECT_EQ(a.answers, b.answers) << name;
      EXPECT_EQ(a.pair_offsets, b.pair_offsets) << name;
      EXPECT_EQ(a.relevant, b.relevant) << name;
      ASSERT_EQ(a.request.seeds.size(), b.request.seeds.size()) << name;
      for (size_t i = 0; i < a.request.seeds.size(); ++i) {
        EXPECT_EQ(a.request.seeds[i].node, b.request.seeds[i].node) << name;
      }
      EXPECT_EQ(descriptions(*once, split), descriptions(*again, split)) << name;
    }
  }
}

TEST_F(TaskTest, AnswersAboutAnyNodesOfTheType) {
  const auto task = open(spec("paper-venue"));
  const std::vector<Seed> seeds = {{.type = paper(), .node = 10}, {.type = paper(), .node = 12}};
  const Question question = task->question_about(seeds);
  ASSERT_EQ(question.num_examples(), 2U);
  EXPECT_EQ(question.request.seeds[1].node, 12U);
  EXPECT_TRUE(answers_of(*task, question, 0).empty()) << "it has no venue";
  EXPECT_EQ(answers_of(*task, question, 1).size(), 1U) << "it has one, but no time";
  EXPECT_TRUE(contains(
      error_of([&] { open(spec("author-disambiguation"))->question_about(seeds); }), "pairs"));
}

TEST_F(TaskTest, KnowsWhetherExamplesHaveSeveralAnswers) {
  EXPECT_FALSE(open(spec("paper-venue"))->has_several_answers());
  EXPECT_TRUE(open(spec("paper-field"))->has_several_answers());
  EXPECT_FALSE(open(spec("paper:topic"))->has_several_answers());
  EXPECT_TRUE(open(spec("paper:tags"))->has_several_answers());
  EXPECT_FALSE(open(spec("author-disambiguation"))->has_several_answers());
}

TEST_F(TaskTest, LeavesNothingAutomatic) {
  const auto loss_of = [](const std::string& name) { return open(spec(name))->spec().loss; };
  EXPECT_EQ(loss_of("paper-venue"), Loss::softmax);
  EXPECT_EQ(loss_of("paper-field"), Loss::softmax) << "several answers, but no label";
  EXPECT_EQ(loss_of("paper:topic"), Loss::softmax);
  EXPECT_EQ(loss_of("paper:tags"), Loss::binary);
  EXPECT_EQ(loss_of("author-disambiguation"), Loss::softmax);
  EXPECT_EQ(loss_of("link:cites"), Loss::softmax);
  for (const std::string& name : task_names((*graph_)->schema())) {
    TaskSpec wanted = spec(name);
    wanted.split = SplitRule::random;
    wanted.test_share = wanted.validation_share = 0.3;
    if (!has_examples(**graph_, wanted)) continue;
    const TaskRow& row = row_of(wanted.kind);
    const auto task = open(wanted);
    EXPECT_NE(task->spec().loss, Loss::automatic) << name;
    EXPECT_NE(task->spec().hide_links, Hidden::automatic) << name;
    EXPECT_EQ(task->spec().hide_links, row.hide_links) << name;
    EXPECT_EQ(task->num_classes() > 0, row.answers == Answers::classes) << name;
  }
  for (const char* name : {"paper-venue", "paper:topic", "author-disambiguation"}) {
    EXPECT_EQ(open(spec(name))->spec().hide_links, Hidden::batch) << name;
  }
  EXPECT_EQ(open(spec("link:cites"))->spec().hide_links, Hidden::split);
  TaskSpec told = spec("paper:tags");
  told.loss = Loss::softmax;
  told.hide_links = Hidden::split;
  EXPECT_EQ(open(told)->spec().loss, Loss::softmax);
  EXPECT_EQ(open(told)->spec().hide_links, Hidden::split);
}

TEST_F(TaskTest, PredictsRelationsIntoTheNodeWhicheverWayTheyWereDeclared) {
  const Schema& schema = (*graph_)->schema();
  const Relation into = graph_->relation("author", "writes_first", "paper");
  for (const char* edge : {"writes_first", "rev_writes_first"}) {
    TaskSpec wanted = spec("paper-author");
    wanted.edges = {edge};
    const auto task = open(wanted);
    ASSERT_EQ(task->predicted().size(), 1U) << edge;
    EXPECT_EQ(task->predicted()[0], into) << edge;
  }
  TaskSpec both = spec("paper-author");
  both.edges = {"writes_first", "rev_writes_first"};
  EXPECT_EQ(open(both)->predicted().size(), 1U) << "they are the same edges";
  // Of edges among papers, what a paper cites is asked for.
  EXPECT_EQ(open(spec("link:cites"))->predicted()[0],
            graph_->relation("paper", "rev_cites", "paper"));
  EXPECT_EQ(schema.at(open(spec("paper-venue"))->predicted()[0]).target, paper());
}

TEST(SplitNames, AreReadBack) {
  for (const Split split : kSplits) EXPECT_EQ(from_word<Split>(to_string(split)), split);
  EXPECT_EQ(to_string(Split::validation), "validation");
  EXPECT_TRUE(contains(error_of([] { from_word<Split>("valid"); }), "train, validation, test"));
  EXPECT_TRUE(contains(error_of([] { from_word<Split>("none"); }), "unknown"));
}

}  // namespace
}  // namespace hgt
