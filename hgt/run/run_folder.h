// The folder of a run: the name of every file in it (docs/run-format.md says what each one holds).
//
//   RUN/run.json              where the run came from (saved_run.h)
//   RUN/options.toml          every option that was in effect
//   RUN/task.toml             what is predicted
//   RUN/training.json         once trained: parameters, time, memory (training_log.h)
//   RUN/test.json             once scored: mean and deviation over the seeds (results.h)
//   RUN/lock                  held by the process that trains
//   RUN/seed-1/log.jsonl      a line per validation (training_log.h)
//   RUN/seed-1/checkpoint.safetensors, best.safetensors
//   RUN/seed-1/test.json      once scored: metrics (results.h)
//   RUN/seed-1/test.tsv       and what each example got (example_scores.h)
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/task/task.h"

namespace hgt {

// What one seed of a run left.
class SeedFolder {
 public:
  explicit SeedFolder(Path path) : path_(std::move(path)) {}

  const Path& path() const { return path_; }
  Path log_file() const { return path_ / "log.jsonl"; }
  Path checkpoint_file() const { return path_ / "checkpoint.safetensors"; }
  Path best_file() const { return path_ / "best.safetensors"; }
  Path results_file(Split split) const;
  Path example_scores_file(Split split) const;

 private:
  Path path_;
};

class RunFolder {
 public:
  explicit RunFolder(Path path) : path_(std::move(path)) {}

  const Path& path() const { return path_; }
  Path environment_file() const { return path_ / "run.json"; }
  Path options_file() const { return path_ / "options.toml"; }
  Path task_file() const { return path_ / "task.toml"; }
  Path training_file() const { return path_ / "training.json"; }
  Path lock_file() const { return path_ / "lock"; }
  Path results_file(Split split) const;

  SeedFolder seed(uint64_t seed) const;
  std::vector<SeedFolder> seeds() const;  // those that exist, in the order of their names

  bool holds_run() const;  // environment_file() is written last, so then everything is there

  // Results tell of weights that further training of the seed leaves behind.
  void remove_results(uint64_t seed) const;

 private:
  Path path_;
};

// A search for options: TUNE/tune.json says how, TUNE/base is a run of the options that all trials
// have in common, which is never trained.
class TuneFolder {
 public:
  explicit TuneFolder(Path path) : path_(std::move(path)) {}

  const Path& path() const { return path_; }
  Path plan_file() const { return path_ / "tune.json"; }
  Path space_file() const { return path_ / "space.toml"; }
  Path log_file() const { return path_ / "tune.jsonl"; }
  Path lock_file() const { return path_ / "lock"; }
  Path markdown_file() const { return path_ / "trials.md"; }
  Path picture_file() const { return path_ / "trials.svg"; }
  Path best_file() const { return path_ / "best.toml"; }
  RunFolder base() const { return RunFolder(path_ / "base"); }
  RunFolder trial(uint64_t number, uint64_t draw) const;
  RunFolder winner() const { return RunFolder(path_ / "winner"); }

 private:
  Path path_;
};

// A comparison of models: RUN/comparison.json names them, and each has a run of its own beside it.
class ComparisonFolder {
 public:
  explicit ComparisonFolder(Path path) : path_(std::move(path)) {}

  const Path& path() const { return path_; }
  Path models_file() const { return path_ / "comparison.json"; }
  Path markdown_file() const { return path_ / "comparison.md"; }
  Path json_file() const { return path_ / "results.json"; }
  Path picture_file() const { return path_ / "comparison.svg"; }
  RunFolder run(const std::string& model) const { return RunFolder(path_ / model); }
  TuneFolder tuning(const std::string& model) const { return TuneFolder(path_ / "tuning" / model); }

 private:
  Path path_;
};

}  // namespace hgt
