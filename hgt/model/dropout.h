// Dropout whose pattern is a function of torch's seed alone, whatever the number of threads.
#pragma once

#include "hgt/model/torch.h"

namespace hgt {

// In training each number is zero with the given probability and otherwise divided by what is left;
// one draw of torch's generator keys the whole pattern. Otherwise the tensor itself.
at::Tensor drop_out(const at::Tensor& values, double probability, bool training);

}  // namespace hgt
