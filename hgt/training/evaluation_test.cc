// What an evaluation says of each example.
#include "hgt/training/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hgt/training/run.h"
#include "hgt/training/run_state.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

Evaluation scored(const hgt::Run& run, const EvaluationOptions& how) {
  TaskModel model = run.state().best_model(1);
  TrainOptions options = run.options().training;
  options.validation = how;
  return evaluate(model, run.task(), Split::test, options);
}

hgt::Run trained(const Path& folder, const std::string& task) {
  RunOptions options{.graph = training_graph().string(),
                     .task = find_task(task, HeteroGraph::open(training_graph()).schema()),
                     .training = quick_options()};
  options.training.batches = 3;
  options.training.validation.limit = 30;
  hgt::Run run = hgt::Run::create(folder, options);
  run.train();
  return run;
}

TEST(Evaluation, NamesTheBestClassOfEveryExample) {
  const TestFolder folder;
  for (const char* task : {"paper-venue", "paper-field-L1"}) {
    const hgt::Run run = trained(folder / task, task);
    for (const uint32_t samples : {1U, 2U}) {
      const Evaluation result = scored(run, {.batch_size = 7, .samples = samples, .limit = 40});
      ASSERT_EQ(result.best_classes.size(), result.examples);
      ASSERT_EQ(result.rankings.size(), result.examples);
      const Question question = run.task().question(Split::test, result.numbers, Task::kNoDraw);
      for (size_t i = 0; i < result.examples; ++i) {
        const auto first = question.answers.begin() + question.answer_offsets[i];
        const auto last = question.answers.begin() + question.answer_offsets[i + 1];
        const uint32_t best = result.best_classes[i];
        EXPECT_LT(best, run.task().num_classes());
        EXPECT_EQ(std::find(first, last, best) != last, result.rankings[i].hits_1 == 1) << i;
      }
    }
  }
}

TEST(Evaluation, OfPairsNamesNoClass) {
  const TestFolder folder;
  const hgt::Run run = trained(folder / "run", "author-disambiguation");
  EXPECT_TRUE(scored(run, {}).best_classes.empty());
}

}  // namespace
}  // namespace hgt
