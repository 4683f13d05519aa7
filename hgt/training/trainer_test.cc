// The training loop: whatever stops it, it ends with the same bytes.
#include "hgt/training/trainer.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hgt/error.h"
#include "hgt/model/torch.h"
#include "hgt/training/evaluation.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

// Throws once so many reports have come.
class Interruption {
 public:
  explicit Interruption(uint64_t report) : left_(report) {}
  ProgressSink sink() {
    return [this](const Progress&) {
      if (left_-- == 0) throw Interrupted();
    };
  }

 private:
  uint64_t left_;
};

class Training : public testing::Test {
 protected:
  Training() { at::set_num_threads(1); }

  // A new folder below the test's own.
  Path place() {
    const Path path = folder_ / std::to_string(places_++);
    fs::create_directories(path);
    return path;
  }
  TrainState train(const Path& place, const TrainOptions& options,
                   const ProgressSink& progress = no_progress) const {
    return Trainer(*task_, options, SeedFolder(place), "test").run(progress);
  }
  TrainingResult result(const TrainOptions& options) {
    const Path at = place();
    train(at, options);
    return training_result(at);
  }
  Path copy_of(const Path& from) {
    const Path to = place();
    fs::copy(from, to, fs::copy_options::recursive);
    return to;
  }

  TestFolder folder_;
  int places_ = 0;
  std::unique_ptr<const Task> task_ = training_task("paper-venue");
};

// --- the loop ---

TEST_F(Training, IsAFunctionOfTheSeed) {
  TrainOptions options = quick_options();
  const TrainingResult first = result(options);
  expect_same(result(options), first, "again");
  options.seed = 2;
  EXPECT_FALSE(result(options).checkpoint == first.checkpoint);
}

TEST_F(Training, ValidatesEverySoManyBatchesAndAtTheEnd) {
  TrainOptions options = quick_options();
  options.batches = 8;
  const TrainingResult found = result(options);
  std::vector<uint64_t> steps;
  for (const auto& line : found.log) steps.push_back(line.at("step").get<uint64_t>());
  EXPECT_EQ(steps, (std::vector<uint64_t>{3, 6, 8}));
  for (const auto& line : found.log) {
    EXPECT_EQ(line.at("learning_rate").get<double>(),
              learning_rate(options, line.at("step").get<uint64_t>(), 8));
    EXPECT_GT(line.at("validation_ndcg").get<double>(), 0);
    EXPECT_GT(line.at("train_loss").get<double>(), 0);
  }
}

TEST_F(Training, PassesOverAllExamplesInEachEpoch) {
  TrainOptions options = quick_options();
  options.batches = 0;
  options.epochs = 2;
  options.validate_every = 0;
  options.batch_size = 100;
  const uint64_t batches = (task_->num_examples(Split::train) + 99) / 100;
  ASSERT_GT(batches, 1U);
  ASSERT_NE(task_->num_examples(Split::train) % 100, 0U);
  const Path at = place();
  Trainer trainer(*task_, options, SeedFolder(at), "test");
  EXPECT_EQ(trainer.steps(), 2 * batches);
  EXPECT_EQ(trainer.run().step, 2 * batches);
  const auto log = training_result(at).log;
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].at("step"), batches);
  EXPECT_EQ(log[0].at("epoch"), 1.0);
  EXPECT_EQ(log[1].at("epoch"), 2.0);
}

// Nothing moves and nothing is drawn, so a batch's loss depends on its examples alone.
TEST_F(Training, TakesTheExamplesInAnotherOrderInEachEpoch) {
  TrainOptions options = quick_options();
  options.model.dropout = 0;
  options.learning_rate = options.final_learning_rate = 1e-13;
  options.weight_decay = 0;
  options.sampling.strategy = Strategy::full;
  options.batch_size = 60;
  options.batches = 0;
  options.epochs = 2;
  options.validate_every = 1;
  options.validation.limit = 1;
  const auto log = result(options).log;
  const size_t half = log.size() / 2;
  ASSERT_GT(half, 2U);
  int different = 0;
  for (size_t i = 0; i < half; ++i) {
    const auto loss = [&](size_t line) { return log.at(line).at("train_loss").get<double>(); };
    if (std::abs(loss(i) - loss(half + i)) > 1e-4) ++different;
  }
  EXPECT_GT(different, 1);
}

