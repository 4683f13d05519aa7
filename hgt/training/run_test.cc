// Runs: the folder that training leaves behind, and what is read from it.
#include "hgt/training/run.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hgt/error.h"
#include "hgt/message/attention_kernels.h"
#include "hgt/run/example_scores.h"
#include "hgt/run/saved_run.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

RunOptions quick_run(const std::string& task, const Path& graph = training_graph()) {
  RunOptions options;
  options.graph = graph.string();
  options.task = find_task(task, HeteroGraph::open(graph).schema());
  options.training = quick_options();
  options.training.batches = 4;
  options.training.validate_every = 2;
  return options;
}

Json json_file(const Path& file) { return Json::parse(read_bytes(file)); }

class RunFolderTest : public testing::Test {
 protected:
  // A trained run of that task.
  hgt::Run trained(const std::string& name, const std::string& task = "paper-venue",
                   uint64_t repeats = 1) {
    RunOptions options = quick_run(task);
    options.repeats = repeats;
    hgt::Run run = hgt::Run::create(folder_ / name, options);
    run.train();
    return run;
  }
  TestFolder folder_;
};

// --- create and open ---

TEST_F(RunFolderTest, HoldsWhatTheRunDependsOn) {
  RunOptions options = quick_run("paper-venue");
  options.graph = fs::relative(training_graph()).string();
  const hgt::Run made = hgt::Run::create(folder_ / "a" / "b.run", options);
  EXPECT_EQ(names_in(made.folder()),
            (std::vector<std::string>{"lock", "options.toml", "run.json", "task.toml"}));
  const Json json = json_file(made.folder() / "run.json");
  EXPECT_EQ(json.at("format"), "hgt run 3");
  EXPECT_EQ(json.at("graph"),
            training_graph().lexically_normal().string());  // wherever it is opened from
  for (const char* key : {"graph_checksum", "options_checksum", "task_checksum", "hgt", "libtorch",
                          "blas", "kernels"}) {
    EXPECT_NE(json.at(key).get<std::string>(), "") << key;
  }
  const hgt::Run opened = hgt::Run::open(made.folder());
  RunOptions first = made.options();
  RunOptions second = opened.options();
  EXPECT_EQ(training_table(first).to_toml(), training_table(second).to_toml());
  EXPECT_EQ(first.task, second.task);
  EXPECT_EQ(read_task(made.folder() / "task.toml"), made.task().spec());
  EXPECT_EQ(made.options().training.sampling.width, 6U);
  EXPECT_EQ(opened.num_parameters(), made.num_parameters());
  EXPECT_GT(made.num_parameters(), 1000U);
}

// The generated papers are of 1990 to 2019.
TEST_F(RunFolderTest, KeepsTheDatesThatWereChosenForItsSplit) {
  RunOptions options = quick_run("paper-venue");
  options.task.validation_end = "2009";  // the usual end of training is later
  hgt::Run made = hgt::Run::create(folder_ / "run", options);
  const TimeSplit chosen = made.task().time_split();
  EXPECT_TRUE(made.task().chose_dates());
  EXPECT_EQ(chosen.validation_end, 2009);
  EXPECT_LT(chosen.train_end, 2009);
  EXPECT_EQ(read_task(folder_ / "run" / "task.toml").train_end, std::to_string(chosen.train_end));
  EXPECT_TRUE(made.is_made_of(options));
  made.train();
  hgt::Run opened = hgt::Run::open(folder_ / "run");
  EXPECT_EQ(opened.task().time_split(), chosen);
  EXPECT_FALSE(opened.task().chose_dates());
  const RunResult first = made.evaluate(Split::test, made.scoring());
  const RunResult second = opened.evaluate(Split::test, opened.scoring());
  EXPECT_EQ(first.seeds.front().examples, second.seeds.front().examples);
  EXPECT_EQ(first.seeds.front().metrics, second.seeds.front().metrics);
}

