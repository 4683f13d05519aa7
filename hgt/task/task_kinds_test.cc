// Every kind of task keeps what its row promises.
#include "hgt/task/task_kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

int64_t cells(const std::string& line) { return std::count(line.begin(), line.end(), '\t') + 1; }

TEST(TaskRows, AreReadBackFromTheirWords) {
  std::set<std::string_view> words;
  for (const TaskRow& row : task_rows()) {
    const std::string_view word = to_string(row.kind);
    EXPECT_TRUE(words.insert(word).second) << word;
    EXPECT_EQ(from_word<TaskKind>(word), row.kind);
    EXPECT_EQ(&row_of(row.kind), &row);
    EXPECT_FALSE(row.names.empty()) << to_string(row.kind);
    EXPECT_TRUE(contains(task_name_examples(), std::string(row.names))) << to_string(row.kind);
  }
  EXPECT_EQ(all_words<TaskKind>().size(), words.size());
  const std::string error = error_of([] { from_word<TaskKind>("nodes"); });
  for (const std::string_view word : words)
    EXPECT_TRUE(contains(error, std::string(word))) << error;
}

TEST(TaskRows, ClaimOptionsOfTheTable) {
  TaskSpec spec;
  const OptionTable table = task_table(spec);
  std::set<std::string_view> claimed;
  for (const TaskRow& row : task_rows()) {
    EXPECT_EQ(row.options.empty(), row.options_reason.empty()) << to_string(row.kind);
    for (const std::string_view key : row.options) {
      EXPECT_NE(table.find(key), nullptr) << key;
      EXPECT_TRUE(claimed.insert(key).second) << key << " is claimed by two kinds";
    }
  }
}

TEST(TaskRows, DrawNegativesOnlyWherePairsAreCompared) {
  for (const TaskRow& row : task_rows()) {
    EXPECT_TRUE(row.answers == Answers::pairs || !row.draws_negatives) << to_string(row.kind);
    EXPECT_NE(row.hide_links, Hidden::automatic) << to_string(row.kind);
  }
}

class TaskOfEveryKind : public testing::Test {
 protected:
  static void SetUpTestSuite() { graph_ = new TestGraph(library()); }
  static void TearDownTestSuite() { delete graph_; }
  static const Schema& schema() { return (*graph_)->schema(); }

  static inline const TestGraph* graph_ = nullptr;
};

TEST_F(TaskOfEveryKind, IsFoundByTheNamesThatItLists) {
  for (const TaskRow& row : task_rows()) {
    Texts names;
    row.append_names(schema(), names);
    EXPECT_FALSE(names.empty()) << to_string(row.kind);
    for (const std::string& name : names) {
      const auto found = row.find(schema(), name);
      ASSERT_TRUE(found.has_value()) << name;
      EXPECT_EQ(found->kind, row.kind) << name;
      EXPECT_EQ(*found, find_task(name, schema())) << name;
    }
  }
}

void expect_what_the_row_says(const Task& task, const TaskRow& row) {
  const std::string& name = task.spec().name;
  EXPECT_EQ(task.answers(), row.answers) << name;
  EXPECT_EQ(task.draws_negatives(), row.draws_negatives) << name;
  EXPECT_EQ(task.num_classes() > 0, row.answers == Answers::classes) << name;
  EXPECT_EQ(task.predicted().empty(), !row.predicts_edges) << name;
  EXPECT_EQ(task.spec().hide_links, row.hide_links) << name;
  const uint32_t first = 0;
  const Question question = task.question(Split::train, std::span(&first, 1), Task::kNoDraw);
  EXPECT_EQ(question.answer_offsets.empty(), row.answers == Answers::pairs) << name;
  const auto is_asked_then = [&](const Seed& seed) {
    const Time own = task.graph().time(seed.type, seed.node);
    return seed.type == task.node_type() &&
           (own == kNoTime ? seed.time : own) == task.example_time(Split::train, 0);
  };
  const auto& seeds = question.request.seeds;
  EXPECT_TRUE(std::any_of(seeds.begin(), seeds.end(), is_asked_then)) << name;
  EXPECT_EQ(cells(task.example_columns()), cells(task.describe_example(Split::train, 0))) << name;
  EXPECT_TRUE(task.answer_columns().starts_with(task.spec().node + "\t")) << name;
  EXPECT_TRUE(contains(task.answer_columns(), "\trank\t")) << name;
  Texts metrics = task.metrics();
  EXPECT_NE(std::find(metrics.begin(), metrics.end(), "ndcg"), metrics.end()) << name;
  std::sort(metrics.begin(), metrics.end());
  EXPECT_EQ(std::adjacent_find(metrics.begin(), metrics.end()), metrics.end()) << name;
}

TEST_F(TaskOfEveryKind, OpensAsWhatItsRowSays) {
  for (const TaskRow& row : task_rows()) {
    size_t opened = 0;
    Texts names;
    row.append_names(schema(), names);
    for (const std::string& name : names) {
      TaskSpec spec = find_task(name, schema());
      if (!has_examples(**graph_, spec)) continue;
      spec.split = SplitRule::random;
      spec.test_share = spec.validation_share = 0.3;
      expect_what_the_row_says(*open_task(**graph_, spec), row);
      ++opened;
    }
    EXPECT_GT(opened, 0U) << to_string(row.kind);
  }
}

TEST_F(TaskOfEveryKind, HasItsMetricsInOrder) {
  const auto metrics = [](const std::string& name, Loss loss = Loss::automatic) {
    TaskSpec spec = find_task(name, schema());
    spec.loss = loss;
    return open_task(**graph_, spec)->metrics();
  };
  EXPECT_EQ(metrics("paper-venue"), (Texts{"ndcg", "mrr", "accuracy", "micro_f1", "macro_f1",
                                           "hits@3", "hits@10", "ndcg_release"}));
  const Texts ranks = {"ndcg", "mrr", "hits@1", "hits@3", "hits@10", "ndcg_release"};
  EXPECT_EQ(metrics("paper-field"), ranks) << "softmax ranks, and says not how many";
  EXPECT_EQ(metrics("paper:tags", Loss::softmax), ranks);
  EXPECT_EQ(metrics("paper:tags"), (Texts{"micro_f1", "macro_f1", "ndcg", "mrr", "hits@1", "hits@3",
                                          "hits@10", "ndcg_release"}));
  EXPECT_EQ(metrics("author-disambiguation"),
            (Texts{"ndcg", "mrr", "accuracy", "hits@3", "hits@10", "ndcg_release"}));
  EXPECT_EQ(metrics("link:cites"),
            (Texts{"ndcg", "mrr", "hits@1", "hits@3", "hits@10", "auc", "ndcg_release"}));
}

}  // namespace
}  // namespace hgt