// The first step is the same with and without.
TEST_F(Training, MovesTheWeightsAtTheLearningRateOfEachStep) {
  TrainOptions options = quick_options();
  const TrainingResult without = result(options);
  options.warmup = 1;
  EXPECT_FALSE(result(options).checkpoint == without.checkpoint);
  options.batches = 1;
  const TrainingResult first = result(options);
  options.warmup = 0;
  EXPECT_EQ(result(options).checkpoint, first.checkpoint);
}

TEST_F(Training, LowersTheLoss) {
  TrainOptions options = quick_options();
  options.batches = 60;
  options.validate_every = 20;
  options.model.dropout = 0;
  const auto log = result(options).log;
  EXPECT_LT(log.back().at("train_loss").get<double>(), log[0].at("train_loss").get<double>());
}

TEST_F(Training, LogsTheMeanLossSinceTheLastValidation) {
  TrainOptions options = quick_options();
  const auto rare = result(options).log;
  options.validate_every = 1;
  const auto often = result(options).log;
  for (size_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (size_t j = 3 * i; j < 3 * i + 3; ++j) sum += often.at(j).at("train_loss").get<double>();
    EXPECT_NEAR(rare.at(i).at("train_loss").get<double>(), sum / 3, 1e-12);
  }
}

TEST_F(Training, EndsTheSameWithAnyNumberOfWorkers) {
  TrainOptions options = quick_options();
  const TrainingResult alone = result(options);
  for (const unsigned workers : {1U, 3U}) {
    options.pipeline.workers = workers;
    expect_same(result(options), alone, std::to_string(workers) + " workers");
  }
}

TEST_F(Training, EndsTheSameHoweverOftenItIsSaved) {
  TrainOptions options = quick_options();
  const TrainingResult rarely = result(options);
  options.checkpoint_every = 0;
  expect_same(result(options), rarely, "after each batch");
}