TEST_F(RunFolderTest, IsNotMadeOverAnotherRun) {
  hgt::Run::create(folder_ / "run", quick_run("paper-venue"));
  const auto files = folder_bytes(folder_ / "run");
  RunOptions other = quick_run("paper-venue");
  other.training.seed = 5;
  const std::string error = error_of([&] { hgt::Run::create(folder_ / "run", other); });
  EXPECT_TRUE(contains(error, (folder_ / "run").string() + ": there is already a run here"))
      << error;
  EXPECT_TRUE(contains(error, "--resume")) << error;
  EXPECT_EQ(folder_bytes(folder_ / "run"), files);
}

TEST_F(RunFolderTest, IsNotMadeOfOptionsThatMakeNoSense) {
  RunOptions options = quick_run("paper-venue");
  options.training.batch_size = 0;
  EXPECT_TRUE(
      contains(error_of([&] { hgt::Run::create(folder_ / "run", options); }), "batch-size"));
  options = quick_run("paper-venue");
  options.task.node = "movie";
  EXPECT_TRUE(contains(error_of([&] { hgt::Run::create(folder_ / "run", options); }), "movie"));
  options = quick_run("paper-venue");
  options.graph = (folder_ / "nowhere").string();
  EXPECT_TRUE(contains(error_of([&] { hgt::Run::create(folder_ / "run", options); }), "nowhere"));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(RunFolderTest, IsRefusedWhenItIsNoRun) {
  const auto error = [&](const Path& path) { return error_of([&] { hgt::Run::open(path); }); };
  EXPECT_TRUE(
      contains(error(folder_ / "nowhere"), "nowhere: not a run (there is no run.json in it)"));
  EXPECT_TRUE(contains(error(training_graph()), ": not a run"));
}

TEST_F(RunFolderTest, IsRefusedWithADamagedFile) {
  hgt::Run::create(folder_ / "run", quick_run("paper-venue"));
  const auto expect_refused = [&](const std::string& name, const std::string& bytes,
                                  const std::string& expected) {
    const Path file = folder_ / "run" / name;
    const std::string kept = read_bytes(file);
    write_bytes(file, bytes);
    const std::string error = error_of([&] { hgt::Run::open(folder_ / "run"); });
    EXPECT_TRUE(contains(error, file.string() + expected)) << bytes << ": " << error;
    write_bytes(file, kept);
  };
  for (const char* bytes :
       {"", "{", "[]", "3", "null", R"({"format": "hgt run 3"})", R"({"format": 1, "graph": "g"})",
        R"({"format": "hgt run 3", "graph": 3})", R"({"format": "hgt run 9", "graph": "g"})"}) {
    expect_refused("run.json", bytes,
                   ": the file is damaged or was written by another version of hgt");
  }
  // What a power cut leaves of a file may well be one that can be read.
  for (const char* name : {"options.toml", "task.toml"}) {
    const std::string whole = read_bytes(folder_ / "run" / name);
    const size_t line = whole.find('\n', whole.size() / 2) + 1;
    ASSERT_GT(line, 0U);
    for (const std::string& bytes :
         {whole.substr(0, line), whole.substr(0, line - 3), std::string(), whole + "width = 3\n"}) {
      expect_refused(name, bytes, ": the file has changed since hgt wrote it");
    }
  }
  EXPECT_EQ(error_of([&] { hgt::Run::open(folder_ / "run"); }), "");
  fs::remove(folder_ / "run" / "options.toml");
  EXPECT_TRUE(
      contains(error_of([&] { hgt::Run::open(folder_ / "run"); }), "options.toml: cannot be"));
}

TEST_F(RunFolderTest, IsRefusedWhenItsGraphHasChanged) {
  const Path graph = (folder_ / "graph").lexically_normal();
  generate_academic_graph(graph, {.papers = 300, .features = 8});
  hgt::Run::create(folder_ / "run", quick_run("paper-venue", graph)).train();
  EXPECT_EQ(error_of([&] { hgt::Run::open(folder_ / "run"); }), "");
  fs::remove_all(graph);
  EXPECT_TRUE(contains(error_of([&] { hgt::Run::open(folder_ / "run"); }), graph.string()));
  generate_academic_graph(graph, {.papers = 300, .seed = 2, .features = 8});
  const std::string error = error_of([&] { hgt::Run::open(folder_ / "run"); });
  EXPECT_TRUE(contains(error, graph.string() + ": the graph has changed since the run")) << error;
}

TEST_F(RunFolderTest, RefusesWeightsThatWereTrainedWithOtherOptions) {
  RunOptions other = quick_run("paper-venue");
  other.training.weight_decay = 0.02;
  hgt::Run::create(folder_ / "other", other).train();
  hgt::Run run = hgt::Run::create(folder_ / "run", quick_run("paper-venue"));
  fs::copy(folder_ / "other" / "seed-1", folder_ / "run" / "seed-1", fs::copy_options::recursive);
  EXPECT_TRUE(contains(error_of([&] { run.train(); }), "it belongs to a run with other options"));
  EXPECT_TRUE(contains(error_of([&] { run.evaluate(Split::test, {}); }), "with other options"));
}

// Whoever comes second finds a run, or one in the making; never a mixture of both.
TEST_F(RunFolderTest, IsMadeByOneOfManyAtOnce) {
  constexpr size_t kMakers = 6;
  std::vector<std::string> errors(kMakers);
  std::vector<std::thread> makers;
  for (size_t i = 0; i < kMakers; ++i) {
    makers.emplace_back([&, i] {
      RunOptions own = quick_run("paper-venue");
      own.training.seed = 100 + i;
      own.task.split_seed = 100 + i;
      errors[i] = error_of([&] { hgt::Run::create(folder_ / "run", own); });
    });
  }
  for (std::thread& maker : makers) maker.join();
  EXPECT_EQ(std::count(errors.begin(), errors.end(), ""), 1);
  for (const std::string& error : errors) {
    EXPECT_TRUE(error.empty() || contains(error, "there is already a run here") ||
                contains(error, "another process"))
        << error;
  }
  const hgt::Run made = hgt::Run::open(folder_ / "run");
  const uint64_t seed = made.options().training.seed;
  EXPECT_EQ(made.options().task.split_seed, seed);
  EXPECT_EQ(errors[seed - 100], "");
}

TEST_F(RunFolderTest, KnowsTheOptionsThatItIsMadeOf) {
  const hgt::Run run = hgt::Run::create(folder_ / "run", quick_run("paper-venue"));
  EXPECT_TRUE(run.is_made_of(quick_run("paper-venue")));
  EXPECT_TRUE(hgt::Run::open(folder_ / "run").is_made_of(quick_run("paper-venue")));
  EXPECT_FALSE(run.is_made_of(quick_run("paper-field-L1")));
  RunOptions other = quick_run("paper-venue");
  other.training.batches = 5;
  EXPECT_FALSE(run.is_made_of(other));
}

// --- train ---

TEST_F(RunFolderTest, ComputesWithTheInstructionsOfTheRun) {
  RunOptions options = quick_run("paper-venue");
  options.training.pipeline.instructions = InstructionChoice::portable;
  hgt::Run::create(folder_ / "run", options).train();
  EXPECT_EQ(current_instructions(), Instructions::portable);
  EXPECT_EQ(read_run(RunFolder(folder_ / "run")).environment.kernels, "portable");
  hgt::Run other = hgt::Run::create(folder_ / "best", quick_run("paper-venue"));
  EXPECT_EQ(current_instructions(), best_instructions());
  hgt::Run run = hgt::Run::open(folder_ / "run");
  EXPECT_EQ(current_instructions(), Instructions::portable);
  run.set_pipeline({.threads = 1});
  EXPECT_EQ(current_instructions(), Instructions::portable);
  run.set_pipeline({.instructions = InstructionChoice::automatic});
  EXPECT_EQ(run.options().training.pipeline.instructions, InstructionChoice::portable);
  use_instructions(best_instructions());
}

TEST_F(RunFolderTest, TrainsEachSeedInAFolderOfItsOwn) {
  hgt::Run run = trained("run", "paper-venue", 2);
  RunOptions second = quick_run("paper-venue");
  second.training.seed = 2;
  hgt::Run::create(folder_ / "second", second).train();
  const TrainingResult both = training_result(folder_ / "run" / "seed-2");
  const TrainingResult alone = training_result(folder_ / "second" / "seed-2");
  EXPECT_EQ(both, alone);
  EXPECT_FALSE(training_result(folder_ / "run" / "seed-1") == both);
}

TEST_F(RunFolderTest, ReportsWhatTrainingCameTo) {
  hgt::Run run = hgt::Run::create(folder_ / "run", quick_run("paper-venue"));
  const std::vector<SeedReport> reports = run.train();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].seed, 1U);
  EXPECT_EQ(reports[0].batches, 4U);
  EXPECT_FALSE(reports[0].stopped_early);
  const auto log = json_lines(folder_ / "run" / "seed-1" / "log.jsonl");
  ASSERT_EQ(log.size(), 2U);
  const bool first = log[0].at("validation_loss") <= log[1].at("validation_loss");
  EXPECT_EQ(reports[0].best_batch, first ? 2U : 4U);
  EXPECT_EQ(reports[0].validation_loss, log[first ? 0 : 1].at("validation_loss").get<double>());
}

