// The files of a training run that is under way: `checkpoint.safetensors` holds everything needed
// to continue exactly as if nothing had happened, `best.safetensors` the weights with the lowest
// validation loss so far. Both are replaced whole or not at all.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "hgt/graph/types.h"
#include "hgt/training/adamw.h"
#include "hgt/training/task_model.h"
#include "hgt/training/weight_average.h"

namespace hgt {

// Where the loop is. Everything random is a function of the seed and the step.
struct TrainState {
  uint64_t step = 0;  // batches done
  double best_loss = std::numeric_limits<double>::infinity();
  uint64_t best_step = 0;
  float threshold = 0;            // chosen with the best weights: Evaluation::threshold
  uint64_t without_progress = 0;  // validations since then
  bool stopped_early = false;
  bool validation_due = false;  // the run was stopped between a batch and the validation after it
  // Since the last validation.
  double loss_sum = 0;
  uint64_t loss_count = 0;
  double seconds = 0;        // of training so far
  double batch_seconds = 0;  // of these, for batches: without validation and checkpoints

  friend bool operator==(const TrainState&, const TrainState&) = default;
};

// What a step of training changes.
struct Learner {
  TaskModelImpl& model;
  AdamW& optimizer;
  WeightAverage& average;
};

// `identity` tells what the run is (options, task, graph): a checkpoint of another run is refused.
void save_checkpoint(const Path& file, const Learner& learner, const TrainState& state,
                     const std::string& identity);
TrainState load_checkpoint(const Path& file, const Learner& learner, const std::string& identity);

// Weights alone, with what they were made for.
void save_model(const Path& file, const TaskModelImpl& model, const TrainState& state,
                const std::string& identity);
void load_model(const Path& file, TaskModelImpl& model, const std::string& identity);

// Where the loop was when one of these files was written.
TrainState load_state(const Path& file, const std::string& identity);

}  // namespace hgt
