// Many matrix products at once: for each sum i
//   y_i = start_i + sum over terms j of x_ij w_ij       y [m, n], x [m, k_j], w [k_j, n]
// Those of a layer are small, a few hundred rows for each node type: two threads that share each of
// them spend a good part of their time waiting for each other. Here they are laid end to end, rows
// below rows, and cut into as many parts of equal work as there are threads: a thread computes
// consecutive rows, from somewhere within one sum to somewhere within another. No row is shared.
#pragma once

#include <vector>

#include "hgt/model/torch.h"

namespace hgt {

// x w; x [m, k], w [k, n]. Views are welcome: either may be transposed or narrowed.
struct MatrixProduct {
  at::Tensor x, w;
};

// y = start + the sum of the terms.
struct ProductSum {
  at::Tensor y;                           // [m, n], written
  at::Tensor start = {};                  // [m, n], or [n] for all rows; undefined: zero
  std::vector<MatrixProduct> terms = {};  // none: y = start
};

// No y may overlap another or what is read. On the CPU, without gradients.
void compute_sums(const std::vector<ProductSum>& sums);

}  // namespace hgt
