// What the batches of a task's examples are about.
//
//   const TrainingPlan plan(*task, 256, seed);
//   BatchStream<MyBatch> stream({.graph = graph,
//                                .sampling = task->sampling({.width = 128}, Split::train),
//                                .range = {.count = 10 * plan.batches_per_epoch()}},
//                               plan, finish);
#pragma once

#include <cstdint>

#include "hgt/sampling/batch_stream.h"
#include "hgt/sampling/shuffled_order.h"
#include "hgt/task/task.h"

namespace hgt {

using BatchPlan = PlannedBatch<Question>;

// The batches that training takes: every training example once per epoch, in an order drawn anew
// for each epoch. A function of the arguments. Thread-safe, cheap to copy.
class TrainingPlan {
 public:
  // `task` must outlive it. Requires batch_size > 0. With `seed_times`, examples of the same time
  // come in runs of about batch_size / seed_times, so that a batch has about that many times.
  TrainingPlan(const Task& task, uint64_t batch_size, uint64_t random_seed,
               uint32_t seed_times = 0);

  uint64_t batches_per_epoch() const;  // the last one has what is left
  // Batch i, counted over all epochs. Requires batches_per_epoch() > 0.
  BatchPlan operator()(uint64_t i) const;

 private:
  const Task* task_;
  uint64_t batch_size_;
  uint64_t seed_;
  ShuffledOrder order_;
};

}  // namespace hgt
