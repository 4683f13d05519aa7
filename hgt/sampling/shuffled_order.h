// The numbers below `size` in an order drawn anew for each epoch. Thread-safe, cheap to copy. On
// request members of a group follow one another, so that a batch meets fewer groups.
//
//   const ShuffledOrder order(num_examples, seed);
//   const std::vector<uint32_t> examples = order.batch(epoch, number, 256);
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace hgt {

class ShuffledOrder {
 public:
  ShuffledOrder(uint64_t size, uint64_t random_seed);
  // groups: of each number. Every group is cut into runs of about equal length, nearest to
  // `run_length`, one at least; members and runs are shuffled. With fewer than two groups, or runs
  // of 1, the same as above. Requires run_length > 0.
  ShuffledOrder(std::vector<uint32_t> groups, uint64_t run_length, uint64_t random_seed);
  // Batch `number` of the epoch; the last one has what is left, and past it they are empty.
  std::vector<uint32_t> batch(uint64_t epoch, uint64_t number, uint64_t batch_size) const;
  uint64_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hgt