TEST_F(RunFolderTest, GoesOnAcrossSeedsAfterAnInterruption) {
  trained("whole", "paper-venue", 2);
  RunOptions options = quick_run("paper-venue");
  options.repeats = 2;
  const std::string error = error_of([&] {
    hgt::Run::create(folder_ / "run", options).train([](const Progress& progress) {
      if (progress.stage == "training, seed 2" && progress.count == 1) throw Interrupted();
    });
  });
  EXPECT_EQ(error, "stopped and saved; continue with: hgt train --run " +
                       (folder_ / "run").string() + " --resume");
  EXPECT_EQ(hgt::Run::open(folder_ / "run").train().size(), 2U);
  for (const char* seed : {"seed-1", "seed-2"}) {
    expect_same(training_result(folder_ / "run" / seed), training_result(folder_ / "whole" / seed),
                seed);
  }
}

TEST_F(RunFolderTest, IsTrainedByOneProcessAtATime) {
  hgt::Run run = hgt::Run::create(folder_ / "run", quick_run("paper-venue"));
  std::string error;
  run.train([&](const Progress&) {
    if (error.empty()) error = error_of([&] { hgt::Run::open(folder_ / "run").train(); });
  });
  EXPECT_EQ(error, (folder_ / "run").string() + ": another process is training this run");
  EXPECT_EQ(error_of([&] { hgt::Run::open(folder_ / "run").train(); }), "");
}

