// A search: it ends the same however often it is stopped, and reads the test examples once.
#include "hgt/training/tune.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/run/saved_run.h"
#include "hgt/run/tune_report.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

class TuneTest : public testing::Test {
 protected:
  TuneTest() { write_bytes(space_, "hidden = [4, 8]\nlearning-rate = [0.001, 0.01, 0.1]\n"); }

  static RunOptions options() {
    RunOptions options{.graph = training_graph().string()};
    options.task = find_task("paper-venue", HeteroGraph::open(training_graph()).schema());
    options.task.split = SplitRule::random;
    options.training = quick_options();
    options.training.patience = 0;
    options.training.validate_every = 0;
    return options;
  }
  TuneOptions how(uint64_t trials = 5) const {
    return {.space = space_.string(), .trials = trials, .rungs = 2, .draws = 2, .metric = "mrr"};
  }
  TuneFolder tune_folder(const std::string& name = "tune") const {
    return TuneFolder(folder_ / name);
  }
  static std::vector<TuneScore> log_of(const TuneFolder& folder) {
    std::vector<TuneScore> log = TuneLog(folder.log_file()).read();
    for (TuneScore& score : log) score.seconds = 0;
    return log;
  }
  static void expect_same_winner(const TuneFolder& a, const TuneFolder& b) {
    expect_same(training_result(a.winner().seed(1).path()),
                training_result(b.winner().seed(1).path()), "winner");
    EXPECT_EQ(read_bytes(a.best_file()), read_bytes(b.best_file()));
  }

  TestFolder folder_;
  Path space_ = folder_ / "space.toml";
};

TEST_F(TuneTest, ReadsTheTestExamplesOnceAndLast) {
  Tune tune = Tune::create(tune_folder(), options(), how());
  tune.search();
  for (const TuneScore& score : log_of(tune_folder())) EXPECT_EQ(score.split, Split::validation);
  EXPECT_FALSE(fs::exists(tune_folder().winner().path()));
  const RunResult result = tune.score_winner();
  const std::vector<TuneScore> log = log_of(tune_folder());
  ASSERT_EQ(log.size(), 5U + 2U * 2U + 1U) << "a third of the trials goes on, on two draws";
  for (size_t i = 0; i < log.size(); ++i) {
    EXPECT_EQ(log[i].split, i + 1 == log.size() ? Split::test : Split::validation);
  }
  EXPECT_EQ(log.back().metrics.front().second, result.metrics.front().second.mean);
  std::vector<std::string> read;  // what scored the split left files
  for (const auto& entry : fs::recursive_directory_iterator(tune_folder().path())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("test.")) read.push_back(entry.path().parent_path().string());
  }
  for (const std::string& path : read) {
    EXPECT_TRUE(path.starts_with(tune_folder().winner().path().string())) << path;
  }
  EXPECT_EQ(read.size(), 3U) << "test.json of the run and its seed, and test.tsv";
  // The search is over.
  tune.search();
  EXPECT_EQ(tune.score_winner(), result);
  EXPECT_EQ(log_of(tune_folder()), log);
}

TEST_F(TuneTest, EndsTheSameHoweverOftenItIsStopped) {
  {
    Tune whole = Tune::create(tune_folder("whole"), options(), how());
    whole.search();
    whole.score_winner();
  }
  uint64_t calls = 0;
  uint64_t stops = 0;
  const ProgressSink stopping = [&](const Progress&) {
    if (++calls % 13 == 0) throw Interrupted();
  };
  for (bool done = false; !done;) {
    try {
      Tune part = stops % 2 == 0
                      ? Tune::create(tune_folder("parts"), options(), how(), {}, stopping)
                      : Tune::open(tune_folder("parts"), stopping);
      part.search(stopping);
      part.score_winner(stopping);
      done = true;
    } catch (const Interrupted& stop) {
      ASSERT_LT(++stops, 500U);
    }
  }
  EXPECT_GT(stops, 5U);
  EXPECT_EQ(log_of(tune_folder("parts")), log_of(tune_folder("whole")));
  expect_same_winner(tune_folder("parts"), tune_folder("whole"));
}

// As if it had been trained with its options and nothing else.
TEST_F(TuneTest, WinsWithARunThatItsOptionsMake) {
  Tune tune = Tune::create(tune_folder(), options(), how());
  tune.search();
  tune.score_winner();
  RunOptions best = options();
  training_table(best).read(tune_folder().best_file());
  hgt::Run alone = hgt::Run::create(folder_ / "again", best);
  EXPECT_TRUE(same_run(alone.options(), read_run(tune_folder().winner()).options));
  alone.train();
  expect_same(training_result(tune_folder().winner().seed(1).path()),
              training_result(alone.files().seed(1).path()), "winner");
}

TEST_F(TuneTest, ScoresOnDrawsOfItsOwnAndTestsOnTheUsualSplit) {
  Tune tune = Tune::create(tune_folder(), options(), how(1));
  tune.search();
  tune.score_winner();
  EXPECT_EQ(log_of(tune_folder()).size(), 1U + 2U + 1U);
  const auto task_of = [](const RunFolder& run) { return read_run(run).options.task; };
  EXPECT_EQ(task_of(tune_folder().trial(0, 0)).validation_draw, 0U);
  EXPECT_EQ(task_of(tune_folder().trial(0, 1)).validation_draw, 1U);
  EXPECT_EQ(task_of(tune_folder().winner()), task_of(tune_folder().base()));
  EXPECT_EQ(read_run(tune_folder().trial(0, 1)).options.training.seed, 2U);
}

