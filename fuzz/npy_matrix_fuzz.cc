// Any bytes are a .npy matrix or an hgt::Error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "hgt/tables/npy_matrix.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] {
    hgt::NpyMatrix matrix(file.path());
    std::vector<float> row(matrix.width());
    for (uint64_t i = 0; i < std::min<uint64_t>(matrix.rows(), 100); ++i) matrix.read_row(i, row);
    hgt::fuzz::use(row.size());
  });
  return 0;
}
