// What a run's folder keeps comes back as it was, and damage is named.
#include "hgt/run/saved_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "hgt/disk/checksum.h"
#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/run/results.h"
#include "hgt/run/training_log.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class SavedRunTest : public testing::Test {
 protected:
  SavedRunTest() : run_(folder_ / "some.run") {
    fs::create_directory(run_.path());
    options_.graph = "/graphs/papers";
    options_.features = "titles";
    options_.task = {.name = "paper-venue", .node = "paper", .other = "venue", .edges = {"pub"}};
    options_.training.model.layers = 5;
    options_.training.seed = 77;
    options_.repeats = 3;
  }
  RunEnvironment environment() const {
    return {.graph = options_.graph,
            .graph_checksum = "00ff",
            .structure_checksum = "0ff0",
            .hgt = "1.2.3",
            .commit = "abc",
            .libtorch = "9.9",
            .blas = "fast",
            .kernels = "portable",
            .cores = 4,
            .threads = 2};
  }

  const TestFolder folder_;
  const RunFolder run_;
  RunOptions options_;
};

TEST_F(SavedRunTest, ComesBackAsItWasWritten) {
  write_run(run_, options_, environment());
  const SavedRun back = read_run(run_);
  EXPECT_TRUE(same_run(back.options, options_));
  EXPECT_EQ(back.options.training.model.layers, 5);
  EXPECT_EQ(back.options.repeats, 3U);
  EXPECT_EQ(back.options.task, options_.task);
  RunEnvironment expected = environment();
  EXPECT_NE(back.environment.options_checksum, back.environment.task_checksum);
  expected.options_checksum = back.environment.options_checksum;
  expected.task_checksum = back.environment.task_checksum;
  EXPECT_EQ(back.environment, expected);
}

TEST_F(SavedRunTest, IsARunOnceItsEnvironmentIsThere) {
  EXPECT_FALSE(run_.holds_run());
  EXPECT_TRUE(contains(error_of([&] { read_run(run_); }), "not a run"));
  write_run(run_, options_, environment());
  EXPECT_TRUE(run_.holds_run());
}

TEST_F(SavedRunTest, RefusesFilesThatWereEditedOrDamaged) {
  for (const Path& file : {run_.options_file(), run_.task_file()}) {
    write_run(run_, options_, environment());
    write_bytes(file, read_bytes(file) + "# a note\n");
    const std::string error = error_of([&] { read_run(run_); });
    EXPECT_TRUE(contains(error, file.string()) && contains(error, "has changed since hgt wrote it"))
        << error;
  }
  for (const char* text : {"", "{", "[]", "3", "null", R"({"format": "hgt run 1"})",
                           R"({"format": "hgt run 3"})", R"({"format": 1, "graph": "g"})"}) {
    write_run(run_, options_, environment());
    write_bytes(run_.environment_file(), text);
    EXPECT_TRUE(contains(error_of([&] { read_run(run_); }), "run.json: the file is damaged"))
        << text;
  }
}

TEST_F(SavedRunTest, IdentityIsWhatTheWeightsDependOn) {
  const std::string identity = run_identity(options_, "00ff");
  RunOptions same = options_;
  same.training.seed = 5;  // each seed adds its own
  same.repeats = 1;
  same.training.pipeline = {.threads = 9, .workers = 3};
  same.training.checkpoint_every = 1;
  EXPECT_EQ(run_identity(same, "00ff"), identity);
  RunOptions other = options_;
  other.training.learning_rate *= 2;
  EXPECT_NE(run_identity(other, "00ff"), identity);
  EXPECT_NE(run_identity(options_, "00fe"), identity);
}

// Lines that begin with one of the keys are left out.
std::string without_lines(const std::string& text, const std::vector<std::string>& keys) {
  std::istringstream in(text);
  std::string rest;
  for (std::string line; std::getline(in, line);) {
    const bool named = std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
      return line.starts_with(key + " =");
    });
    if (!named) rest += line + '\n';
  }
  return rest;
}

// An option that came later means in an earlier run what that run did, and its weights are known.
TEST_F(SavedRunTest, OfAnEarlierVersionDoesWhatItDid) {
  const std::vector<std::string> later = {
      "seed-width",   "recent",           "seed-times",          "features",
      "instructions", "degree-weights",   "matrix-per-relation", "label-inputs",
      "same-time",    "scaled-sinusoids", "paired-sinusoids"};
  write_run(run_, options_, environment());
  const std::string text = without_lines(read_bytes(run_.options_file()), later);
  write_bytes(run_.options_file(), text);
  std::string about = read_bytes(run_.environment_file());
  const std::string before = nlohmann::json::parse(about).at("options_checksum").get<std::string>();
  about.replace(about.find(before), before.size(), text_checksum(text));
  write_bytes(run_.environment_file(), about);
  RunOptions options = read_run(run_).options;
  EXPECT_EQ(options.training.sampling.seed_width, 0U);
  EXPECT_FALSE(options.training.sampling.recent || options.training.sampling.same_time);
  EXPECT_EQ(options.training.seed_times, 0U);
  EXPECT_EQ(options.training.model.degree_weights, DegreeWeights::mean);
  EXPECT_FALSE(options.training.model.matrix_per_relation);
  EXPECT_FALSE(options.training.label_inputs);
  EXPECT_FALSE(options.training.model.scaled_sinusoids || options.training.model.paired_sinusoids);
  options.training.seed = 0;
  options.training.checkpoint_every = 0;
  options.repeats = 1;
  const std::string old = without_lines(training_table(options).to_toml(), later);
  EXPECT_EQ(run_identity(options, "00ff"), text_checksum(old + to_toml(options.task) + "00ff"));
  for (bool* option :
       {&options.training.sampling.recent, &options.training.sampling.same_time,
        &options.training.model.scaled_sinusoids, &options.training.model.paired_sinusoids}) {
    *option = true;
    EXPECT_NE(run_identity(options, "00ff"), text_checksum(old + to_toml(options.task) + "00ff"));
    *option = false;
  }
}

