// A run's model with the weights of its first seed, ready to be asked: what prediction, inference
// and insight share.
//
//   const TrainedModel trained(run);
//   trained.ask(questions, [&](const Question& question, const at::Tensor& scores) { ... });
#pragma once

#include <cstdint>

#include "hgt/training/questions.h"
#include "hgt/training/run.h"
#include "hgt/training/task_model.h"

namespace hgt {

class TrainedModel {
 public:
  // `run` must outlive it. Throws Error: not trained yet.
  explicit TrainedModel(const Run& run);

  const Run& run() const { return run_; }
  const Task& task() const { return run_.task(); }
  const HeteroGraph& graph() const { return run_.task().graph(); }
  const TrainOptions& options() const { return run_.options().training; }

  const TaskModel& model() const { return model_; }  // in evaluation mode
  const Encoder& encoder() const { return model_->encoder(); }

  // Scores questions exactly as the run's evaluation does, unless that is told otherwise: examples
  // of a split, in their order, get the same scores.
  void ask(const Questions& questions, const UseScores& use,
           const ProgressSink& progress = no_progress) const;

 private:
  const Run& run_;
  TaskModel model_;
};

// The weights of one seed with the lowest validation loss. Throws Error: not trained yet.
TaskModel best_model(const Run& run, uint64_t seed);

}  // namespace hgt
