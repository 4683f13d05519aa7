// How good a run is: what an evaluation found for each seed, and over all of them.
//
//   if (const auto result = read_result(RunFolder("venue.run"), Split::test)) {
//     std::cout << result->metric("ndcg")->mean << '\n';
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hgt/run/run_folder.h"
#include "hgt/run/train_options.h"
#include "hgt/run/training_log.h"
#include "hgt/run/warnings.h"
#include "hgt/task/metrics.h"

namespace hgt {

// SeedFolder::results_file()
struct SeedResult {
  uint64_t seed = 0;
  uint64_t best_batch = 0;  // after which the weights were saved
  bool finished = true;     // false: training was stopped before its end
  uint64_t examples = 0;
  uint64_t left_out = 0;  // besides: there is nothing to compare them with (evaluation.h)
  double loss = 0;
  double seconds = 0;
  bool equal_scores = false;  // all examples got the same (evaluation.h)
  NamedMetrics metrics = {};

  friend bool operator==(const SeedResult&, const SeedResult&) = default;
};

// RunFolder::results_file()
struct RunResult {
  Split split = Split::none;
  EvaluationOptions scoring = {};
  std::vector<SeedResult> seeds = {};
  // Over the seeds, in the order of the metrics.
  std::vector<std::pair<std::string, Spread>> metrics = {};
  std::vector<Warning> warnings = {};  // why these may mean little

  bool is_finished() const;                             // training of all seeds was
  const Spread* metric(const std::string& name) const;  // nullptr: the task has no such metric
  friend bool operator==(const RunResult&, const RunResult&) = default;
};

// Mean and deviation of what the seeds got. Requires one at least.
void summarize(RunResult& result);

void write_result(const SeedFolder& folder, Split split, const SeedResult& result);
void write_result(const RunFolder& folder, const RunResult& result);
// No value: the split has not been scored. Throws Error: the file is damaged.
std::optional<RunResult> read_result(const RunFolder& folder, Split split);

}  // namespace hgt
