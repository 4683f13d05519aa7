// `hgt tune` and `hgt compare --tune` as a stranger meets them, stopped and resumed.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "tests/run_program.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class TuneProgram : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome made = hgt({"generate", "--preset", "small", "--papers", "300", "--features", "8",
                              "--out", path("graph")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    write_bytes(folder_ / "space.toml", "hidden = [4, 8]\nlearning-rate = [0.001, 0.01]\n");
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Outcome hgt(const Words& words, const std::function<void(pid_t)>& while_running = {}) {
    const Path scratch = folder_ / ("scratch" + std::to_string(runs_++));
    fs::create_directories(scratch);
    return run_program(scratch, words, while_running);
  }
  Words tune(const std::string& folder, const Words& more = {}) const {
    Words words = {"tune",      path("graph"), "--task",   "paper-venue",
                   "--run",     path(folder),  "--space",  path("space.toml"),
                   "--heads",   "2",           "--layers", "1",
                   "--width",   "6",           "--depth",  "2",
                   "--threads", "1",           "--rungs",  "2",
                   "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Without times.
  std::vector<Json> log_of(const std::string& folder) const {
    std::vector<Json> lines;
    std::istringstream in(read_bytes(folder_ / folder / "tune.jsonl"));
    for (std::string line; std::getline(in, line);) {
      lines.push_back(Json::parse(line));
      lines.back().erase("seconds");
    }
    return lines;
  }

  TestFolder folder_;
  int runs_ = 0;
};

TEST_F(TuneProgram, SearchesReportsAndLeavesAConfigFileForTraining) {
  const Outcome outcome = hgt(tune("found", {"--trials", "4", "--batches", "9", "--repeats", "2"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"4 trials of hidden, learning-rate", "score: ndcg on validation",
                           "| trial | ndcg | rung | batches | time | hidden | learning-rate |",
                           "winner on", "over 2 seeds", "best.toml"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << " is not in\n" << outcome.out;
  }
  const std::string table = read_bytes(folder_ / "found" / "trials.md");
  EXPECT_TRUE(contains(table, "winner on the test examples: ndcg"));
  EXPECT_TRUE(contains(read_bytes(folder_ / "found" / "trials.svg"), ">hidden</text>"));
  const std::vector<Json> log = log_of("found");
  for (size_t i = 0; i < log.size(); ++i) {
    EXPECT_EQ(log[i].at("split"), i + 1 == log.size() ? "test" : "validation");
  }
  const Outcome again = hgt(tune("found", {"--trials", "4", "--batches", "9", "--repeats", "2"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(log_of("found"), log) << "what is done is not done again";
  const Outcome trained = hgt({"train", path("graph"), "--task", "paper-venue", "--config",
                               path("found/best.toml"), "--run", path("again"), "--quiet"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(read_bytes(folder_ / "again" / "options.toml"),
            read_bytes(folder_ / "found" / "winner" / "options.toml"));
}

TEST_F(TuneProgram, EndsTheSameAfterCtrlC) {
  const Words more = {"--trials", "4", "--batches", "100"};
  ASSERT_EQ(hgt(tune("whole", more)).exit_code, 0);
  const Outcome stopped = hgt(tune("parts", more), [&](pid_t program) {
    for (int i = 0; i < 4000 && !fs::exists(folder_ / "parts" / "trials" / "0001"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(-program, SIGINT);
  });
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "hgt tune --run " + path("parts") + " --resume"))
      << stopped.err;
  const Outcome resumed = hgt({"tune", "--run", path("parts"), "--resume", "--quiet"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(log_of("parts"), log_of("whole"));
  EXPECT_EQ(read_bytes(folder_ / "parts" / "best.toml"),
            read_bytes(folder_ / "whole" / "best.toml"));
}

TEST_F(TuneProgram, TakesWhatIsGivenOutOfTheDefaultSpace) {
  Words words = {"tune",       path("graph"), "--task",    "paper-venue", "--run",    path("found"),
                 "--model",    "gcn",         "--hidden",  "8",           "--layers", "1",
                 "--strategy", "hgsampling",  "--width",   "6",           "--trials", "2",
                 "--batches",  "4",           "--threads", "1",           "--quiet"};
  const Outcome outcome = hgt(words);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string space = read_bytes(folder_ / "found" / "space.toml");
  EXPECT_TRUE(contains(space, "dropout = ")) << space;
  for (const char* key : {"hidden", "heads", "layers", "width", "norm", "strategy"}) {
    EXPECT_FALSE(contains(space, std::string(key) + " =")) << space;
  }
}

TEST_F(TuneProgram, GivesEveryComparedModelASearch) {
  const Outcome outcome = hgt({"compare", path("graph"), "--task",     "paper-venue",
                               "--run",   path("all"),   "--models",   "majority,gcn,hgt-no-rte",
                               "--tune",  "--trials",    "3",          "--rungs",
                               "2",       "--width",     "6",          "--depth",
                               "2",       "--strategy",  "hgsampling", "--hidden",
                               "8",       "--heads",     "2",          "--batches",
                               "9",       "--threads",   "1",          "--quiet"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* model : {"majority", "gcn", "hgt-no-rte"}) {
    EXPECT_TRUE(contains(outcome.out, std::string("| ") + model + " |")) << outcome.out;
    const std::vector<Json> log = log_of(std::string("all/tuning/") + model);
    EXPECT_EQ(log.size(), 4U);
    for (const Json& line : log) EXPECT_EQ(line.at("split"), "validation");
    const std::string best = read_bytes(folder_ / "all" / "tuning" / model / "best.toml");
    EXPECT_EQ(best.substr(best.find('\n') + 1),
              read_bytes(folder_ / "all" / model / "options.toml"));
  }
  EXPECT_TRUE(contains(read_bytes(folder_ / "all" / "hgt-no-rte" / "options.toml"), "rte = false"));
}

TEST_F(TuneProgram, SaysWhatIsWrong) {
  const auto refused = [&](const Words& words, int code, const std::string& message) {
    const Outcome outcome = hgt(words);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << message << "\nis not in\n" << outcome.err;
  };
  refused(tune("bad"), 1, "the search would never end; give --budget, such as 30m, or --trials");
  refused(tune("bad", {"--budget", "soon"}), 1, "the budget is 'soon'");
  refused(tune("bad", {"--trials", "2", "--hidden", "8"}), 1,
          "'hidden' is searched, but also given");
  refused({"tune", "--run", path("none"), "--resume"}, 1, "no search was begun here");
  write_bytes(folder_ / "space.toml", "depht = [3]\n");
  refused(tune("bad", {"--trials", "2"}), 1, path("space.toml") + ":1: unknown option 'depht'");
  refused(
      {"compare", path("graph"), "--task", "paper-venue", "--run", path("all"), "--trials", "2"}, 2,
      "--tune");
  write_bytes(folder_ / "space.toml", "rte = [true, false]\n");
  refused({"compare", path("graph"), "--task", "paper-venue", "--run", path("all"), "--tune",
           "--trials", "2", "--space", path("space.toml"), "--quiet"},
          1, "'rte' is searched, but the comparison sets it");
}

}  // namespace
}  // namespace hgt
