// The Neural Tensor Network of Socher et al. (NIPS 2013), which scores how two vectors belong
// together (paper, section 5.2: author disambiguation):
//
//   g(a, b) = u . tanh(a^T W[1..k] b + V [a; b] + c)
//
// with k slices W[i] of [d, d], V [k, 2d], c and u [k]. What is stored of W is d W: the sum has d^2
// terms, and a step of Adam that fits the other parameters would saturate tanh at once.
#pragma once

#include "hgt/model/torch.h"

namespace hgt {

class NeuralTensorNetworkImpl : public torch::nn::Module {
 public:
  NeuralTensorNetworkImpl(int64_t width, int64_t slices);

  // [pairs, d] and [pairs, d] -> [pairs].
  at::Tensor forward(const at::Tensor& a, const at::Tensor& b) const;

  at::Tensor tensor;  // d W: [d, k, d], so that a W is one matrix product
  at::Tensor linear;  // V: [k, 2d]
  at::Tensor bias;    // c: [k]
  at::Tensor output;  // u: [k]
};
TORCH_MODULE(NeuralTensorNetwork);

}  // namespace hgt
