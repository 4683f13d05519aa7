#include "hgt/task/batch_plan.h"

#include <cassert>
#include <map>
#include <vector>

#include "hgt/random.h"

namespace hgt {

namespace {

// Tell the draws of different purposes from one another.
constexpr uint64_t kOrderStream = 0x04de;
constexpr uint64_t kSampleStream = 0x5a3e;

// Numbers the times of the training examples.
std::vector<uint32_t> time_groups(const Task& task) {
  std::map<Time, uint32_t> numbers;
  std::vector<uint32_t> groups;
  const auto count = static_cast<uint32_t>(task.num_examples(Split::train));
  for (uint32_t example = 0; example < count; ++example) {
    const auto next = static_cast<uint32_t>(numbers.size());
    groups.push_back(numbers.emplace(task.example_time(Split::train, example), next).first->second);
  }
  return groups;
}

ShuffledOrder training_order(const Task& task, uint64_t run_length, uint64_t random_seed) {
  if (run_length < 2) return {task.num_examples(Split::train), random_seed};
  return {time_groups(task), run_length, random_seed};
}

}  // namespace

TrainingPlan::TrainingPlan(const Task& task, uint64_t batch_size, uint64_t random_seed,
                           uint32_t seed_times)
    : task_(&task),
      batch_size_(batch_size),
      seed_(random_seed),
      order_(training_order(task, seed_times == 0 ? 1 : batch_size / seed_times,
                            hash(random_seed, kOrderStream))) {
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