// --- evaluate ---

TEST_F(RunFolderTest, WritesTheMetricsThatItReturns) {
  hgt::Run run = trained("run", "paper-venue", 2);
  const RunResult result = run.evaluate(Split::test, {});
  ASSERT_EQ(result.seeds.size(), 2U);
  const Json summary = json_file(folder_ / "run" / "test.json");
  EXPECT_EQ(summary.at("split"), "test");
  for (size_t i = 0; i < 2; ++i) {
    const SeedResult& seed = result.seeds[i];
    const Json json = json_file(folder_ / "run" / ("seed-" + std::to_string(i + 1)) / "test.json");
    EXPECT_EQ(json, summary.at("seeds").at(i));
    EXPECT_EQ(json.at("seed"), i + 1);
    EXPECT_EQ(json.at("examples"), run.task().num_examples(Split::test));
    EXPECT_EQ(json.at("loss").get<double>(), seed.loss);
    for (const auto& [name, value] : seed.metrics) EXPECT_EQ(json.at(name).get<double>(), value);
  }
  EXPECT_NE(result.seeds[0].loss, result.seeds[1].loss);
  ASSERT_EQ(result.metrics.size(), result.seeds[0].metrics.size());
  for (size_t i = 0; i < result.metrics.size(); ++i) {
    const auto& [name, value] = result.metrics[i];
    const double a = result.seeds[0].metrics[i].second;
    const double b = result.seeds[1].metrics[i].second;
    EXPECT_NEAR(value.mean, (a + b) / 2, 1e-12) << name;
    EXPECT_NEAR(value.deviation, std::abs(a - b) / std::sqrt(2.0), 1e-12) << name;
    EXPECT_EQ(summary.at("metrics").at(name).at("mean").get<double>(), value.mean);
    EXPECT_EQ(summary.at("metrics").at(name).at("deviation").get<double>(), value.deviation);
  }
}