TEST_F(Training, TellsHowFarItIs) {
  std::vector<uint64_t> steps;
  bool finished = false;
  train(place(), quick_options(), [&](const Progress& progress) {
    if (progress.unit != "batches") return;
    EXPECT_EQ(progress.stage, "training, seed 1");
    EXPECT_DOUBLE_EQ(progress.fraction, static_cast<double>(progress.count) / 9);
    EXPECT_FALSE(finished);
    finished = progress.finished;
    steps.push_back(progress.count);
  });
  EXPECT_EQ(steps, (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(finished);
}

TEST_F(Training, TakesTheSameStepsWithAnAverageOfWeightsAndKeepsOtherWeights) {
  TrainOptions options = quick_options();
  options.batches = options.validate_every = 6;  // one validation, after which weights are kept
  const TrainingResult without = result(options);
  options.average_weights = 0.5;
  const Path at = place();
  train(at, options);
  const TrainingResult with = training_result(at);
  ASSERT_EQ(with.log.size(), 1U);
  EXPECT_EQ(with.log[0].at("train_loss"), without.log[0].at("train_loss"));
  EXPECT_NE(with.log[0].at("validation_loss"), without.log[0].at("validation_loss"));
  const auto steps = tensor_bytes(SeedFolder(at).checkpoint_file());
  for (const auto& [name, bytes] : tensor_bytes(SeedFolder(at).best_file())) {
    if (!name.starts_with("tensor ")) continue;
    EXPECT_EQ(bytes, steps.at("tensor average." + name.substr(7))) << name;
  }
}

// --- stopped and resumed ---

TEST_F(Training, EndsTheSameAfterAnInterruptionAtAnyReport) {
  for (const unsigned workers : {0U, 2U}) {
    TrainOptions options = quick_options();
    options.pipeline.workers = workers;
    options.average_weights = workers > 0 ? 0.6 : 0;
    uint64_t reports = 0;
    const Path at = place();
    const TrainState ended = train(at, options, [&](const Progress&) { ++reports; });
    const TrainingResult expected = training_result(at);
    ASSERT_GT(reports, 14U);  // of nine batches and within three validations
    for (uint64_t report = 0; report < reports; ++report) {
      const Path other = place();
      EXPECT_THROW(train(other, options, Interruption(report).sink()), Interrupted);
      TrainState again = train(other, options);
      again.seconds = ended.seconds;
      again.batch_seconds = ended.batch_seconds;
      EXPECT_EQ(again, ended);
      expect_same(training_result(other), expected, "report " + std::to_string(report));
    }
  }
}

TEST_F(Training, SavesItsWorkWhenItIsInterrupted) {
  const Path at = place();
  EXPECT_THROW(train(at, quick_options(), Interruption(1).sink()), Interrupted);
  uint64_t first = 0;
  train(at, quick_options(), [&](const Progress& progress) {
    if (first == 0 && progress.unit == "batches") first = progress.count;
  });
  EXPECT_EQ(first, 3U);  // batches 1 and 2 are not done again
}

TEST_F(Training, EndsTheSameWhenItIsInterruptedAgainAndAgain) {
  const TrainOptions options = quick_options();
  const TrainingResult expected = result(options);
  const Path at = place();
  int sessions = 1;
  for (bool done = false; !done; ++sessions) {
    ASSERT_LT(sessions, 20);
    try {
      train(at, options, Interruption(5).sink());
      done = true;
    } catch (const Interrupted&) {
      done = false;
    }
  }
  EXPECT_GT(sessions, 3);
  expect_same(training_result(at), expected, "many sessions");
}

// What a kill -9 leaves behind: the folder as it is at some moment.
TEST_F(Training, EndsTheSameFromTheFolderOfAnyMoment) {
  TrainOptions options = quick_options();
  options.checkpoint_every = 0;
  std::vector<Path> moments;
  const Path at = place();
  train(at, options, [&](const Progress&) { moments.push_back(copy_of(at)); });
  const TrainingResult expected = training_result(at);
  ASSERT_GT(moments.size(), 14U);
  for (size_t i = 0; i < moments.size(); ++i) {
    if (i + 1 < moments.size()) {  // the checkpoint is written last
      const Path mixed = copy_of(moments[i + 1]);
      fs::remove(SeedFolder(mixed).checkpoint_file());
      if (fs::exists(SeedFolder(moments[i]).checkpoint_file())) {
        fs::copy(SeedFolder(moments[i]).checkpoint_file(), SeedFolder(mixed).checkpoint_file());
      }
      train(mixed, options);
      expect_same(training_result(mixed), expected, "before checkpoint " + std::to_string(i));
    }
    train(moments[i], options);
    expect_same(training_result(moments[i]), expected, "moment " + std::to_string(i));
  }
}

// The checkpoint of an interrupted validation, and the log line that the next session wrote before
// it was killed.
TEST_F(Training, LogsAValidationOnceThatWasInterruptedAndThenKilled) {
  const TrainOptions options = quick_options();
  const TrainingResult expected = result(options);
  const Path at = place();
  EXPECT_THROW(train(at, options,
                     [](const Progress& progress) {
                       if (progress.unit == "examples") throw Interrupted();
                     }),
               Interrupted);
  const std::string checkpoint = read_bytes(SeedFolder(at).checkpoint_file());
  EXPECT_THROW(train(at, options,
                     [](const Progress& progress) {
                       if (progress.unit == "batches") throw Interrupted();
                     }),
               Interrupted);
  ASSERT_EQ(json_lines(SeedFolder(at).log_file()).size(), 1U);
  write_bytes(SeedFolder(at).checkpoint_file(), checkpoint);
  train(at, options);
  expect_same(training_result(at), expected, "killed after the log");
}

TEST_F(Training, DropsALineOfTheLogThatWasNotWrittenToItsEnd) {
  const TrainOptions options = quick_options();
  const TrainingResult expected = result(options);
  const Path at = place();
  EXPECT_THROW(train(at, options, Interruption(10).sink()), Interrupted);
  std::ofstream(SeedFolder(at).log_file(), std::ios::app) << R"({"step": 6, "epo)";
  train(at, options);
  expect_same(training_result(at), expected, "half a line");
}

// Read again at every resume, and rewritten only where something is cut: it must not be lost then.
TEST_F(Training, LeavesTheLogAloneWhereNothingIsCut) {
  const Path at = place();
  EXPECT_THROW(train(at, quick_options(), Interruption(10).sink()), Interrupted);
  const Path log = SeedFolder(at).log_file();
  const Path kept = at / "kept";
  fs::create_hard_link(log, kept);  // of a file that is replaced, the old one is left
  train(at, quick_options());
  EXPECT_TRUE(fs::equivalent(log, kept));
  EXPECT_EQ(json_lines(log).size(), 3U);
  std::ofstream(log, std::ios::app) << R"({"step": 10, "epo)";
  train(at, quick_options());
  EXPECT_FALSE(fs::equivalent(log, kept)) << "it is written beside";
  EXPECT_EQ(json_lines(log).size(), 3U);
  EXPECT_EQ(names_in(at), (std::vector<std::string>{"best.safetensors", "checkpoint.safetensors",
                                                    "kept", "log.jsonl"}));
}

