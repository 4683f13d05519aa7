// An exponential moving average of weights over the batches of a training (Polyak averaging): the
// weights of single batches jump about while the learning rate is high, their average does not.
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/model/torch.h"

namespace hgt {

class WeightAverage {
 public:
  // decay: the weight of the past, in [0, 1); 0: there is no average.
  WeightAverage(std::vector<at::Tensor> parameters, double decay);

  bool is_on() const { return decay_ > 0; }
  // After batch `step`, counted from 1: average += (1 - d) (parameters - average), in which d
  // rises to `decay` as step / (step + 9), so that the first weights are soon forgotten.
  void update(uint64_t step);
  // One for each parameter, for checkpoints; none if there is no average.
  std::vector<at::Tensor>& values() { return values_; }

  // As long as it lives, the parameters hold the average, if there is one.
  class Shown {
   public:
    explicit Shown(WeightAverage& average) : average_(average) { average_.exchange(); }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;
    ~Shown() { average_.exchange(); }

   private:
    WeightAverage& average_;
  };

 private:
  void exchange();

  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> values_;
  double decay_;
};

}  // namespace hgt