TEST_F(RunFolderTest, ScoresTheSameAgainAndOnlyTheSplitThatWasAsked) {
  hgt::Run run = trained("run");
  const RunResult first = run.evaluate(Split::validation, {});
  const RunResult again = hgt::Run::open(folder_ / "run").evaluate(Split::validation, {});
  EXPECT_EQ(first.seeds[0].metrics, again.seeds[0].metrics);
  EXPECT_EQ(first.seeds[0].loss, again.seeds[0].loss);
  EXPECT_EQ(first.seeds[0].examples, run.task().num_examples(Split::validation));
  EXPECT_FALSE(fs::exists(folder_ / "run" / "test.json"));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "validation.json"));
}

TEST_F(RunFolderTest, ScoresInBatchesWithWorkersAndOverSamplesAsItSays) {
  hgt::Run run = trained("run");
  const RunResult plain = run.evaluate(Split::test, {.batch_size = 20});
  run.set_pipeline({.threads = 1, .workers = 3});
  EXPECT_EQ(run.evaluate(Split::test, {.batch_size = 20}).seeds[0].metrics, plain.seeds[0].metrics);
  const auto loss = [&](const EvaluationOptions& options) {
    return run.evaluate(Split::test, options).seeds[0].loss;
  };
  const double full = loss({.batch_size = 20, .full = true});
  EXPECT_NE(full, plain.seeds[0].loss);
  EXPECT_EQ(loss({.batch_size = 20, .samples = 3, .full = true}), full);  // nothing is drawn
  EXPECT_NEAR(loss({.batch_size = 7, .full = true}), full, 0.01 * full);  // other links are hidden
  const double one = loss({.samples = 1});
  const double many = loss({.samples = 8});
  EXPECT_NE(one, many);
  EXPECT_NEAR(one, many, 0.2 * one);
}

TEST_F(RunFolderTest, IsNotScoredBeforeItIsTrained) {
  hgt::Run run = hgt::Run::create(folder_ / "run", quick_run("paper-venue"));
  const std::string error = error_of([&] { run.evaluate(Split::test, {}); });
  EXPECT_TRUE(contains(error, "seed 1 has no trained weights yet; train it with: hgt train --run"))
      << error;
}

TEST_F(RunFolderTest, ListsTheMetricOfEachExampleByItsIds) {
  hgt::Run run = trained("run");
  const RunResult result = run.evaluate(Split::test, {});
  std::istringstream in(read_bytes(folder_ / "run" / "seed-1" / "test.tsv"));
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "paper\tndcg\tmrr\thits@1");
  std::set<std::string> ids;
  double ndcg = 0;
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::string id;
    double value = 0;
    cells >> id >> value;
    EXPECT_EQ(id, run.task().describe_example(Split::test, static_cast<uint32_t>(ids.size())));
    ids.insert(id);
    ndcg += value;
  }
  ASSERT_EQ(ids.size(), result.seeds[0].examples);
  EXPECT_NEAR(ndcg / static_cast<double>(ids.size()), result.metrics.at(0).second.mean, 1e-5);
  EXPECT_EQ(result.metrics.at(0).first, "ndcg");
}

// --- half-trained ---

