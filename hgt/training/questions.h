// Questions put to a model in batches, through sampled sub-graphs: the one way in which examples
// are scored, whether the scores are measured against the truth (evaluation.h) or told
// (prediction.cc).
//
//   ask(model, task, {.stage = "answers", .unit = "papers", .split = Split::test, .count = 1000,
//                     .about = [&](uint64_t first, uint64_t count) { return question(...); }},
//       options, [&](const Question& question, const at::Tensor& scores) { ... });
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hgt/progress.h"
#include "hgt/run/train_options.h"
#include "hgt/task/task.h"
#include "hgt/training/task_model.h"

namespace hgt {

struct Questions {
  std::string stage = {};  // for progress
  std::string unit = {};
  Split split = Split::test;  // whose time bound and hidden links count
  uint64_t count = 0;         // of examples
  // About some of them in a row. Called from several threads at once; must depend on both numbers
  // only.
  std::function<Question(uint64_t first, uint64_t count)> about;
};

// The scores of a question, mean over its sub-graphs: of classes [examples, classes], else [pairs].
using UseScores = std::function<void(const Question&, const at::Tensor& scores)>;

struct AskedSubgraphs {
  uint64_t edges = 0;
  double seconds_waited = 0;
};

// Without gradients; the model should be in evaluation mode. Of the options, those of sampling,
// validation, pipeline and the seed count: what is drawn is a function of the seed, the split and
// the number of the batch. `use` is called batch after batch.
AskedSubgraphs ask(const TaskModel& model, const Task& task, const Questions& questions,
                   const TrainOptions& options, const UseScores& use,
                   const ProgressSink& progress = no_progress);

}  // namespace hgt
