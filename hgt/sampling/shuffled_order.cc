#include "hgt/sampling/shuffled_order.h"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <numeric>
#include <utility>

#include "hgt/random.h"

namespace hgt {

namespace {

void shuffle(std::vector<uint32_t>& numbers, Draws& draws) {  // Fisher and Yates
  for (size_t left = numbers.size(); left > 1; --left) {
    std::swap(numbers[left - 1], numbers[draws.below(left)]);
  }
}

}  // namespace

struct ShuffledOrder::State {
  using Order = std::shared_ptr<const std::vector<uint32_t>>;

  std::vector<uint32_t> in_runs(const std::vector<uint32_t>& shuffled, Draws& draws) const;

  // The order of one epoch, kept until another epoch is asked for.
  Order order(uint64_t epoch) {
    const std::scoped_lock lock(mutex);
    if (last && last_epoch == epoch) return last;
    std::vector<uint32_t> shuffled(size);
    std::iota(shuffled.begin(), shuffled.end(), 0U);
    Draws draws(hash(random_seed, epoch));
    shuffle(shuffled, draws);
    if (!groups.empty()) shuffled = in_runs(shuffled, draws);
    last = std::make_shared<const std::vector<uint32_t>>(std::move(shuffled));
    last_epoch = epoch;
    return last;
  }

  uint64_t size = 0;
  uint64_t random_seed = 0;
  std::vector<uint32_t> groups;      // of each number; empty: they do not matter
  std::vector<uint32_t> first_runs;  // [groups + 1]: the runs of each group
  std::mutex mutex;
  Order last;
  uint64_t last_epoch = 0;
};

ShuffledOrder::ShuffledOrder(uint64_t size, uint64_t random_seed)
    : state_(std::make_shared<State>()) {
  state_->size = size;
  state_->random_seed = random_seed;
}

ShuffledOrder::ShuffledOrder(std::vector<uint32_t> groups, uint64_t run_length,
                             uint64_t random_seed)
    : ShuffledOrder(groups.size(), random_seed) {
  assert(run_length > 0);
  const size_t count = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
  if (count < 2 || run_length == 1) return;
  std::vector<uint32_t>& runs = state_->first_runs;
  runs.assign(count + 1, 0);
  for (const uint32_t group : groups) ++runs[group + 1];  // members, to begin with
  for (size_t group = 0; group < count; ++group) {
    const uint64_t nearest = (runs[group + 1] + run_length / 2) / run_length;
    runs[group + 1] = runs[group] + static_cast<uint32_t>(std::max<uint64_t>(1, nearest));
  }
  state_->groups = std::move(groups);
}

// Deals the members of each group out to its runs, one after the other, and puts the runs one
// behind the other in an order drawn for them.
std::vector<uint32_t> ShuffledOrder::State::in_runs(const std::vector<uint32_t>& shuffled,
                                                    Draws& draws) const {
  std::vector<uint32_t> run_of(shuffled.size());  // by place in `shuffled`
  std::vector<uint32_t> sizes(first_runs.back());
  std::vector<uint32_t> next(first_runs.begin(), first_runs.end() - 1);
  for (size_t i = 0; i < shuffled.size(); ++i) {
    const uint32_t group = groups[shuffled[i]];
    run_of[i] = next[group];
    ++sizes[next[group]];
    if (++next[group] == first_runs[group + 1]) next[group] = first_runs[group];
  }
  std::vector<uint32_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, draws);
  std::vector<uint32_t> places(sizes.size());  // where the next member of each run goes
  uint32_t place = 0;
  for (const uint32_t run : order) {
    places[run] = place;
    place += sizes[run];
  }
  std::vector<uint32_t> result(shuffled.size());
  for (size_t i = 0; i < shuffled.size(); ++i) result[places[run_of[i]]++] = shuffled[i];
  return result;
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