TEST_F(Training, KnowsWhetherItIsFinished) {
  const Path at = place();
  Trainer trainer(*task_, quick_options(), SeedFolder(at), "test");
  EXPECT_FALSE(trainer.is_finished());
  EXPECT_THROW(trainer.run(Interruption(10).sink()), Interrupted);
  EXPECT_FALSE(trainer.is_finished());
  const TrainState state = trainer.run();
  EXPECT_TRUE(trainer.is_finished());
  EXPECT_EQ(trainer.best_state().step, state.best_step);
}

// The time of validations says nothing about sampling and computing.
TEST_F(Training, MeasuresItsSpeedInTheTimeForBatches) {
  TrainOptions options = quick_options();
  options.validate_every = 1;
  const auto speed = [&](std::chrono::milliseconds pause) {
    const Path at = place();
    train(at, options, [&](const Progress& progress) {
      if (progress.stage == "scoring validation") std::this_thread::sleep_for(pause);
    });
    const auto last = json_lines(SeedFolder(at).log_file()).back();
    EXPECT_GE(last.at("waiting").get<double>(), 0);
    EXPECT_LE(last.at("waiting").get<double>(), 1);
    return last.at("edges_per_second").get<double>();
  };
  EXPECT_GT(speed(std::chrono::milliseconds(100)), 0.2 * speed(std::chrono::milliseconds(0)));
}

TEST_F(Training, DoesNothingMoreWhenItIsDone) {
  const Path at = place();
  const TrainState ended = train(at, quick_options());
  const auto files = folder_bytes(at);
  EXPECT_EQ(train(at, quick_options(), [](const Progress&) { ADD_FAILURE(); }), ended);
  EXPECT_EQ(folder_bytes(at), files);
}

// --- the best weights ---

TEST_F(Training, KeepsTheWeightsWithTheLowestValidationLoss) {
  TrainOptions options = quick_options();
  options.batches = 12;
  options.validate_every = 1;
  options.learning_rate = options.final_learning_rate = 0.3;  // so high that the loss rises again
  const Path at = place();
  Trainer trainer(*task_, options, SeedFolder(at), "test");
  const TrainState state = trainer.run();
  uint64_t best_step = 0;
  double best_loss = std::numeric_limits<double>::infinity();
  for (const auto& line : json_lines(SeedFolder(at).log_file())) {
    if (line.at("validation_loss") >= best_loss) continue;
    best_loss = line.at("validation_loss").get<double>();
    best_step = line.at("step").get<uint64_t>();
  }
  EXPECT_EQ(state.best_loss, best_loss);
  EXPECT_EQ(state.best_step, best_step);
  EXPECT_LT(best_step, 12U);
  TaskModel model = trainer.best_model();
  EXPECT_EQ(evaluate(model, *task_, Split::validation, options).loss, best_loss);
}

