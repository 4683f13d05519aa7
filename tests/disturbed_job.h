// The work that tests of faults, power cuts, kills and damage disturb: small graphs, small models.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hgt/disk/tensor_file.h"
#include "hgt/error.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/random.h"
#include "tests/run_program.h"

namespace hgt {

using Words = std::vector<std::string>;

// Something that hgt does in a folder. Done again after it was disturbed, it comes to the same.
struct Job {
  std::string name;
  std::string opens;  // the end of the first file that is of the job and not of the program
  std::function<void(const Path& folder)> prepare;        // what is there before
  std::function<Words(const Path& folder)> words;         // the job, or how it is continued
  std::function<std::string(const Path& folder)> result;  // at any time: that of before or after
};

// Graph and run that jobs begin with, and the jobs.
class Workshop {
 public:
  Workshop() {
    write_tables();
    run({"import", manifest(), "--out", graph().string(), "--quiet"});
    run(train_words(folder_ / "run"));
  }

  Path graph() const { return folder_ / "graph"; }
  Path trained() const { return folder_ / "run"; }

  std::vector<Job> jobs() const {
    return {importing(), featuring(), training(), evaluating(), tuning()};
  }

  Job importing() const {
    return {
        .name = "import",
        .opens = "manifest.toml",
        .prepare = [](const Path&) {},
        .words =
            [this](const Path& folder) {
              return Words{"import", manifest(), "--out", (folder / "graph").string(), "--quiet"};
            },
        .result = [](const Path& folder) { return graph_text(folder / "graph"); }};
  }
  // Features for a type that has none.
  Job featuring() const {
    return {.name = "features",
            .opens = "schema.json",
            .prepare = [this](const Path& folder) { copy(graph(), folder / "graph"); },
            .words =
                [](const Path& folder) {
                  return Words{"features",  (folder / "graph").string(),
                               "--type",    "venue",
                               "--mean-of", "paper",
                               "--quiet"};
                },
            .result = [](const Path& folder) { return made_features(folder / "graph"); }};
  }
  Job training() const {
    return {.name = "train",
            .opens = "schema.json",
            .prepare = [](const Path&) {},
            .words =
                [this](const Path& folder) {
                  const Path run = folder / "run";
                  if (!std::filesystem::exists(run / "run.json")) return train_words(run);
                  return Words{"train", "--run", run.string(), "--resume", "--quiet"};
                },
            .result = [](const Path& folder) { return weights(folder / "run"); }};
  }
  Job evaluating() const {
    return {.name = "evaluate",
            .opens = "options.toml",
            .prepare = [this](const Path& folder) { copy(trained(), folder / "run"); },
            .words =
                [](const Path& folder) {
                  return Words{"evaluate", (folder / "run").string(), "--threads", "1", "--quiet"};
                },
            .result = [](const Path& folder) { return scores(folder / "run"); }};
  }

  // The same command begins a search and goes on with it.
  Job tuning() const {
    return {.name = "tune",
            .opens = "schema.json",
            .prepare = [](const Path&) {},
            .words =
                [this](const Path& folder) {
                  Words words = train_words(folder / "tune");
                  words[0] = "tune";
                  for (const char* word : {"--trials", "3", "--rungs", "2", "--learning-rate",
                                           "0.01", "--dropout", "0.1"}) {
                    words.emplace_back(word);
                  }
                  return words;
                },
            .result = [](const Path& folder) { return winner(folder / "tune"); }};
  }

  // Exit code 0, or the test cannot go on.
  void run(const Words& words) const {
    const Outcome outcome = run_program(folder_.path(), words);
    if (outcome.exit_code != 0) throw Error(words[0] + ": " + outcome.err);
  }

 private:
  static constexpr int kPapers = 90;
  static constexpr int kVenues = 3;

  std::string manifest() const { return (folder_ / "manifest.toml").string(); }

  static void copy(const Path& from, const Path& to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  }

  // Every array that schema.json lists, and the schema; "": there is no such graph.
  static std::string graph_text(const Path& graph) {
    std::string text;
    const std::string schema = read_bytes(graph / "schema.json");
    for (const auto& [name, bytes] : std::filesystem::exists(graph)
                                         ? folder_bytes(graph)
                                         : std::map<std::string, std::string>()) {
      if (name == "schema.json" || schema.find('"' + name + '"') != std::string::npos) {
        text += name + "\n" + bytes;
      }
    }
    return text;
  }

