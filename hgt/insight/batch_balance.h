// What training batches contain: does every type get its share? (Paper, section 4.)
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/progress.h"
#include "hgt/training/run.h"

namespace hgt {

struct BatchBalance {
  uint64_t batches = 0;
  std::vector<double> nodes;  // [types] instances per batch
  std::vector<double> edges;  // [relations] per batch; `self` is not among them
};

// Means over `batches` batches of the run's sampler, with training examples drawn at random.
BatchBalance mean_balance(const Run& run, uint64_t batches,
                          const ProgressSink& progress = no_progress);

}  // namespace hgt
