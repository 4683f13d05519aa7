// The oracle of gradients.
#pragma once

#include <cstdint>

#include "hgt/model/torch.h"

namespace hgt {

// d loss() / d tensor by central differences, one number at a time; loss() returns a double.
template <typename Loss>
at::Tensor finite_differences(const at::Tensor& tensor, const Loss& loss) {
  const torch::NoGradGuard no_gradient;
  constexpr double kStep = 1e-5;
  at::Tensor gradient = at::zeros_like(tensor);
  auto* values = tensor.data_ptr<double>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const double kept = values[i];
    values[i] = kept + kStep;
    const double above = loss();
    values[i] = kept - kStep;
    const double below = loss();
    values[i] = kept;
    gradient.data_ptr<double>()[i] = (above - below) / (2 * kStep);
  }
  return gradient;
}

}  // namespace hgt
