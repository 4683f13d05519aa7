// Many matrix products at once. Those of a layer are small, a few hundred rows for each node type:
// two threads that share each of them spend a good part of their time waiting for each other. Here
// they are laid end to end and cut into as many parts of equal work as there are threads.
#pragma once

#include <vector>

#include "hgt/model/torch.h"

namespace hgt {

// x w; x [m, k], w [k, n].
struct MatrixProduct {
  at::Tensor x, w;
};

// y = start + the sum of the terms.
struct ProductSum {
  at::Tensor y;      // [m, n], written
  at::Tensor start;  // [m, n], or [n] for all rows; undefined: zero
  std::vector<MatrixProduct> terms;
};

// No y may overlap another or what is read. On the CPU, without gradients.
void compute(const std::vector<ProductSum>& sums);

}  // namespace hgt
