// A run: a folder that holds a trained model, how it came about, and how good it is.
//
//   RUN/run.json            the graph, checksums of it and of both files below, versions, commit
//   RUN/options.toml        every option as it was in effect
//   RUN/task.toml           what is predicted
//   RUN/training.json       once trained: parameters, time per batch, peak memory
//   RUN/seed-1/log.jsonl    a line per validation
//   RUN/seed-1/checkpoint.safetensors, best.safetensors
//   RUN/seed-1/test.json, test.tsv   after an evaluation: metrics, and each example's
//   RUN/test.json           mean and deviation over the seeds
//
//   Run run = Run::create("venue.run", options);
//   run.train(progress);
//   const RunResult result = run.evaluate(Split::test, run.scoring(), progress);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/progress.h"
#include "hgt/run/run_options.h"
#include "hgt/sampling/subgraph.h"
#include "hgt/task/metrics.h"
#include "hgt/task/task.h"

namespace hgt {

struct SeedResult {
  uint64_t seed = 0;
  uint64_t best_batch = 0;  // after which the weights were saved
  bool finished = true;     // false: training was stopped before its end
  uint64_t examples = 0;
  uint64_t left_out = 0;  // besides: there is nothing to compare them with (evaluation.h)
  double loss = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, double>> metrics = {};
};

struct RunResult {
  Split split = Split::none;
  EvaluationOptions scoring = {};
  std::vector<SeedResult> seeds = {};
  // Over the seeds, in the order of the metrics.
  std::vector<std::pair<std::string, Spread>> metrics = {};
};

struct SeedReport {  // of training
  uint64_t seed = 0;
  uint64_t batches = 0;
  uint64_t best_batch = 0;
  double validation_loss = 0;
  double seconds = 0;
  double seconds_per_batch = 0;  // sample, gather, step; no validation
  bool stopped_early = false;
};

enum class Instances {
  own,     // nodes without a time of their own at every time at which they are met
  single,  // all at one time
};
constexpr auto words_of(Instances) {
  return enum_words<Instances>("choice of instances",
                               {{Instances::own, "own"}, {Instances::single, "single"}});
}

// Layer by layer over the whole graph (whole_graph.h).
struct InferenceOptions {
  Time at = kNoTime;  // nothing later is seen; kNoTime: the graph's last time
  Instances instances = Instances::own;
  friend bool operator==(const InferenceOptions&, const InferenceOptions&) = default;
};

struct EmbedOptions {
  InferenceOptions inference = {};
  uint32_t layer = 0;  // whose output is taken; 0: the last that was trained for the type
};

struct PredictOptions {
  std::vector<Seed> nodes = {};  // empty: all
  uint64_t top = 5;
  InferenceOptions inference = {};
};

struct RunState;

class Run {
 public:
  // Throws Error when the folder holds a run, the task or the options do not fit the graph, or its
  // features know what they must not (audit.h; unless the task has no guard).
  static Run create(const Path& folder, RunOptions options);
  // Throws Error: no run, a damaged file, a graph that is gone or has changed since.
  static Run open(const Path& folder);

  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  const Path& folder() const;
  const RunOptions& options() const;
  const Task& task() const;
  uint64_t num_parameters() const;
  bool is_made_of(const RunOptions& options) const;  // create() would make the same of them
  const RunState& state() const { return *state_; }  // for those that compute: run_state.h

  // Threads may differ from one session to the next.
  void set_pipeline(const PipelineOptions& pipeline);

  // All seeds, each from where it was stopped. Throws Interrupted with how to go on.
  std::vector<SeedReport> train(const ProgressSink& progress = no_progress);

  // As the run's options say that examples are scored: all of them.
  EvaluationOptions scoring() const;
  // The split's files are those of finished training, scored in this way.
  bool is_scored(Split split, const EvaluationOptions& options) const;
  // Scores a split with the best weights of every seed and writes the files.
  RunResult evaluate(Split split, const EvaluationOptions& options,
                     const ProgressSink& progress = no_progress);

  // --- with the weights of the first seed ---
  // The K most likely answers for nodes of the task's type, as a table (prediction.cc has its
  // columns). Returns the number of nodes, mentions or links asked about.
  uint64_t predict(const PredictOptions& options, const Path& out,
                   const ProgressSink& progress = no_progress);
  // The vectors of all nodes of a type: OUT/vectors.npy, [nodes, d] in float32, and OUT/nodes.tsv
  // with the user's ids in the same order. Returns the number of nodes. Throws Error: no layer was
  // trained for the type (trained_layer.h).
  uint64_t embed(NodeType type, const EmbedOptions& options, const Path& out,
                 const ProgressSink& progress = no_progress);

 private:
  explicit Run(std::unique_ptr<RunState> state);
  std::unique_ptr<RunState> state_;
};

}  // namespace hgt
