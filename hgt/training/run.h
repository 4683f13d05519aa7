// A run that computes: trained, scored and asked. What its folder contains is defined in hgt/run
// (run_folder.h), which reads it without LibTorch.
//
//   Run run = Run::create("venue.run", options);
//   run.train(progress);
//   const RunResult result = run.evaluate(Split::test, run.scoring(), progress);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/progress.h"
#include "hgt/run/results.h"
#include "hgt/run/run_folder.h"
#include "hgt/run/run_options.h"
#include "hgt/run/training_log.h"
#include "hgt/sampling/subgraph.h"
#include "hgt/task/task.h"

namespace hgt {

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

// Some nodes, or the examples of a split; neither: all that there are.
struct PredictOptions {
  std::vector<Seed> nodes = {};
  std::optional<Split> split = {};
  uint64_t top = 5;
  InferenceOptions inference = {};
};

class Trainer;

class Run {
 public:
  // Both read the graph once to see that it is not damaged (verified_arrays.h).
  // Throws Error when the folder holds a run, the task or the options do not fit the graph, or its
  // features know what they must not (audit.h; unless the task has no guard).
  static Run create(const Path& folder, RunOptions options,
                    const ProgressSink& progress = no_progress);
  // Throws Error: no run, a damaged file, a graph that is gone or has changed since.
  static Run open(const Path& folder, const ProgressSink& progress = no_progress);

  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  const Path& folder() const { return files().path(); }
  const RunFolder& files() const;
  const RunOptions& options() const;
  const Task& task() const;
  uint64_t num_parameters() const;
  bool is_made_of(const RunOptions& options) const;  // create() would make the same of them
  Trainer trainer(uint64_t seed) const;              // trainer.h
  std::vector<uint64_t> seeds() const;

  // Threads may differ from one session to the next. Instructions stay the run's own unless the
  // pipeline names some.
  void set_pipeline(const PipelineOptions& pipeline);

  // All seeds, each from where it was stopped. Throws Interrupted, which says how to continue.
  std::vector<SeedReport> train(const ProgressSink& progress = no_progress);
  // The same, but only until so many batches are done. More may follow.
  std::vector<SeedReport> train_until(uint64_t batches, const ProgressSink& progress = no_progress);

  // As the run's options say that examples are scored: all of them.
  EvaluationOptions scoring() const;
  // The split's files are those of finished training, scored in this way.
  bool is_scored(Split split, const EvaluationOptions& options) const;
  // Scores a split with the best weights of every seed and writes the files.
  RunResult evaluate(Split split, const EvaluationOptions& options,
                     const ProgressSink& progress = no_progress);

  // --- with the weights of the first seed ---
  // The K most likely answers for nodes of the task's type, as a table (prediction.cc has its
  // columns). Nodes and examples of a split are scored as evaluate() does with scoring(): a split
  // gets the very same scores. So are all nodes of a type with times where the time bound is each
  // seed's own time; otherwise all are computed over the whole graph. Returns the number of nodes,
  // mentions or links asked about.
  uint64_t predict(const PredictOptions& options, const Path& out,
                   const ProgressSink& progress = no_progress);
  // The vectors of all nodes of a type: OUT/vectors.npy, [nodes, d] in float32, and OUT/nodes.tsv
  // with the user's ids in the same order. Where the time bound is each seed's own time, nodes that
  // have one see nothing later. Returns the number of nodes. Throws Error: no layer was trained for
  // the type (trained_layer.h).
  uint64_t embed(NodeType type, const EmbedOptions& options, const Path& out,
                 const ProgressSink& progress = no_progress);

 private:
  struct State;
  explicit Run(std::unique_ptr<State> state);
  static std::unique_ptr<State> settled(const Path& folder, RunOptions options,
                                        const ProgressSink& progress);
  SeedResult evaluate_seed(uint64_t seed, Split split, const EvaluationOptions& options,
                           const ProgressSink& progress) const;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