// --- what training and evaluation left ---

LogEntry entry(uint64_t step) {
  return {.step = step,
          .epoch = 0.5,
          .train_loss = 3.25,
          .validation_loss = 2.5,
          .metrics = {{"ndcg", 0.75}, {"hits@1", 0.5}},
          .learning_rate = 0.001,
          .seconds = 12.5,
          .edges_per_second = 1e6,
          .waiting = 0.25};
}

TEST_F(SavedRunTest, LogEntriesComeBackInTheirOrder) {
  const TrainingLog log(folder_ / "log.jsonl");
  EXPECT_TRUE(log.read().empty());
  log.append(entry(3));
  log.append(entry(6));
  EXPECT_EQ(log.read(), (std::vector<LogEntry>{entry(3), entry(6)}));
  EXPECT_EQ(log.read()[0].metric("hits@1", 0), 0.5);
  EXPECT_EQ(log.read()[0].metric("auc", -1), -1);
}

TEST_F(SavedRunTest, LogDropsWhatCameAfterAStepAndAHalfWrittenLine) {
  const TrainingLog log(folder_ / "log.jsonl");
  log.keep_until(4);  // there is none
  for (const uint64_t step : {3U, 6U, 9U}) log.append(entry(step));
  log.keep_until(6);
  EXPECT_EQ(log.read(), (std::vector<LogEntry>{entry(3), entry(6)}));
  write_bytes(folder_ / "log.jsonl", read_bytes(folder_ / "log.jsonl") + R"({"step": 9, "epo)");
  EXPECT_EQ(log.read().size(), 2U);
  log.keep_until(9);
  log.append(entry(9));
  EXPECT_EQ(log.read(), (std::vector<LogEntry>{entry(3), entry(6), entry(9)}));
}

TEST_F(SavedRunTest, LogThatCannotBeWrittenIsAnError) {
  EXPECT_TRUE(contains(error_of([&] { TrainingLog("/dev/full").append(entry(1)); }),
                       "/dev/full: cannot be written"));
}

TEST_F(SavedRunTest, TrainingSummaryComesBack) {
  EXPECT_FALSE(read_training_summary(run_));
  const TrainingSummary summary{
      .parameters = 12,
      .peak_megabytes = 34.5,
      .seeds = {{.seed = 7,
                 .batches = 100,
                 .best_batch = 50,
                 .validation_loss = 1.5,
                 .seconds = 10,
                 .seconds_per_batch = 0.1,
                 .stopped_early = true}},
      .warnings = {{WarningKind::few_examples, "few"}, {WarningKind::own_vectors, "by heart"}}};
  write_training_summary(run_, summary);
  EXPECT_EQ(read_training_summary(run_), summary);
  for (const char* text : {"", "{", "[]", "{}", R"({"parameters": 1, "peak_memory_mb": 1})",
                           R"({"parameters": "x", "peak_memory_mb": 1, "seeds": []})"}) {
    write_bytes(run_.training_file(), text);
    EXPECT_TRUE(contains(error_of([&] { read_training_summary(run_); }), "training.json")) << text;
  }
}

TEST_F(SavedRunTest, ResultsComeBack) {
  EXPECT_FALSE(read_result(run_, Split::test));
  RunResult result{.split = Split::test, .scoring = {.batch_size = 9, .samples = 2, .limit = 5}};
  for (const double ndcg : {0.25, 0.75}) {
    result.seeds.push_back({.seed = result.seeds.size() + 1,
                            .best_batch = 3,
                            .finished = ndcg < 0.5,
                            .examples = 10,
                            .left_out = 1,
                            .loss = 2,
                            .seconds = 4,
                            .metrics = {{"ndcg", ndcg}, {"mrr", 0.5}}});
  }
  summarize(result);
  EXPECT_EQ(result.metric("ndcg")->mean, 0.5);
  EXPECT_EQ(result.metric("mrr")->deviation, 0);
  EXPECT_EQ(result.metric("auc"), nullptr);
  EXPECT_FALSE(result.is_finished());
  write_result(run_, result);
  EXPECT_EQ(read_result(run_, Split::test), result);
  EXPECT_FALSE(read_result(run_, Split::validation));
  for (const char* text : {"", "{", "[]", "3", "{}", R"({"metrics": {}, "seeds": []})"}) {
    write_bytes(run_.results_file(Split::test), text);
    const std::string error = error_of([&] { read_result(run_, Split::test); });
    EXPECT_TRUE(contains(error, "test.json") && contains(error, "hgt evaluate")) << text << error;
  }
}

TEST_F(SavedRunTest, FurtherTrainingRemovesTheResultsOfItsSeedAndOfTheRun) {
  for (const uint64_t seed : {1U, 2U}) fs::create_directory(run_.seed(seed).path());
  for (const Path& file :
       {run_.results_file(Split::test), run_.seed(1).results_file(Split::test),
        run_.seed(1).example_scores_file(Split::test), run_.seed(2).results_file(Split::test)}) {
    write_bytes(file, "{}");
  }
  ASSERT_EQ(run_.seeds().size(), 2U);
  run_.remove_results(1);
  EXPECT_FALSE(fs::exists(run_.results_file(Split::test)));
  EXPECT_FALSE(fs::exists(run_.seed(1).results_file(Split::test)));
  EXPECT_FALSE(fs::exists(run_.seed(1).example_scores_file(Split::test)));
  EXPECT_TRUE(fs::exists(run_.seed(2).results_file(Split::test)));
}

}  // namespace
}  // namespace hgt
