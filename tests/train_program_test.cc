// `hgt train`, `evaluate`, `predict` and `embed` as a stranger meets them, and killed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/disk/tensor_file.h"
#include "hgt/random.h"
#include "hgt/tables/npy_matrix.h"
#include "tests/run_program.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Every tensor of a file as bytes.
std::map<std::string, std::string> weights(const Path& path) {
  const TensorFile file = TensorFile::open(path);
  std::map<std::string, std::string> all;
  for (const TensorView& tensor : file.tensors()) {
    all[tensor.name].assign(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  }
  return all;
}

std::vector<std::string> lines_of(const Path& file) {
  std::vector<std::string> lines;
  std::istringstream in(read_bytes(file));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The log without what differs from run to run.
std::vector<Json> log_of(const Path& run) {
  std::vector<Json> log;
  for (const std::string& line : lines_of(run / "seed-1" / "log.jsonl")) {
    log.push_back(Json::parse(line));
    for (const char* key : {"seconds", "edges_per_second", "waiting"}) log.back().erase(key);
  }
  return log;
}

// False: it did not come about within half a minute.
bool wait_for(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

class TrainProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared = new TestFolder;
    const Outcome made =
        run_program(shared->path(), {"generate", "--preset", "small", "--papers", "300",
                                     "--features", "8", "--out", (*shared / "graph").string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  static void TearDownTestSuite() { delete shared; }

  static std::string graph() { return (*shared / "graph").string(); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Outcome hgt(const Words& words, const std::function<void(pid_t)>& while_running = {}) {
    const Path scratch = folder_ / ("scratch" + std::to_string(runs_++));
    fs::create_directories(scratch);
    return run_program(scratch, words, while_running);
  }
  std::string text(const Words& words) {
    const Outcome outcome = hgt(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  void expect_failure(const Words& words, int exit_code, const std::string& message) {
    const Outcome outcome = hgt(words);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << message << "\nis not in\n" << outcome.err;
  }
  static Words quick() {
    return {"--hidden",  "8",   "--heads",      "2",  "--layers",  "2",
            "--width",   "6",   "--depth",      "2",  "--threads", "1",
            "--dropout", "0.2", "--batch-size", "24", "--quiet"};
  }
  Words train(const std::string& run, const Words& more = {"--batches", "4"}) const {
    return Words{"train", graph(), "--task", "paper-venue", "--run", path(run)} + quick() + more;
  }
  std::map<std::string, std::string> best(const std::string& run) const {
    return weights(folder_ / run / "seed-1" / "best.safetensors");
  }

  static inline TestFolder* shared = nullptr;
  TestFolder folder_;
  int runs_ = 0;
};

// --- from a graph to answers ---

TEST_F(TrainProgram, TrainsScoresPredictsAndEmbeds) {
  const std::string trained = text(train("run", {"--batches", "4", "--repeats", "2"}));
  for (const char* expected :
       {"task paper-venue: ", " train, ", " classes\n",
        "\nsplit by time: training until 2014, validation until 2016, then test\n",
        "\ntime bound split: ", "model hgt: ", "validation loss", "score it with: hgt evaluate "}) {
    EXPECT_TRUE(contains(trained, expected)) << expected << "\nis not in\n" << trained;
  }
  const Json scores = Json::parse(text({"evaluate", path("run"), "--json", "--quiet"}));
  EXPECT_EQ(scores.at("split"), "test");
  ASSERT_EQ(scores.at("seeds").size(), 2U);
  const Json written = Json::parse(read_bytes(folder_ / "run" / "test.json"));
  EXPECT_EQ(scores.at("metrics"), written.at("metrics"));
  EXPECT_EQ(scores.at("examples"), written.at("seeds").at(0).at("examples"));
  const std::string table = text({"evaluate", path("run"), "--against", path("run"), "--quiet"});
  EXPECT_TRUE(contains(table, "mean and deviation over 2 seeds")) << table;
  EXPECT_TRUE(contains(table, "ndcg +0.0000")) << table;

  text({"predict", path("run"), "--all", "--top", "3", "--out", path("all.tsv"), "--quiet"});
  const auto answers = lines_of(folder_ / "all.tsv");
  EXPECT_EQ(answers.size(), 1 + 3 * 300U);
  EXPECT_EQ(answers[0], "paper\trank\tvenue\tname\tprobability");
  const std::string paper = answers[1].substr(0, answers[1].find('\t'));
  text({"predict", path("run"), "--node", "paper:" + paper, "--out", path("one.tsv")});
  EXPECT_EQ(lines_of(folder_ / "one.tsv").size(), 6U);

  text({"embed", path("run"), "--type", "author", "--out", path("vectors"), "--quiet"});
  const NpyMatrix vectors(folder_ / "vectors" / "vectors.npy");
  EXPECT_EQ(vectors.width(), 8U);
  EXPECT_EQ(vectors.rows() + 1, lines_of(folder_ / "vectors" / "nodes.tsv").size());
}

TEST_F(TrainProgram, PredictsManyNodesAtOnceAsEvaluationScoresThem) {
  text(train("run"));
  const auto predict = [&](const Words& what) {
    text(Words{"predict", path("run"), "--quiet", "--out", path("out.tsv")} + what);
    return lines_of(folder_ / "out.tsv");
  };
  const auto of_split = predict({"--split", "test"});
  text({"evaluate", path("run"), "--quiet"});
  std::string ids;
  std::string table = "name\tid\ttime\n";
  const auto scored = lines_of(folder_ / "run" / "seed-1" / "test.tsv");
  EXPECT_EQ(of_split.size(), 1 + 5 * (scored.size() - 1));
  for (size_t i = 1; i < scored.size(); ++i) {
    const std::string id = scored[i].substr(0, scored[i].find('\t'));
    EXPECT_TRUE(of_split[5 * i].starts_with(id + "\t5\t")) << of_split[5 * i];
    ids += id + "\r\n";
    table += "x\t" + id + "\t\n";
  }
  write_bytes(folder_ / "ids.txt", ids);
  write_bytes(folder_ / "ids.tsv", table);
  EXPECT_EQ(predict({"--nodes", path("ids.txt")}), of_split);
  EXPECT_EQ(predict({"--nodes", path("ids.tsv")}), of_split);
  const Words whole = {"--at", "2012", "--nodes", path("ids.txt")};
  expect_failure(Words{"predict", path("run"), "--out", path("out.tsv")} + whole, 1,
                 "--at and --instances are for inference over the whole graph");
}

TEST_F(TrainProgram, NamesFileAndLineOfAWrongNode) {
  text(train("run", {"--batches", "1"}));
  text({"embed", path("run"), "--type", "paper", "--out", path("papers"), "--quiet"});
  const Words predict = {"predict", path("run"), "--quiet", "--out", path("out.tsv")};
  const auto lines = lines_of(folder_ / "papers" / "nodes.tsv");
  const std::string id = lines[1].substr(0, lines[1].find('\t'));
  const auto fails = [&](const std::string& bytes, const std::string& message) {
    write_bytes(folder_ / "nodes.txt", bytes);
    expect_failure(predict + Words{"--nodes", path("nodes.txt")}, 1, path("nodes.txt") + message);
  };
  fails(id + "\nnowhere\n", ":2: there is no node of type paper with the id 'nowhere'");
  fails("id\ttime\n" + id + "\n", ":2: ");
  fails("id\ttime\n" + id + "\tsoon\n", ":2: 'soon' is not a time");
  fails("id\ttime\n" + id + "\t1901\n", ":2: the time of paper '" + id + "' is ");
  fails("paper\tyear\n" + id + "\t2010\n", ": no column is called 'id'");
  fails("id\n", ": there is no node in it");
  fails("", ": ");
  expect_failure(predict + Words{"--nodes", path("gone.txt")}, 1, path("gone.txt"));
  for (const Words& ways : std::vector<Words>{{}, {"--all", "--split", "test"}}) {
    expect_failure(predict + ways, 2, "one of --node, --nodes, --split and --all");
  }
  EXPECT_FALSE(fs::exists(folder_ / "out.tsv"));
  text(predict + Words{"--nodes", path("papers") + "/nodes.tsv"});  // as hgt embed writes it
  EXPECT_EQ(lines_of(folder_ / "out.tsv").size(), 1 + 5 * (lines.size() - 1));
}

// --- options ---

TEST_F(TrainProgram, LetsTheCommandLineWinOverTheConfigFile) {
  write_bytes(folder_ / "my.toml", "hidden = 16\nheads = 4\ndropout = 0.3\ntrain-end = '2013'\n");
  text({"train",     graph(),     "--task",    "paper-venue",
        "--run",     path("run"), "--config",  path("my.toml"),
        "--heads",   "2",         "--layers",  "1",
        "--width",   "4",         "--depth",   "1",
        "--batches", "1",         "--threads", "1",
        "--no-rte"});
  const std::string options = read_bytes(folder_ / "run" / "options.toml");
  for (const char* line : {"\nhidden = 16\n", "\nheads = 2\n", "\ndropout = 0.3\n",
                           "\nlayers = 1\n", "\nrte = false\n", "\nheter = true\n"}) {
    EXPECT_TRUE(contains(options, line)) << line << options;
  }
  EXPECT_TRUE(contains(read_bytes(folder_ / "run" / "task.toml"), "2013"));
}

// Paper, section 5.2; 200 epochs of 64 steps are the authors' code's.
TEST_F(TrainProgram, TakesTheProtocolOfThePaperFromOneFile) {
  const Path config = Path(HGT_SOURCE_DIR) / "data/configs/paper.toml";
  text({"train", graph(), "--task", "paper-venue", "--run", path("run"), "--config",
        config.string(), "--batches", "1", "--repeats", "1", "--width", "4", "--depth", "1",
        "--validation-limit", "4", "--quiet"});
  const std::string options = read_bytes(folder_ / "run" / "options.toml");
  for (const char* line :
       {"model = \"hgt\"", "hidden = 256", "heads = 8", "layers = 3", "heter = true", "rte = true",
        "norm = false", "gated-skip = false", "tanh-adaptation = false", "matrix-per-head = false",
        "divide-by-head-width = false", "prior = \"meta_relation\"", "strategy = \"hgsampling\"",
        "neighbor-cap = 0", "batch-size = 256", "validate-every = 64", "patience = 0",
        "warmup = 0"}) {
    EXPECT_TRUE(contains(options, std::string(line) + "\n")) << line << "\nis not in\n" << options;
  }
  // What the command line made smaller.
  const std::string file = read_bytes(config);
  for (const char* line : {"batches = 12800", "repeats = 5", "validation-limit = 0"}) {
    EXPECT_TRUE(contains(file, std::string("\n") + line)) << line;
  }
  EXPECT_TRUE(contains(read_bytes(folder_ / "run" / "task.toml"), "train-end = \"\""))
      << "the usual dates";
}

TEST_F(TrainProgram, WithAMatrixPerRelationDoesAllThatOtherRunsDo) {
  const std::string trained =
      text(train("run", {"--matrix-per-relation", "--batches", "4", "--validate-every", "2"}));
  text(train("plain", {"--batches", "4", "--validate-every", "2"}));
  EXPECT_GT(best("run").size(), 0U);
  EXPECT_TRUE(best("run").contains("encoder.layer_0.relation_weight"));
  EXPECT_FALSE(best("plain").contains("encoder.layer_0.relation_weight"));
  text({"evaluate", path("run"), "--quiet"});
  text({"evaluate", path("run"), "--full", "--quiet"});
  text({"predict", path("run"), "--all", "--out", path("all.tsv"), "--quiet"});
  text({"embed", path("run"), "--type", "author", "--out", path("authors"), "--quiet"});
  EXPECT_TRUE(contains(text({"explain", path("run"), "--type", "paper", "--quiet"}), "paper"));
  text({"explain", path("run"), "--node", "paper:290", "--quiet"});
  expect_failure(train("other", {"--matrix-per-relation", "--prior", "meta_relation"}), 2,
                 "--prior: --matrix-per-relation stands for it");
  expect_failure(train("other", {"--degree-weights", "symmetric"}), 2,
                 "--degree-weights: only --model gcn weighs neighbors by degrees");
}

TEST_F(TrainProgram, NamesFileAndLineOfAWrongConfig) {
  write_bytes(folder_ / "my.toml", "hidden = 16\n\nhiden = 4\n");
  expect_failure(train("run", {"--config", path("my.toml")}), 1,
                 path("my.toml") + ":3: unknown key 'hiden'");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainProgram, ReproducesARunFromTheOptionsItWrote) {
  text(train("run", {"--batches", "3", "--preset", "paper", "--seed", "7", "--leave-out", "cites",
                     "--learning-rate", "0.0123456789"}));
  text({"train", graph(), "--task", path("run") + "/task.toml", "--run", path("again"), "--config",
        path("run") + "/options.toml"});
  EXPECT_EQ(read_bytes(folder_ / "again" / "options.toml"),
            read_bytes(folder_ / "run" / "options.toml"));
  const auto first = weights(folder_ / "run" / "seed-7" / "best.safetensors");
  EXPECT_TRUE(weights(folder_ / "again" / "seed-7" / "best.safetensors") == first);
}

TEST_F(TrainProgram, SaysWhatIsMissingOrUnknown) {
  expect_failure({"train", graph(), "--task", "paper-venu", "--run", path("run")}, 1,
                 "paper-venue");
  expect_failure({"train", graph(), "--task", "paper-venue"}, 2, "--run is required");
  expect_failure({"train", "--resume"}, 2, "--run is required");
  expect_failure(train("run", {"--batches", "x"}), 1,
                 "batches: 'x' is not a whole number from 0 to 1000000000000");
  expect_failure({"evaluate", path("run")}, 1, "not a run (there is no run.json in it)");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainProgram, KeepsTheOptionsOfARunThatGoesOn) {
  text(train("run"));
  const Words resume = {"train", "--run", path("run"), "--resume"};
  const std::vector<Words> others = {{"--hidden", "16"}, {"--no-guard"}, {"--preset", "paper"}};
  for (const Words& more : others) {
    expect_failure(resume + more, 2, more[0] == "--no-guard" ? "--guard" : more[0]);
  }
  text(resume + Words{"--threads", "1", "--workers", "2"});
  expect_failure(train("run"), 1, "there is already a run here");
}

TEST_F(TrainProgram, ShowsThatNothingLeaksUnlessTheGuardIsOff) {
  const Words audit = {"train", graph(), "--task", "paper-venue", "--width", "8", "--audit"};
  const std::string clean = text(audit);
  EXPECT_TRUE(contains(clean, "\nNothing leaks.\n")) << clean;
  EXPECT_TRUE(contains(clean, "train: 64 examples, ")) << clean;
  EXPECT_TRUE(clean.starts_with("time bound split: ")) << clean;
  const std::string random = text(audit + Words{"--split", "random"});
  EXPECT_TRUE(random.starts_with("time bound seed: ")) << random;
  EXPECT_TRUE(contains(random, "\nNothing leaks.\n")) << random;
  const std::string loose = text(audit + Words{"--split", "random", "--time-bound", "none"});
  EXPECT_FALSE(contains(loose, "Nothing leaks.")) << loose;
  EXPECT_TRUE(contains(loose, "\nNo time bounds what ")) << loose;
  expect_failure(audit + Words{"--split", "random", "--time-bound", "split"}, 1,
                 "would bound nothing");
  for (const Words& careless : std::vector<Words>{{"--no-guard"}, {"--time-bound", "none"}}) {
    const Outcome open = hgt(audit + careless);
    EXPECT_EQ(open.exit_code, 1);
    EXPECT_TRUE(contains(open.out, "The sub-graphs leak.\n")) << open.out;
    EXPECT_TRUE(contains(open.err, "would see what it must not")) << open.err;
  }
  expect_failure(audit + Words{"0"}, 2, "--audit");
}

TEST_F(TrainProgram, RefusesOptionsThatHaveNoEffect) {
  expect_failure(train("run", {"--negatives", "3"}), 2,
                 "--negatives: only link prediction draws nodes");
  expect_failure(train("run", {"--batches", "3", "--epochs", "3"}), 2, "--epochs: ");
  expect_failure({"train", graph(), "--task", "author-disambiguation", "--run", path("run"),
                  "--loss", "binary"},
                 1, "choose softmax");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  write_bytes(folder_ / "all.toml", "negatives = 3\nslices = 3\n");  // a file may say it all
  text(train("run", {"--batches", "1", "--config", path("all.toml")}));
}

TEST_F(TrainProgram, ScoresAsTheRunSaysUnlessToldOtherwise) {
  text(train("run",
             {"--batches", "2", "--validation-samples", "2", "--validation-batch-size", "9"}));
  const auto scoring = [&](const Words& more) {
    text(Words{"evaluate", path("run"), "--quiet"} + more);
    return Json::parse(read_bytes(folder_ / "run" / "test.json")).at("scoring");
  };
  const auto expected = [](int size, int samples, bool full, int limit) {
    return Json{{"batch_size", size}, {"samples", samples}, {"full", full}, {"limit", limit}};
  };
  EXPECT_EQ(scoring({}), expected(9, 2, false, 0));
  EXPECT_EQ(scoring({"--samples", "1"}), expected(9, 1, false, 0));
  EXPECT_EQ(scoring({"--batch-size", "20", "--limit", "5"}), expected(20, 2, false, 5));
  EXPECT_EQ(scoring({"--full"}), expected(9, 2, true, 0));
  text(train("full", {"--batches", "2", "--validation-full"}));
  text({"evaluate", path("full"), "--quiet", "--samples", "3"});
  EXPECT_EQ(Json::parse(read_bytes(folder_ / "full" / "test.json")).at("scoring"),
            expected(256, 3, false, 0));
}

// 300 papers: fewer than 50 are for validation.
TEST_F(TrainProgram, WarnsWhereAScoreMeansLittle) {
  const Outcome trained = hgt(train("run", {"--batches", "2"}));
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.err, "warning: only ")) << trained.err;
  EXPECT_FALSE(contains(trained.out, "warning")) << trained.out;
  const auto first_kind = [&](const char* file) {
    const Json json = Json::parse(read_bytes(folder_ / "run" / file));
    return json.at("warnings").at(0).at("kind").get<std::string>();
  };
  EXPECT_EQ(first_kind("training.json"), "few_examples");
  const Outcome scored =
      hgt({"evaluate", path("run"), "--quiet", "--json", "--split", "validation", "--limit", "9"});
  EXPECT_TRUE(contains(scored.err, "warning: only 9 validation examples are scored")) << scored.err;
  EXPECT_EQ(Json::parse(scored.out).at("warnings").at(0).at("kind"), "few_examples");
  EXPECT_EQ(first_kind("validation.json"), "few_examples");
}

// --- stopped ---

constexpr const char* kLong = "120";

Words long_run() {
  return {"--batches", kLong, "--validate-every", "25", "--checkpoint-every", "0"};
}

TEST_F(TrainProgram, EndsTheSameAfterBeingKilledAtAnyMoment) {
  text(train("whole", long_run()));
  const Path run = folder_ / "killed";
  Draws draws(hash(::getpid()));
  int kills = 0;
  while (kills < 4) {
    const Words words = fs::exists(run / "run.json")
                            ? Words{"train", "--run", path("killed"), "--resume", "--quiet"}
                            : train("killed", long_run());
    // The first one surely while it trains, later ones whenever it may be.
    const Outcome outcome = hgt(words, [&](pid_t process) {
      if (kills == 0) wait_for([&] { return fs::exists(run / "seed-1/checkpoint.safetensors"); });
      std::this_thread::sleep_for(std::chrono::milliseconds(draws.below(kills == 0 ? 100 : 700)));
      ::kill(process, SIGKILL);
    });
    if (outcome.exit_code == 0) break;
    ASSERT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.err;
    ++kills;
  }
  text({"train", "--run", path("killed"), "--resume", "--quiet"});
  EXPECT_GE(kills, 1);
  EXPECT_TRUE(best("killed") == best("whole"));
  EXPECT_TRUE(weights(run / "seed-1" / "checkpoint.safetensors") ==
              weights(folder_ / "whole" / "seed-1" / "checkpoint.safetensors"));
  EXPECT_EQ(log_of(run), log_of(folder_ / "whole"));
  text({"evaluate", path("killed"), "--quiet"});
}

TEST_F(TrainProgram, SavesItsWorkOnControlCAndSaysHowToGoOn) {
  const Words options = {"--batches", kLong, "--validate-every", "25"};
  text(train("whole", options));
  const Outcome stopped = hgt(train("run", options), [&](pid_t process) {
    EXPECT_TRUE(wait_for([&] { return fs::exists(folder_ / "run/seed-1/best.safetensors"); }));
    ::kill(process, SIGINT);
  });
  EXPECT_EQ(stopped.exit_code, 130);
  const std::string half = text({"evaluate", path("run"), "--quiet"});
  EXPECT_TRUE(
      contains(half, "training was stopped before it finished; continue with: hgt train --run " +
                         path("run") + " --resume\n"))
      << half;
  EXPECT_TRUE(contains(stopped.err, "hgt: stopped and saved; continue with: hgt train --run " +
                                        path("run") + " --resume\n"))
      << stopped.err;
  text({"train", "--run", path("run"), "--resume"});
  EXPECT_TRUE(best("run") == best("whole"));
  EXPECT_EQ(log_of(folder_ / "run"), log_of(folder_ / "whole"));
}

TEST_F(TrainProgram, RefusesARunThatAnotherProcessTrains) {
  const Outcome first = hgt(train("run", {"--batches", "1000000"}), [&](pid_t process) {
    EXPECT_TRUE(wait_for([&] { return fs::exists(folder_ / "run" / "seed-1"); }));
    expect_failure({"train", "--run", path("run"), "--resume"}, 1,
                   path("run") + ": another process is training this run");
    ::kill(process, SIGKILL);
  });
  EXPECT_EQ(first.exit_code, 128 + SIGKILL);
}

// --- where it cannot write ---

TEST_F(TrainProgram, SaysWhereItCannotWrite) {
  write_bytes(folder_ / "file", "x");
  expect_failure(train("file"), 1, "hgt: " + path("file") + ": ");
  text(train("run"));
  expect_failure({"predict", path("run"), "--all", "--out", path("no/x.tsv")}, 1,
                 path("no/x.tsv") + ": cannot be written");
  expect_failure({"embed", path("run"), "--type", "paper", "--out", path("file")}, 1, path("file"));
  EXPECT_EQ(read_bytes(folder_ / "file"), "x");
}

TEST_F(TrainProgram, SaysWhereTheDiskIsFullAndGoesOnWhenItIsNot) {
  const Words options = {"--batches", "6", "--validate-every", "2", "--checkpoint-every", "0"};
  text(train("whole", options));
  const uint64_t checkpoint = fs::file_size(folder_ / "whole/seed-1/checkpoint.safetensors");
  const uint64_t best = fs::file_size(folder_ / "whole/seed-1/best.safetensors");
  ASSERT_GT(checkpoint, best + 1000);
  const auto on_full_disk = [&](const Words& words, uint64_t bytes, const std::string& file) {
    const Path scratch = folder_ / ("full" + std::to_string(runs_++));
    fs::create_directories(scratch);
    const Outcome outcome = run_program(scratch, words, {}, bytes);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "hgt: " + path(file))) << file << ": " << outcome.err;
  };
  // Not even the options fit; then no checkpoint does; then only the weights.
  on_full_disk(train("run", options), 500, "run/options.toml");
  EXPECT_FALSE(fs::exists(folder_ / "run" / "run.json"));
  on_full_disk(train("run", options), best - 1000, "run/seed-1/checkpoint.safetensors");
  const Words resume = {"train", "--run", path("run"), "--resume", "--quiet"};
  on_full_disk(resume, checkpoint - 1000, "run/seed-1/checkpoint.safetensors");
  text(resume);
  EXPECT_TRUE(this->best("run") == this->best("whole"));
  EXPECT_EQ(log_of(folder_ / "run"), log_of(folder_ / "whole"));

  on_full_disk({"predict", path("run"), "--all", "--out", path("hgt-slices-"), "--quiet"}, 5000,
               "hgt-slices-");
  on_full_disk({"embed", path("run"), "--type", "paper", "--out", path("vectors"), "--quiet"}, 5000,
               "vectors");
  on_full_disk({"evaluate", path("run"), "--quiet"}, 500, "run/seed-1/test.tsv");
  for (const char* name : {"all.tsv", "vectors", "run/seed-1/test.tsv", "run/test.json"}) {
    EXPECT_FALSE(fs::exists(folder_ / name)) << name;
  }
  for (const char* folder : {".", "run", "run/seed-1"}) {
    EXPECT_FALSE(holds_partial(folder_ / folder)) << folder;
  }
}

TEST_F(TrainProgram, SaysThatAFolderIsReadOnly) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  fs::create_directories(folder_ / "locked");
  fs::permissions(folder_ / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  expect_failure(train("locked"), 1, path("locked"));
  expect_failure(train("locked/run"), 1, path("locked/run"));
  fs::permissions(folder_ / "locked", fs::perms::owner_all);
}

}  // namespace
}  // namespace hgt
