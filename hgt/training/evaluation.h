// Scores a split of a task: every example of it, with what is known of the truth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hgt/error.h"
#include "hgt/progress.h"
#include "hgt/run/train_options.h"
#include "hgt/task/metrics.h"
#include "hgt/task/task.h"
#include "hgt/training/task_model.h"

namespace hgt {

// A loss, gradients or scores are not finite: says which. Other options may do better.
class Diverged : public Error {
 public:
  using Error::Error;
};

struct Evaluation {
  Split split = Split::none;
  uint64_t examples = 0;
  uint64_t left_out = 0;  // besides: links whose node is linked to all that were drawn
  double loss = 0;        // mean over the examples
  // By name, those of Task::metrics(), the most telling first.
  std::vector<std::pair<std::string, double>> metrics = {};
  std::vector<uint32_t> numbers = {};  // of the examples, in the task
  std::vector<Ranking> rankings = {};  // one for each of them
  // Classes: the one with the highest score, one for each of them.
  std::vector<uint32_t> best_classes = {};
  // Binary loss: a class whose score is above it is given to the node; 0 is the probability 1/2.
  float threshold = 0;
  bool equal_scores = false;  // of several examples all got the same, bit for bit
  double seconds = 0;
  double seconds_waited = 0;
  uint64_t edges = 0;  // of all sub-graphs

  double metric(const std::string& name) const;  // throws Error: lists the known ones
};

// Leaves the model in training mode as it found it. Of the options, those of sampling, validation
// and pipeline count. `threshold`: no value: the one with the highest micro F1 on these examples,
// so only for choosing it. Throws Diverged; throws Error: all links are left out.
Evaluation evaluate(TaskModel& model, const Task& task, Split split, const TrainOptions& options,
                    const ProgressSink& progress = no_progress,
                    std::optional<float> threshold = 0.0F);

}  // namespace hgt
