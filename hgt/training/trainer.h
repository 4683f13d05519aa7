// The training loop of one seed.
//
// If it is killed at any moment and run again, it ends with the same weights as if it had never
// been killed, given the same number of threads: batches, negatives and dropout are functions of
// the seed and the step, and the checkpoint has the rest.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "hgt/progress.h"
#include "hgt/run/run_folder.h"
#include "hgt/run/train_options.h"
#include "hgt/task/task.h"
#include "hgt/training/checkpoint.h"
#include "hgt/training/evaluation.h"

namespace hgt {

class Trainer {
 public:
  static constexpr uint64_t kToTheEnd = std::numeric_limits<uint64_t>::max();

  // `task` must outlive it. `folder` exists and is this run's alone.
  Trainer(const Task& task, TrainOptions options, SeedFolder folder, std::string identity);

  // From the checkpoint in the folder, if there is one, to the end, or until so many batches are
  // done: more may follow later, as if it had not stopped. Throws Diverged. Throws Interrupted,
  // after a checkpoint, when the sink did.
  TrainState run(const ProgressSink& progress = no_progress, uint64_t until = kToTheEnd);

  // Nothing is left to do for run().
  bool is_finished() const;
  // The weights with the lowest validation loss, and the state in which they were that.
  TaskModel best_model();
  TrainState best_state() const;

  uint64_t steps() const { return steps_; }  // in all

 private:
  struct Loop;
  const Task& task_;
  TrainOptions options_;
  SeedFolder folder_;
  std::string identity_;
  uint64_t steps_per_epoch_ = 1;
  uint64_t steps_ = 1;
};

// The model of a task with fresh weights, a function of the seed.
TaskModel make_model(const Task& task, const TrainOptions& options);

}  // namespace hgt