  // The vectors of the set that `hgt features` makes; "": it is not there. All else must be whole.
  static std::string made_features(const Path& graph) {
    verify(HeteroGraph::open(graph));
    try {
      const HeteroGraph made = HeteroGraph::open(graph, "made");
      const auto halves = made.features(made.schema().node_type("venue")).halves;
      return {reinterpret_cast<const char*>(halves.data()), halves.size_bytes()};
    } catch (const Error&) {
      return "";
    }
  }

  // Of a finished training. The rest of the file tells how long it took.
  static std::string weights(const Path& run) {
    if (!std::filesystem::exists(run / "training.json")) return "";
    const TensorFile file = TensorFile::open(run / "seed-1" / "best.safetensors");
    std::string text;
    for (const TensorView& tensor : file.tensors()) {
      text += tensor.name;
      text.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
    }
    return text;
  }

  // Of a search that is over: what won, and its test scores.
  static std::string winner(const Path& tune) {
    const std::string log =
        std::filesystem::exists(tune / "tune.jsonl") ? read_bytes(tune / "tune.jsonl") : "";
    if (log.find("\"split\":\"test\"") == std::string::npos || !log.ends_with('\n')) return "";
    return read_bytes(tune / "best.toml") + weights(tune / "winner") + scores(tune / "winner");
  }

  static std::string scores(const Path& run) {
    if (!std::filesystem::exists(run / "test.json")) return "";
    return read_bytes(run / "seed-1" / "test.tsv");
  }

  Words train_words(const Path& run) const {
    return {"train",
            graph().string(),
            "--task",
            "paper-venue",
            "--run",
            run.string(),
            "--hidden",
            "4",
            "--heads",
            "1",
            "--layers",
            "1",
            "--width",
            "4",
            "--depth",
            "1",
            "--threads",
            "1",
            "--batches",
            "6",
            "--batch-size",
            "8",
            "--validate-every",
            "2",
            "--checkpoint-every",
            "0",
            "--train-end",
            "2009",
            "--validation-end",
            "2012",
            "--quiet"};
  }

  void write_tables() const {
    std::ofstream papers(folder_ / "papers.tsv");
    papers << "id\ttitle\tyear\tvenue\n";
    Draws draws(3);
    for (int paper = 0; paper < kPapers; ++paper) {
      const int venue = paper % kVenues;
      papers << "P" << paper << "\ttopic" << venue << " word" << draws.below(20) << '\t'
             << 2000 + paper % 16 << "\tV" << venue << '\n';
    }
    write_bytes(folder_ / "manifest.toml",
                "[[nodes]]\ntype = 'paper'\nfiles = 'papers.tsv'\nid = 'id'\nname = 'title'\n"
                "time = 'year'\nfeatures = { hashed_words = 'title', width = 8 }\n"
                "[[nodes]]\ntype = 'venue'\nfiles = 'papers.tsv'\nid = 'venue'\n"
                "duplicates = 'ignore'\n"
                "[[edges]]\ntype = 'appears_in'\nfiles = 'papers.tsv'\n"
                "source = { type = 'paper', column = 'id' }\n"
                "target = { type = 'venue', column = 'venue' }\n");
  }

  TestFolder folder_;
};

// One trial of a job: an empty folder, prepared.
class Trial {
 public:
  explicit Trial(const Job& job) : job_(job) {
    std::filesystem::create_directories(place());
    job.prepare(place());
    before_ = job.result(place());
  }

  Path place() const { return folder_ / "place"; }
  const Path& scratch() const { return folder_.path(); }
  const std::string& before() const { return before_; }
  std::string result() const { return job_.result(place()); }

  Outcome run(const std::vector<std::string>& environment = {},
              const std::function<void(pid_t)>& while_running = {}) const {
    return run_program(folder_.path(), job_.words(place()), while_running, 0, [&environment] {
      for (const std::string& variable : environment) {
        ::putenv(const_cast<char*>(variable.c_str()));
      }
    });
  }

  // What is there is that of before or `good`, and doing the job again comes to `good`.
  void expect_recovery(const std::string& good) const {
    const std::string left = result();
    EXPECT_TRUE(left == before_ || left == good) << "neither as before nor as after";
    if (left != good) {
      const Outcome again = run();
      EXPECT_EQ(again.exit_code, 0) << again.err;
    }
    EXPECT_TRUE(result() == good) << "done again, it comes to something else";
  }

 private:
  const Job& job_;
  TestFolder folder_;
  std::string before_;
};

// What the job comes to when nothing disturbs it.
inline std::string undisturbed(const Job& job) {
  const Trial trial(job);
  const Outcome outcome = trial.run();
  if (outcome.exit_code != 0) throw Error(job.name + ": " + outcome.err);
  return trial.result();
}

}  // namespace hgt
