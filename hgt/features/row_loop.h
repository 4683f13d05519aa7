// Rows made on all cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace hgt {

// Calls make(i), which says whether row i could be made, for each i < missing.size(). Throws what
// one of them threw.
template <typename Make>
void make_rows(std::vector<bool>& missing, Make make) {
  std::vector<uint8_t> lacks(missing.size());  // several threads must not write to one vector<bool>
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 64)
  for (size_t i = 0; i < lacks.size(); ++i) {
    try {
      lacks[i] = make(i) ? 0 : 1;
    } catch (...) {
#pragma omp critical(hgt_make_rows)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  std::transform(lacks.begin(), lacks.end(), missing.begin(), [](uint8_t l) { return l != 0; });
}

}  // namespace hgt
