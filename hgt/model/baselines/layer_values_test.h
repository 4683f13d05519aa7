// For the tests of baselines: weights that are worked with by hand.
#pragma once

#include <string>
#include <vector>

#include "hgt/model/layer.h"
#include "hgt/model/torch.h"

namespace hgt {

inline void set(Layer& layer, const std::string& name, const std::vector<double>& values) {
  const torch::NoGradGuard no_gradient;
  at::Tensor parameter = layer.named_parameters()[name];
  parameter.copy_(at::tensor(values, at::kDouble).view_as(parameter));
}

}  // namespace hgt
