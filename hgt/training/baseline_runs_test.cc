// Every kind of model goes through training, resuming, scoring, predicting and embedding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/tables/npy_matrix.h"
#include "hgt/training/run.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

class BaselineRuns : public testing::TestWithParam<std::string> {
 protected:
  RunOptions options(const std::string& task) const {
    RunOptions made{.graph = training_graph().string(),
                    .task = find_task(task, graph_.schema()),
                    .training = quick_options()};
    made.training.model.kind = from_word<ModelKind>(GetParam());
    made.training.batches = 4;
    made.training.validate_every = 2;
    return made;
  }
  TrainingResult result(const std::string& run) const {
    return training_result(folder_ / run / "seed-1");
  }

  HeteroGraph graph_ = HeteroGraph::open(training_graph());
  TestFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(AllKinds, BaselineRuns, testing::ValuesIn(all_words<ModelKind>()),
                         [](const auto& kind) { return kind.param; });

TEST_P(BaselineRuns, EndsWithTheSameWeightsWhenStoppedAfterEveryBatch) {
  hgt::Run::create(folder_ / "whole", options("paper-venue")).train();
  hgt::Run::create(folder_ / "stopped", options("paper-venue"));
  bool finished = false;
  for (int session = 0; session < 12 && !finished; ++session) {
    int reports = 0;
    try {
      hgt::Run::open(folder_ / "stopped").train([&](const Progress& progress) {
        if (progress.unit == "batches" && ++reports == 1) throw Interrupted("enough");
      });
      finished = true;
    } catch (const Interrupted&) {
    }
  }
  EXPECT_TRUE(finished);
  expect_same(result("stopped"), result("whole"), GetParam());
}

TEST_P(BaselineRuns, TrainsAlikeWithThreadsThatSample) {
  RunOptions other = options("paper-venue");
  hgt::Run::create(folder_ / "one", other).train();
  other.training.pipeline.workers = 2;
  hgt::Run::create(folder_ / "two", other).train();
  expect_same(result("two"), result("one"), GetParam());
}

TEST_P(BaselineRuns, PredictsForEveryPaperAndEmbedsEveryVenue) {
  hgt::Run run = hgt::Run::create(folder_ / "run", options("paper-venue"));
  run.train();
  const RunResult scored = run.evaluate(Split::test, {});
  EXPECT_GT(scored.metrics.front().second.mean, 0);
  EXPECT_LE(scored.metrics.front().second.mean, 1);
  const NodeType paper = graph_.schema().node_type("paper");
  EXPECT_EQ(run.predict({.top = 2}, folder_ / "answers.tsv"), graph_.num_nodes(paper));
  std::set<std::string> seen;
  std::istringstream in(read_bytes(folder_ / "answers.tsv"));
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) seen.insert(line.substr(0, line.find('\t')));
  EXPECT_EQ(seen.size(), graph_.num_nodes(paper));
  const NodeType venue = graph_.schema().node_type("venue");
  EXPECT_THROW(run.embed(venue, {}, folder_ / "vectors"), Error) << "no layer was trained for them";
  EXPECT_EQ(run.embed(venue, {.layer = 2}, folder_ / "vectors"), graph_.num_nodes(venue));
  NpyMatrix vectors(folder_ / "vectors" / "vectors.npy");
  ASSERT_EQ(vectors.rows(), graph_.num_nodes(venue));
  ASSERT_EQ(vectors.width(), 8U);
  std::vector<float> row(8);
  for (uint64_t i = 0; i < vectors.rows(); ++i) {
    vectors.read_row(i, row);
    for (const float value : row) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(BaselineRuns, ScoresPairsToo) {
  hgt::Run run = hgt::Run::create(folder_ / "run", options("author-disambiguation"));
  run.train();
  const RunResult scored = run.evaluate(Split::test, {});
  EXPECT_GT(scored.seeds.front().examples, 0U);
  EXPECT_TRUE(std::isfinite(scored.seeds.front().loss));
}

RunOptions han_options() {
  const HeteroGraph graph = HeteroGraph::open(training_graph());
  RunOptions options{.graph = training_graph().string(),
                     .task = find_task("paper-venue", graph.schema()),
                     .training = quick_options()};
  options.training.model.kind = ModelKind::han;
  options.training.batches = 1;
  return options;
}

TEST(Han, KeepsTheProposedMetaPathsWithTheRun) {
  const TestFolder folder;
  hgt::Run::create(folder / "run", han_options());
  const std::vector<std::string> kept = hgt::Run::open(folder / "run").options().task.meta_paths;
  EXPECT_NE(std::find(kept.begin(), kept.end(), "paper-author-paper"), kept.end());
  EXPECT_NE(std::find(kept.begin(), kept.end(), "paper-paper"), kept.end());
}

TEST(Han, RefusesAMetaPathThatTheGraphDoesNotHaveBeforeAnythingIsMade) {
  const TestFolder folder;
  RunOptions options = han_options();
  options.task.meta_paths = {"paper-shop-paper"};
  try {
    hgt::Run::create(folder / "run", options);
    FAIL() << "it was not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'shop' is not a node type"), std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(Han, RefusesASingleInstancePerNode) {
  const TestFolder folder;
  hgt::Run run = hgt::Run::create(folder / "run", han_options());
  run.train();
  try {
    run.embed(run.task().graph().schema().node_type("paper"),
              {.inference = {.instances = Instances::single}}, folder / "vectors");
    FAIL() << "it was not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("han is not"), std::string::npos) << error.what();
  }
}

TEST(Models, RefuseOptionsOfOthers) {
  const auto refusal = [](const ModelOptions& options) -> std::string {
    try {
      check(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal({.kind = ModelKind::gcn, .rte = false}).find("-RTE"), std::string::npos);
  EXPECT_NE(refusal({.kind = ModelKind::gat, .heter = false}).find("-Heter"), std::string::npos);
  EXPECT_NE(refusal({.kind = ModelKind::hgt, .meta_paths = {"paper-author-paper"}}).find("han"),
            std::string::npos);
  EXPECT_NE(refusal({.kind = ModelKind::hetgnn, .hidden = 9, .heads = 3}).find("even"),
            std::string::npos);
  EXPECT_EQ(refusal({.kind = ModelKind::han, .meta_paths = {"paper-author-paper"}}), "");
}

}  // namespace
}  // namespace hgt
