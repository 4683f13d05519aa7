// The inside of a Run: run.h itself knows no torch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hgt/training/run.h"
#include "hgt/training/trainer.h"

namespace hgt {

struct RunState {
  Path folder;
  RunOptions options;
  std::string graph_checksum;
  std::string identity;  // of all seeds
  std::unique_ptr<const Task> task;

  void settle_identity();  // of the rest
  std::vector<uint64_t> seeds() const;
  Path seed_folder(uint64_t seed) const;
  Trainer trainer(uint64_t seed) const;
  TaskModel best_model(uint64_t seed) const;  // throws Error: not trained yet
  SeedResult evaluate(uint64_t seed, Split split, const EvaluationOptions& how,
                      const ProgressSink& progress) const;
  void remove_scores(uint64_t seed) const;
};

}  // namespace hgt
