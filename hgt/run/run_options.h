// Everything that a run depends on, by name: for command lines, config files and the run's folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hgt/graph/schema.h"
#include "hgt/options/option_table.h"
#include "hgt/run/train_options.h"
#include "hgt/task/task_spec.h"

namespace hgt {

struct RunOptions {
  std::string graph = {};  // folder
  std::string features =
      {};  // the feature set that the model reads; empty: the newest finished one
  TaskSpec task = {};
  TrainOptions training = {};
  uint64_t repeats = 1;  // runs with the seeds seed, seed + 1, ...
};

// All but `graph` and the task. The options must outlive the table.
//
// A flag, its key in a file and its field have one name, with '-' for '_' in the first two: --clip,
// clip = 1, TrainOptions::clip. The fields of model, sampling and pipeline are named without these
// words (--width: sampling.width), those of validation with it (--validation-limit:
// validation.limit), and `kind` by what it is the kind of (--model: model.kind).
OptionTable training_table(RunOptions& options);

// The task says which meta paths there are; the model follows them if it is one that does.
void adopt_meta_paths(RunOptions& options);

// Fills in what was left to the program (0 for the time scale: the model then sees gaps in days
// where the graph's unit is finer, else in that unit; no meta paths for a model that follows some:
// the proposed ones). Throws Error: options that make no sense.
void settle(RunOptions& options, const Schema& schema);

}  // namespace hgt
