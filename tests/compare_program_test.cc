// `hgt compare` as a stranger meets it, stopped and resumed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
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

class CompareProgram : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome made = hgt({"generate", "--preset", "small", "--papers", "300", "--features", "8",
                              "--out", path("graph")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Outcome hgt(const Words& words, const std::function<void(pid_t)>& while_running = {}) {
    const Path scratch = folder_ / ("scratch" + std::to_string(runs_++));
    fs::create_directories(scratch);
    return run_program(scratch, words, while_running);
  }
  Words compare(const std::string& models, const std::string& batches) const {
    return {"compare",   path("graph"), "--task",    "paper-venue", "--run",        path("all"),
            "--models",  models,        "--hidden",  "8",           "--heads",      "2",
            "--layers",  "2",           "--width",   "6",           "--depth",      "2",
            "--threads", "1",           "--batches", batches,       "--batch-size", "24",
            "--repeats", "2",           "--quiet"};
  }
  Words resume() const { return {"compare", "--run", path("all"), "--resume", "--quiet"}; }

  TestFolder folder_;
  int runs_ = 0;
};

TEST_F(CompareProgram, WritesTableJsonAndPicture) {
  const Outcome outcome = hgt(compare("majority,gcn,hgt-no-rte,hgt", "3"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* model : {"| majority |", "| gcn |", "| hgt-no-rte |", "| hgt |"}) {
    EXPECT_TRUE(contains(outcome.out, model)) << outcome.out;
  }
  EXPECT_TRUE(contains(outcome.out, "**")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, read_bytes(folder_ / "all" / "comparison.md")));
  EXPECT_TRUE(contains(read_bytes(folder_ / "all" / "comparison.svg"), "hgt-no-rte"));
  const Json json = Json::parse(read_bytes(folder_ / "all" / "results.json"));
  EXPECT_EQ(json.at("models").size(), 4U);
  EXPECT_EQ(json.at("seeds"), 2);
  EXPECT_GT(json.at("models").at(1).at("peak_memory_mb"), 20);
}

TEST_F(CompareProgram, GoesOnWhereItWasStopped) {
  // Ctrl-C goes to the process group: to hgt and to the training that it started.
  const Outcome stopped = hgt(compare("gcn,gat", "100000"), [&](pid_t program) {
    for (int i = 0; i < 4000 && !fs::exists(folder_ / "all" / "gcn" / "seed-1"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(-program, SIGINT);
  });
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "hgt compare --run " + path("all") + " --resume"))
      << stopped.err;
  EXPECT_TRUE(fs::exists(folder_ / "all" / "gcn" / "seed-1" / "checkpoint.safetensors"));
  EXPECT_TRUE(fs::exists(folder_ / "all" / "gat" / "run.json"));
  EXPECT_FALSE(fs::exists(folder_ / "all" / "gat" / "seed-1"));
}

TEST_F(CompareProgram, DoesNotRepeatWhatIsDone) {
  ASSERT_EQ(hgt(compare("mlp,gcn", "3")).exit_code, 0);
  const auto kept = fs::last_write_time(folder_ / "all" / "gcn" / "test.json");
  fs::remove(folder_ / "all" / "mlp" / "test.json");
  const Outcome again = hgt(resume());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "| mlp |")) << again.out;
  EXPECT_EQ(fs::last_write_time(folder_ / "all" / "gcn" / "test.json"), kept);
}

// Scored by hand while it was half-trained, a model must be trained to its end and scored again.
TEST_F(CompareProgram, DoesNotTakeTheScoreOfAHalfTrainedModel) {
  Words words = compare("gcn", "60");
  words.insert(words.end(), {"--validate-every", "2", "--checkpoint-every", "0"});
  const Outcome stopped = hgt(words, [&](pid_t program) {
    const Path second = folder_ / "all" / "gcn" / "seed-2" / "best.safetensors";
    for (int i = 0; i < 6000 && !fs::exists(second); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(-program, SIGINT);
  });
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  const Path test = folder_ / "all" / "gcn" / "test.json";
  ASSERT_EQ(hgt({"evaluate", path("all/gcn"), "--quiet"}).exit_code, 0);
  EXPECT_EQ(Json::parse(read_bytes(test)).at("seeds").at(1).at("finished"), false);
  const Outcome finished = hgt(resume());
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const Json& seed : Json::parse(read_bytes(test)).at("seeds")) {
    EXPECT_EQ(seed.at("finished"), true);
  }
  // Nor one of some examples only.
  ASSERT_EQ(hgt({"evaluate", path("all/gcn"), "--limit", "3", "--quiet"}).exit_code, 0);
  const Outcome again = hgt(resume());
  EXPECT_EQ(again.out, finished.out);
}

TEST_F(CompareProgram, ReadsTaskFolderAndPresetFromAConfigFile) {
  write_bytes(folder_ / "all.toml", "task = 'paper-venue'\nrun = '" + path("all") +
                                        "'\npreset = 'paper'\nbatches = 1\nhidden = 8\n");
  const Outcome made = hgt({"compare", path("graph"), "--config", path("all.toml"), "--models",
                            "majority", "--hidden", "16", "--quiet"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string options = read_bytes(folder_ / "all" / "majority" / "options.toml");
  EXPECT_TRUE(contains(options, "batches = 1\n")) << options;
  EXPECT_TRUE(contains(options, "gated-skip = false\n")) << "of the preset `paper`";
  EXPECT_TRUE(contains(options, "hidden = 16\n")) << "the command line wins";
}

TEST_F(CompareProgram, TakesTheProtocolOfThePaperFromOneFile) {
  const Path config = Path(HGT_SOURCE_DIR) / "data/configs/paper.toml";
  const Outcome made = hgt({"compare", path("graph"), "--task", "paper-venue", "--run", path("all"),
                            "--config", config.string(), "--models", "majority", "--batches", "1",
                            "--width", "4", "--degree-weights", "symmetric"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(contains(made.out, " test examples, 5 seeds")) << made.out;
  EXPECT_TRUE(contains(made.err, "split by time: training until 2014")) << made.err;
  const std::string options = read_bytes(folder_ / "all" / "majority" / "options.toml");
  EXPECT_TRUE(contains(options, "\nneighbor-cap = 0\n")) << options;
}

TEST_F(CompareProgram, SaysWhatIsWrong) {
  const auto refused = [&](const Words& words, int code, const std::string& message) {
    const Outcome outcome = hgt(words);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << message << "\nis not in\n" << outcome.err;
  };
  refused(compare("gnn", "3"), 1, "unknown model 'gnn'; choose one of all, majority");
  refused({"compare", path("graph"), "--task", "paper-venue"}, 2, "--run");
  refused({"compare", "--run", path("none"), "--resume"}, 1, "hgt compare GRAPH");
  Words with_model = compare("gcn", "3");
  with_model.insert(with_model.end(), {"--model", "gat"});
  refused(with_model, 2, "--model");
  Words with_paths = compare("gcn", "3");
  with_paths.insert(with_paths.end(), {"--meta-paths", "paper-author-paper"});
  refused(with_paths, 2, "--meta-paths: han is not compared");
  ASSERT_EQ(hgt(compare("gcn", "1")).exit_code, 0);
  refused(compare("gcn", "1"), 1, "there is already a comparison here");
  Words changed = resume();
  changed.insert(changed.end(), {"--hidden", "16"});
  refused(changed, 2, "keeps its options");
}

}  // namespace
}  // namespace hgt
