#include "hgt/sampling/budget.h"

#include <algorithm>

namespace hgt {

// Leaves the n earliest arrivals and returns the last of their times.
double Budget::keep_first(uint32_t n) {
  if (arrivals_.size() <= n) return std::numeric_limits<double>::infinity();
  const auto last = arrivals_.begin() + (n - 1);
  std::nth_element(arrivals_.begin(), last, arrivals_.end());
  arrivals_.resize(n);
  return arrivals_.back().time;
}

// Let every candidate arrive after a time that is exponentially distributed with the rate B^2: the
// first n to arrive are distributed as n successive draws without replacement (Efraimidis and
// Spirakis 2006). One pass, and the logarithm is needed only for those that may be among them.
const std::vector<uint32_t>& Budget::draw(uint32_t n, Draws& draws) {
  arrivals_.clear();
  double deadline = std::numeric_limits<double>::infinity();
  for (uint32_t slot = 0; slot < size(); ++slot) {
    const double rate = weight(slot) * weight(slot);
    const double unit = draws.unit();
    if (!(unit < deadline * rate)) continue;  // -log(1 - u) >= u: it arrives later
    const double time = -std::log1p(-unit) / rate;
    if (time > deadline) continue;
    arrivals_.push_back({.time = time, .slot = slot});
    if (arrivals_.size() >= 2 * size_t{n}) deadline = keep_first(n);
  }
  keep_first(n);
  drawn_.clear();
  for (const Arrival& arrival : arrivals_) {
    drawn_.push_back(arrival.slot);
    candidates_[arrival.slot].value = kSampled;
  }
  std::sort(drawn_.begin(), drawn_.end());
  return drawn_;
}

}  // namespace hgt
