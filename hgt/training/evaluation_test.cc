// What an evaluation says of each example.
#include "hgt/training/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hgt/graph/graph_builder.h"
#include "hgt/training/run.h"
#include "hgt/training/trained_model.h"
#include "hgt/training/trainer.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

Evaluation scored(const hgt::Run& run, const EvaluationOptions& how) {
  TaskModel model = best_model(run, 1);
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

TEST(Evaluation, GivesClassesAboveAThresholdChosenOnValidation) {
  const TestFolder folder;
  RunOptions options{
      .graph = training_graph().string(),
      .task = find_task("paper-field-L1", HeteroGraph::open(training_graph()).schema()),
      .training = quick_options()};
  options.task.loss = Loss::binary;
  hgt::Run run = hgt::Run::create(folder / "run", options);
  run.train();
  TaskModel model = best_model(run, 1);
  const auto at = [&](Split split, std::optional<float> threshold) {
    return evaluate(model, run.task(), split, run.options().training, no_progress, threshold);
  };
  const float chosen = run.trainer(1).best_state().threshold;
  const Evaluation choosing = at(Split::validation, {});
  EXPECT_EQ(choosing.threshold, chosen);
  EXPECT_NE(chosen, 0) << "otherwise this test says nothing";
  for (const float other : {-2.0F, -1.0F, 0.0F, chosen, 1.0F}) {
    EXPECT_LE(at(Split::validation, other).metric("micro_f1"), choosing.metric("micro_f1"));
  }
  EXPECT_EQ(at(Split::validation, chosen).metrics, choosing.metrics);
  const Evaluation test = at(Split::test, chosen);
  EXPECT_NE(test.metrics, at(Split::test, 0.0F).metrics);
  EXPECT_EQ(run.evaluate(Split::test, run.scoring()).seeds[0].metrics, test.metrics);
}

TEST(Evaluation, OfPairsNamesNoClass) {
  const TestFolder folder;
  const hgt::Run run = trained(folder / "run", "author-disambiguation");
  EXPECT_TRUE(scored(run, {}).best_classes.empty());
}

TEST(Evaluation, SeesWhenAllExamplesGetTheSameScores) {
  const TestFolder folder;
  for (const char* task : {"paper-venue", "link:cites"}) {
    const hgt::Run run = trained(folder / task, task);
    EXPECT_FALSE(scored(run, {.limit = 30}).equal_scores) << task;
    TaskModel model = best_model(run, 1);
    {
      const torch::NoGradGuard no_gradient;
      for (at::Tensor& parameter : model->parameters()) parameter.zero_();
    }
    TrainOptions options = run.options().training;
    options.validation = {.batch_size = 7, .limit = 30};
    EXPECT_TRUE(evaluate(model, run.task(), Split::test, options).equal_scores) << task;
    options.validation.limit = 1;
    if (run.task().answers() == Answers::classes) {
      EXPECT_FALSE(evaluate(model, run.task(), Split::test, options).equal_scores)
          << "one example alone says nothing";
    }
  }
}

// --- links with nothing to compare them with ---

// Of twenty users one rated every film.
Path film_graph(const Path& folder) {
  Schema schema;
  schema.add_node_type("user", NodeKind::plain);
  schema.add_node_type("film", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "rates", .target = "film"});
  schema.number_relations();
  GraphBuilder builder(folder, schema);
  for (const char* type : {"user", "film"}) {
    for (int i = 0; i < 20; ++i) builder.add_node(schema.node_type(type), {});
  }
  const Relation rates = schema.relation("user", "rates", "film");
  for (NodeId film = 0; film < 20; ++film) {
    builder.add_edge(rates, {.source = 0, .target = film});
    builder.add_edge(rates, {.source = 1 + film % 19, .target = film});
    builder.add_edge(rates, {.source = 1 + film * 7 % 19, .target = film});
  }
  builder.finish();
  return folder;
}

RunOptions film_run(const Path& graph) {
  RunOptions options{.graph = graph.string(),
                     .task = find_task("link:rates", HeteroGraph::open(graph).schema()),
                     .training = quick_options()};
  options.task.split = SplitRule::random;
  options.training.batches = 6;
  options.training.batch_size = 2;  // some batches have no pair at all
  return options;
}

TEST(Evaluation, LeavesOutLinksThatHaveNothingToCompareWith) {
  const TestFolder folder;
  const RunOptions options = film_run(film_graph(folder / "graph"));
  hgt::Run run = hgt::Run::create(folder / "run", options);
  run.train();
  const Evaluation result = scored(run, {.batch_size = 3});
  EXPECT_GT(result.left_out, 0U);
  EXPECT_EQ(result.examples + result.left_out, run.task().num_examples(Split::test));
  ASSERT_EQ(result.numbers.size(), result.examples);
  ASSERT_EQ(result.rankings.size(), result.examples);
  double sum = 0;
  for (const Ranking& ranking : result.rankings) sum += ranking.ndcg;
  EXPECT_DOUBLE_EQ(result.metric("ndcg"), sum / static_cast<double>(result.examples));
  for (const uint32_t number : result.numbers) {
    EXPECT_FALSE(run.task().describe_example(Split::test, number).starts_with("0\t"));
  }
  EXPECT_LE(result.metric("auc"), 1);
  const RunResult written = run.evaluate(Split::test, run.scoring());
  EXPECT_EQ(written.seeds[0].left_out, result.left_out);
  const auto json = nlohmann::json::parse(read_bytes(run.folder() / "test.json"));
  EXPECT_EQ(json.at("seeds").at(0).at("left_out"), result.left_out);
}

TEST(Evaluation, RefusesASplitThatHasNothingToCompareWith) {
  const TestFolder folder;
  Schema schema;
  schema.add_node_type("user", NodeKind::plain);
  schema.add_node_type("film", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "rates", .target = "film"});
  schema.number_relations();
  GraphBuilder builder(folder / "graph", schema);
  for (int i = 0; i < 6; ++i) builder.add_node(schema.node_type("user"), {});
  for (int i = 0; i < 6; ++i) builder.add_node(schema.node_type("film"), {});
  for (NodeId i = 0; i < 36; ++i) {
    builder.add_edge(schema.relation("user", "rates", "film"), {.source = i / 6, .target = i % 6});
  }
  builder.finish();
  hgt::Run run = hgt::Run::create(folder / "run", film_run(folder / "graph"));
  const std::string error = error_of([&] { run.train(); });
  EXPECT_TRUE(contains(error, "no validation example can be scored")) << error;
}

}  // namespace
}  // namespace hgt