TEST_F(RunFolderTest, SaysThatItWasScoredBeforeItWasTrained) {
  RunOptions options = quick_run("paper-venue");
  options.repeats = 2;
  options.training.validation.batch_size = 11;
  hgt::Run run = hgt::Run::create(folder_ / "run", options);
  const EvaluationOptions how = run.scoring();
  EXPECT_EQ(how.batch_size, 11U);
  const auto stop_at = [](uint64_t batch) {
    return [batch](const Progress& progress) {
      const bool second = progress.stage == "training, seed 2";
      if (second && progress.count == batch) throw Interrupted();
    };
  };
  EXPECT_THROW(run.train(stop_at(3)), Interrupted);  // past the first of two validations
  const RunResult half = run.evaluate(Split::test, how);
  EXPECT_TRUE(half.seeds[0].finished);
  EXPECT_FALSE(half.seeds[1].finished);
  EXPECT_EQ(half.seeds[1].best_batch, 2U);
  EXPECT_EQ(json_file(folder_ / "run" / "test.json").at("seeds").at(1).at("finished"), false);
  EXPECT_FALSE(run.is_scored(Split::test, how));

  run.train();
  EXPECT_FALSE(fs::exists(folder_ / "run" / "test.json")) << "it is of weights that are gone";
  EXPECT_FALSE(fs::exists(folder_ / "run" / "seed-2" / "test.tsv"));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "seed-1" / "test.tsv"));
  EXPECT_FALSE(run.is_scored(Split::test, how));

  run.evaluate(Split::test, how);
  EXPECT_TRUE(run.is_scored(Split::test, how));
  EXPECT_FALSE(run.is_scored(Split::validation, how));
  run.train();  // there is nothing to do
  EXPECT_TRUE(run.is_scored(Split::test, how));
  EvaluationOptions other = how;
  other.limit = 5;
  EXPECT_FALSE(run.is_scored(Split::test, other));
  run.evaluate(Split::test, other);
  EXPECT_FALSE(run.is_scored(Split::test, how));
}

// --- compare ---

TEST_F(RunFolderTest, IsComparedExampleByExample) {
  hgt::Run a = trained("a");
  RunOptions other = quick_run("paper-venue");
  other.repeats = 2;
  other.training.seed = 3;
  hgt::Run b = hgt::Run::create(folder_ / "b", other);
  b.train();
  const double mean_a = a.evaluate(Split::test, {}).metrics.at(0).second.mean;
  const double mean_b = b.evaluate(Split::test, {}).metrics.at(0).second.mean;
  const PairedTest test = compare_runs(a.files(), b.files(), Split::test, "ndcg");
  EXPECT_NEAR(test.difference, mean_a - mean_b, 1e-5);
  EXPECT_LE(test.low, test.difference);
  EXPECT_GE(test.high, test.difference);
  EXPECT_EQ(compare_runs(a.files(), a.files(), Split::test, "mrr").difference, 0);
}

TEST_F(RunFolderTest, IsComparedOnTheSameDrawnExamplesWhateverItsSeeds) {
  hgt::Run a = trained("a");
  hgt::Run b = trained("b", "paper-venue", 2);
  const EvaluationOptions some{.limit = 9};
  const double mean_a = a.evaluate(Split::test, some).metrics.at(0).second.mean;
  const double mean_b = b.evaluate(Split::test, some).metrics.at(0).second.mean;
  const PairedTest test = compare_runs(a.files(), b.files(), Split::test, "ndcg");
  EXPECT_NEAR(test.difference, mean_a - mean_b, 1e-5);
}

TEST_F(RunFolderTest, IsNotComparedWithWhatCannotBe) {
  hgt::Run a = trained("a");
  hgt::Run b = trained("b");
  const auto error = [&](const Path& other, const std::string& metric) {
    return error_of([&] { compare_runs(a.files(), RunFolder(other), Split::test, metric); });
  };
  a.evaluate(Split::test, {});
  EXPECT_TRUE(contains(error(b.folder(), "ndcg"), "b: has not been scored on test; run: hgt eval"));
  EXPECT_TRUE(contains(error(folder_ / "nowhere", "ndcg"), "nowhere"));
  b.evaluate(Split::test, {});
  EXPECT_EQ(error(b.folder(), "ndcg"), "");
  EXPECT_TRUE(contains(error(b.folder(), "auc"), "there is no column 'auc'; choose ndcg, mrr"));
  b.evaluate(Split::test, {.limit = 5});
  EXPECT_TRUE(contains(error(b.folder(), "ndcg"), "b were scored on different examples"));
  for (const char* text :
       {"paper\tndcg\tmrr\thits@1\nP1\t0.5\n", "paper\tndcg\tmrr\thits@1\nP1\tx\t0.5\t0.5\n", ""}) {
    write_bytes(b.folder() / "seed-1" / "test.tsv", text);
    EXPECT_TRUE(contains(error(b.folder(), "ndcg"), "test.tsv: ")) << text;
  }
}

}  // namespace
}  // namespace hgt
