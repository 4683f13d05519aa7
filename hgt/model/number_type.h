// Code for tensors of float and of double alike, and rows shared out among threads.
#pragma once

#include <ATen/Parallel.h>

#include "hgt/model/torch.h"

namespace hgt {

// Calls work(T{}) with T the type of the tensor's numbers; data_ptr<T>() refuses other tensors.
template <typename Work>
void with_number_type(const at::Tensor& tensor, const Work& work) {
  if (tensor.scalar_type() == at::kDouble) {
    work(double{});
  } else {
    work(float{});
  }
}

// Calls work(row) for each row; a thread takes at least `rows_per_task` of them.
template <typename Work>
void parallel_rows(int64_t rows, int64_t rows_per_task, const Work& work) {
  at::parallel_for(0, rows, rows_per_task, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) work(row);
  });
}

}  // namespace hgt
