// A run's model with the weights of its first seed, ready to be asked: what prediction, inference
// and insight share.
//
//   const TrainedModel trained(run);
//   trained.ask(Split::test, batches, [&](uint64_t i) { return question(i); },
//               [&](const Question& question, const at::Tensor& scores) { ... });
#pragma once

#include <cstdint>
#include <functional>

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

  // Scores batches of questions through sampled sub-graphs, as evaluation does, without gradients.
  // `question` is called from several threads at once and must depend on i only; `use` is called in
  // the order of i. What is drawn is a function of the
  // run's seed and i.
  using Use = std::function<void(const Question&, const at::Tensor& scores)>;
  void ask(Split split, uint64_t batches, const std::function<Question(uint64_t i)>& question,
           const Use& use) const;

 private:
  const Run& run_;
  TaskModel model_;
};

// The weights of one seed with the lowest validation loss. Throws Error: not trained yet.
TaskModel best_model(const Run& run, uint64_t seed);

}  // namespace hgt
