// AdamW (Loshchilov and Hutter 2019) with clipping by the norm of all gradients, in one pass over
// each parameter: torch::optim's takes a dozen, which is a tenth of a training step.
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/model/torch.h"

namespace hgt {

class AdamW {
 public:
  struct Options {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0.01;
  };
  // Requires float parameters on the CPU.
  AdamW(std::vector<at::Tensor> parameters, const Options& options);

  // Moves the parameters that have a gradient, and drops the gradients. These are scaled so that
  // their norm is at most `clip`; 0: they are not. Returns the norm before that. When it is not
  // finite, nothing is moved.
  double step(double learning_rate, double clip);

  // The state, for checkpoints: two moments for each parameter, and the steps done so far.
  std::vector<at::Tensor>& first_moments() { return first_; }
  std::vector<at::Tensor>& second_moments() { return second_; }
  uint64_t steps() const { return steps_; }
  void set_steps(uint64_t steps) { steps_ = steps; }

 private:
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> first_;
  std::vector<at::Tensor> second_;
  Options options_;
  uint64_t steps_ = 0;
};

}  // namespace hgt