TEST_F(Training, StopsEarlyWhenTheLossNoLongerFalls) {
  TrainOptions options = quick_options();
  options.learning_rate = options.final_learning_rate = 1e-13;  // nothing moves
  options.weight_decay = 0;
  options.patience = 2;
  options.batches = 100;
  const Path at = place();
  const TrainState state = train(at, options);
  EXPECT_TRUE(state.stopped_early);
  EXPECT_EQ(state.best_step, 3U);
  EXPECT_EQ(state.step, 9U);
  EXPECT_EQ(train(at, options), state);  // and stays stopped
  options.patience = 0;
  options.batches = 18;
  const TrainState patient = train(place(), options);
  EXPECT_FALSE(patient.stopped_early);
  EXPECT_EQ(patient.step, 18U);
}

TEST_F(Training, CountsItsPatienceAcrossInterruptions) {
  TrainOptions options = quick_options();
  options.learning_rate = options.final_learning_rate = 1e-13;
  options.weight_decay = 0;
  options.patience = 2;
  options.batches = 100;
  const Path at = place();
  EXPECT_THROW(train(at, options,
                     [](const Progress& progress) {
                       if (progress.unit == "batches" && progress.count == 7) throw Interrupted();
                     }),
               Interrupted);
  const TrainState state = train(at, options);
  EXPECT_TRUE(state.stopped_early);
  EXPECT_EQ(state.step, 9U);
}

TEST_F(Training, ScoresOnlySoManyExamplesWhileItTrainsAndAlwaysTheSame) {
  TrainOptions options = quick_options();
  options.validation.limit = 7;
  TaskModel model = make_model(*task_, options);
  const Evaluation first = evaluate(model, *task_, Split::validation, options);
  const Evaluation again = evaluate(model, *task_, Split::validation, options);
  EXPECT_EQ(first.examples, 7U);
  EXPECT_EQ(first.numbers, again.numbers);
  EXPECT_TRUE(std::is_sorted(first.numbers.begin(), first.numbers.end()));
}

// --- what is not finite ---

TEST_F(Training, StopsWhenTheLossIsNotFiniteAndNamesTheBatch) {
  TrainOptions options = quick_options();
  options.learning_rate = 1e38;
  options.batches = 0;
  options.epochs = 1;
  options.clip = 0;
  const Path at = place();
  const std::string error = error_of([&] { train(at, options); });
  EXPECT_TRUE(contains(error, "the loss is ")) << error;
  EXPECT_TRUE(contains(error, " in batch 2 of pass 1 (batch 2 of the run)")) << error;
  EXPECT_TRUE(contains(error, "--learning-rate")) << error;
  EXPECT_FALSE(fs::exists(SeedFolder(at).best_file()));
}

TEST_F(Training, StopsWhenTheScoresOfAValidationAreNotFinite) {
  TrainOptions options = quick_options();
  options.learning_rate = 1e38;
  options.validate_every = 1;
  const std::string error = error_of([&] { train(place(), options); });
  EXPECT_TRUE(contains(error, "the model's scores of validation examples 1 to 20 are not finite"))
      << error;
}

// --- other tasks ---

TEST_F(Training, EndsTheSameAfterAnInterruptionForEveryKindOfTask) {
  for (const char* name : {"paper-field-L1", "author-disambiguation", "link:cites"}) {
    task_ = training_task(name);
    TrainOptions options = quick_options();
    options.validation.limit = 30;
    const TrainingResult expected = result(options);
    for (const uint64_t report : {1U, 4U, 8U}) {
      const Path at = place();
      EXPECT_THROW(train(at, options, Interruption(report).sink()), Interrupted);
      train(at, options);
      expect_same(training_result(at), expected, name);
    }
  }
}

}  // namespace
}  // namespace hgt
