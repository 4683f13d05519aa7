// Relative Temporal Encoding (paper, section 3.5): what the time between source and target adds to
// the source.
//
//   Base(g, 2i)     = sin(g / 10000^(2i / d))
//   Base(g, 2i + 1) = cos(g / 10000^((2i + 1) / d))
//   RTE(g) = T-Linear(Base(g)) = W Base(g) + b         W [d, d], b [d], one of each per layer
//
// The variants of ModelOptions, both as in the authors' code:
//   paired_sinusoids   Base(g, 2i + 1) = cos(g / 10000^(2i / d)): one period for both of a pair
//   scaled_sinusoids   Base(g) is divided by sqrt(d)
//
// The authors also add 120 to every gap, the place of gap 0 in their table of 240 rows. With
// paired sinusoids this is no difference: moving all gaps turns every pair by an angle of its own,
// (sin, cos)(w g + w c) = rotation(w c) (sin, cos)(w g), and W can hold the rotation.
//
// The sinusoids are computed for any real gap: negative, fractional or never seen. They are
// neither parameters nor buffers.
//
//   RelativeTemporalEncoding encoding(paper_preset());         // d = 256
//   at::Tensor vectors = encoding->forward({0.0, -3.0, 0.5});  // [3, 256]
#pragma once

#include <cstdint>
#include <span>

#include "hgt/model/torch.h"
#include "hgt/run/model_options.h"

namespace hgt {

// Base(gap / time_scale) for each gap: [gaps, hidden], computed in double and then rounded to
// `type`.
at::Tensor sinusoids(std::span<const double> gaps, const ModelOptions& options,
                     const at::TensorOptions& type);

class RelativeTemporalEncodingImpl : public torch::nn::Module {
 public:
  explicit RelativeTemporalEncodingImpl(const ModelOptions& options);

  at::Tensor forward(std::span<const double> gaps) const;  // [gaps, hidden]

  at::Tensor weight;  // T-Linear [hidden, hidden]
  at::Tensor bias;    // [hidden]

 private:
  ModelOptions options_;
};
TORCH_MODULE(RelativeTemporalEncoding);

}  // namespace hgt
