// Rows made on all cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hgt/parallel.h"

namespace hgt {

// Calls make(i), which says whether row i could be made, for each i < missing.size(). Throws what
// one of them threw.
template <typename Make>
void make_rows(std::vector<bool>& missing, Make make) {
  std::vector<uint8_t> lacks(missing.size());  // several threads must not write to one vector<bool>
  FirstFailure failure;
#pragma omp parallel for schedule(dynamic, 64)
  for (size_t i = 0; i < lacks.size(); ++i) {
    failure.watch([&] { lacks[i] = make(i) ? 0 : 1; });
  }
  failure.rethrow();
  std::transform(lacks.begin(), lacks.end(), missing.begin(), [](uint8_t l) { return l != 0; });
}

}  // namespace hgt
