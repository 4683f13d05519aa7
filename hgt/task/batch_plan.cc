#include "hgt/task/batch_plan.h"

#include <cassert>

#include "hgt/random.h"

namespace hgt {

namespace {

// Tell the draws of different purposes from one another.
constexpr uint64_t kOrderStream = 0x04de;
constexpr uint64_t kSampleStream = 0x5a3e;

}  // namespace

TrainingPlan::TrainingPlan(const Task& task, uint64_t batch_size, uint64_t random_seed)
    : task_(&task),
      batch_size_(batch_size),
      seed_(random_seed),
      order_(task.num_examples(Split::train), hash(random_seed, kOrderStream)) {
  assert(batch_size > 0);
}

uint64_t TrainingPlan::batches_per_epoch() const {
  return (order_.size() + batch_size_ - 1) / batch_size_;
}

BatchPlan TrainingPlan::operator()(uint64_t i) const {
  const uint64_t epoch = i / batches_per_epoch();
  const uint64_t number = i % batches_per_epoch();
  const uint64_t draw = hash(seed_, kSampleStream, epoch, number);
  return {.question = task_->question(Split::train, order_.batch(epoch, number, batch_size_), draw),
          .random_seed = draw};
}

}  // namespace hgt
