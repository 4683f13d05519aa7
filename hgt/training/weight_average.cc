#include "hgt/training/weight_average.h"

#include <algorithm>
#include <utility>

namespace hgt {

WeightAverage::WeightAverage(std::vector<at::Tensor> parameters, double decay)
    : parameters_(std::move(parameters)), decay_(decay) {
  if (!is_on()) return;
  for (const at::Tensor& parameter : parameters_) values_.push_back(parameter.detach().clone());
}

void WeightAverage::update(uint64_t step) {
  constexpr double kEarly = 9;
  const auto done = static_cast<double>(step);
  const double decay = std::min(decay_, done / (done + kEarly));
  for (size_t i = 0; i < values_.size(); ++i) values_[i].lerp_(parameters_[i].detach(), 1 - decay);
}

// Only what the tensors point to changes places: nothing is copied.
void WeightAverage::exchange() {
  for (size_t i = 0; i < values_.size(); ++i) {
    const at::Tensor shown = values_[i];
    values_[i] = parameters_[i].detach();
    parameters_[i].set_data(shown);
  }
}

}  // namespace hgt