TEST_F(TuneTest, KeepsNoWeightsOfTrialsThatAreOut) {
  Tune tune = Tune::create(tune_folder(), options(), how());
  tune.search();
  uint64_t kept = 0;
  for (uint64_t trial = 0; trial < 5; ++trial) {
    const SeedFolder seed = tune_folder().trial(trial, 0).seed(1);
    EXPECT_TRUE(fs::exists(seed.log_file()));
    kept += fs::exists(seed.checkpoint_file()) ? 1 : 0;
  }
  EXPECT_EQ(kept, 1U) << "the leader's";
}

TEST_F(TuneTest, DrawsValidationAsOftenAsItIsSmall) {
  const auto draws = [&](const RunOptions& run, const std::string& name) {
    TuneOptions automatic = how();
    automatic.draws = 0;
    return Tune::create(tune_folder(name), run, automatic).plan();
  };
  const TunePlan small = draws(options(), "small");
  EXPECT_EQ(small.options.draws, 4U) << "of a fifth of all, beside the fifth for testing";
  EXPECT_TRUE(small.draws_reason.find("too few to tell trials apart") != std::string::npos);
  RunOptions by_time = options();
  by_time.task.split = SplitRule::time;
  const TunePlan fixed = draws(by_time, "time");
  EXPECT_EQ(fixed.options.draws, 1U);
  EXPECT_TRUE(fixed.draws_reason.find("the split has no others") != std::string::npos);
  EXPECT_NE(error_of([&] {
              Tune::create(tune_folder("two"), by_time, how());
            }).find("the split says which examples are for validation, so give --draws 1"),
            std::string::npos);
}

TEST_F(TuneTest, StopsWhenTheTimeIsUpAndGoesOnWithMore) {
  TuneOptions timed = how(0);
  timed.budget = "0.5s";
  {
    Tune tune = Tune::create(tune_folder(), options(), timed);
    tune.search();
  }
  const auto before = log_of(tune_folder());
  ASSERT_FALSE(before.empty());
  timed.budget = "1.5s";
  Tune tune = Tune::create(tune_folder(), options(), timed);
  tune.search();
  const auto after = log_of(tune_folder());
  ASSERT_GT(after.size(), before.size());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  EXPECT_EQ(read_plan(tune_folder()).options.budget, "1.5s");
  tune.score_winner();
  EXPECT_TRUE(has_read_test(log_of(tune_folder())));
}

TEST_F(TuneTest, GoesOnWithoutTrialsThatFail) {
  write_bytes(space_, "learning-rate = [0.01, 1000]\n");
  RunOptions wild = options();
  wild.training.clip = 0;
  wild.training.model.norm = false;
  wild.training.model.tanh_adaptation = false;
  wild.training.batches = 60;
  Tune tune = Tune::create(tune_folder(), wild, how(8));
  tune.search();
  uint64_t failed = 0;
  for (const TuneScore& score : log_of(tune_folder())) {
    if (score.score) continue;
    ++failed;
    EXPECT_NE(score.failure.find("learning-rate"), std::string::npos) << score.failure;
  }
  EXPECT_GT(failed, 0U) << "the test tests nothing";
  EXPECT_EQ(tune.winner().training.learning_rate, 0.01);
}

TEST_F(TuneTest, RefusesAnotherSearchInItsFolder) {
  { Tune::create(tune_folder(), options(), how()); }
  const auto refused = [&](const RunOptions& run, const TuneOptions& other) {
    const std::string error = error_of([&] { Tune::create(tune_folder(), run, other); });
    EXPECT_NE(error.find("already a search with other options"), std::string::npos) << error;
  };
  refused(options(), how(6));
  RunOptions others = options();
  others.training.weight_decay = 0.5;
  refused(others, how());
  write_bytes(space_, "hidden = [4]\n");
  refused(options(), how());
  EXPECT_NE(error_of([&] { Tune::open(TuneFolder(folder_ / "none")); }).find("no search was begun"),
            std::string::npos);
}

TEST_F(TuneTest, RefusesWhatDoesNotFitBeforeItTrains) {
  const auto refused = [&](const TuneOptions& other, const std::vector<std::string>& fixed,
                           const std::string& message) {
    const std::string error =
        error_of([&] { Tune::create(tune_folder(), options(), other, fixed); });
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  TuneOptions bad = how();
  bad.metric = "auc";
  refused(bad, {}, "there is no metric 'auc'; the metrics of task paper-venue are");
  refused(how(), {"hidden"}, "'hidden' is searched, but also given as --hidden");
  write_bytes(space_, "dropout = [0.5, 1]\n");
  refused(how(), {}, "dropout is 1; it must be at least 0 and less than 1");
  EXPECT_FALSE(fs::exists(tune_folder().plan_file()));
}

}  // namespace
}  // namespace hgt
