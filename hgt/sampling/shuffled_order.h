// The numbers below `size` in an order drawn anew for each epoch. Thread-safe, cheap to copy.
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
  // Batch `number` of the epoch; the last one has what is left, and past it they are empty.
  std::vector<uint32_t> batch(uint64_t epoch, uint64_t number, uint64_t batch_size) const;
  uint64_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hgt
