#include "hgt/model/neural_tensor_network.h"

#include <cmath>

namespace hgt {

NeuralTensorNetworkImpl::NeuralTensorNetworkImpl(int64_t width, int64_t slices) {
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  const auto uniform = [&](at::IntArrayRef sizes, double scale) {
    return torch::empty(sizes).uniform_(-scale, scale);
  };
  tensor = register_parameter("tensor", uniform({width, slices, width}, std::sqrt(3.0)));
  linear = register_parameter("linear", uniform({slices, 2 * width}, bound));
  bias = register_parameter("bias", torch::zeros({slices}));
  output =
      register_parameter("output", uniform({slices}, 1 / std::sqrt(static_cast<double>(slices))));
}

at::Tensor NeuralTensorNetworkImpl::forward(const at::Tensor& a, const at::Tensor& b) const {
  const int64_t width = tensor.size(0);
  const int64_t slices = tensor.size(1);
  const at::Tensor projected =
      at::mm(a, tensor.view({width, slices * width})).view({-1, slices, width});
  const at::Tensor bilinear =
      at::bmm(projected, b.unsqueeze(2)).squeeze(2) / static_cast<double>(width);  // [pairs, k]
  const at::Tensor sum = at::addmm(bias, at::cat({a, b}, 1), linear.t()) + bilinear;
  return at::mv(sum.tanh(), output);
}

}  // namespace hgt
