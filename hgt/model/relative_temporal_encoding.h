// Relative Temporal Encoding (paper, section 3.5): what the time between source and target adds to
// the source.
//
//   Base(g, 2i)     = sin(g / 10000^(2i / d))
//   Base(g, 2i + 1) = cos(g / 10000^((2i + 1) / d))
//   RTE(g) = T-Linear(Base(g)) = W Base(g) + b         W [d, d], b [d], one of each per layer
//
// The sinusoids are computed for any real gap: negative, fractional or never seen. They are
// neither parameters nor buffers.
//
//   RelativeTemporalEncoding encoding(256);
//   at::Tensor vectors = encoding->forward({0.0, -3.0, 0.5});  // [3, 256]
#pragma once

#include <cstdint>
#include <span>

#include "hgt/model/torch.h"

namespace hgt {

// Base(gap) for each gap: [gaps, hidden], computed in double and then rounded to `options`.
at::Tensor sinusoids(std::span<const double> gaps, int64_t hidden,
                     const at::TensorOptions& options);

class RelativeTemporalEncodingImpl : public torch::nn::Module {
 public:
  // Gaps are divided by `time_scale` first.
  explicit RelativeTemporalEncodingImpl(int64_t hidden, double time_scale = 1);

  at::Tensor forward(std::span<const double> gaps) const;  // [gaps, hidden]

  at::Tensor weight;  // T-Linear [hidden, hidden]
  at::Tensor bias;    // [hidden]

 private:
  double time_scale_;
};
TORCH_MODULE(RelativeTemporalEncoding);

}  // namespace hgt
