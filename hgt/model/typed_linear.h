// Linear maps with weights per node type, for rows that are contiguous by type.
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/model/torch.h"

namespace hgt {

// Which rows belong to which type, and which slice of the weights a type uses.
struct TypedRows {
  std::vector<uint32_t> offsets;  // [types + 1]
  std::vector<uint32_t> sets;     // [types]
};

// y = W gelu(x) + b for the W and b of each row's type: A-Linear on sigma(H~). The
// backward pass works gelu(x) out again rather than keep it.
//   x [rows, in], weight [sets, out, in], bias [sets, out] -> [rows, out]
at::Tensor gelu_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       const TypedRows& rows);

// For backward passes written by hand: throws Error when LibTorch would differentiate them again.
void refuse_second_derivatives();

}  // namespace hgt
