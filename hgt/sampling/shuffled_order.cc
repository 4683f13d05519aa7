#include "hgt/sampling/shuffled_order.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "hgt/random.h"

namespace hgt {

struct ShuffledOrder::State {
  using Order = std::shared_ptr<const std::vector<uint32_t>>;

  // The order of one epoch, kept until another epoch is asked for.
  Order order(uint64_t epoch) {
    const std::scoped_lock lock(mutex);
    if (last && last_epoch == epoch) return last;
    std::vector<uint32_t> shuffled(size);
    std::iota(shuffled.begin(), shuffled.end(), 0U);
    Draws draws(hash(random_seed, epoch));
    for (size_t left = shuffled.size(); left > 1; --left) {  // Fisher and Yates
      std::swap(shuffled[left - 1], shuffled[draws.below(left)]);
    }
    last = std::make_shared<const std::vector<uint32_t>>(std::move(shuffled));
    last_epoch = epoch;
    return last;
  }

  uint64_t size = 0;
  uint64_t random_seed = 0;
  std::mutex mutex;
  Order last;
  uint64_t last_epoch = 0;
};

ShuffledOrder::ShuffledOrder(uint64_t size, uint64_t random_seed)
    : state_(std::make_shared<State>()) {
  state_->size = size;
  state_->random_seed = random_seed;
}

uint64_t ShuffledOrder::size() const { return state_->size; }

std::vector<uint32_t> ShuffledOrder::batch(uint64_t epoch, uint64_t number,
                                           uint64_t batch_size) const {
  const State::Order order = state_->order(epoch);
  const uint64_t first = std::min<uint64_t>(order->size(), number * batch_size);
  const uint64_t last = std::min<uint64_t>(order->size(), first + batch_size);
  return {order->begin() + static_cast<ptrdiff_t>(first),
          order->begin() + static_cast<ptrdiff_t>(last)};
}

}  // namespace hgt
