// A matrix of numbers in somebody else's .npy file, read row by row: feature vectors that a user
// already has. Any NumPy format version; float16, float32 or float64, little-endian, C order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/types.h"

namespace hgt {

class NpyMatrix {
 public:
  // Throws Error: no such file, not .npy, not two-dimensional, another type, a wrong size.
  explicit NpyMatrix(const Path& file);

  uint64_t rows() const { return rows_; }
  uint64_t width() const { return width_; }
  void read_row(uint64_t row, std::span<float> values);

 private:
  void read_header();

  File file_;
  uint64_t data_start_ = 0;
  size_t item_bytes_ = 0;
  uint64_t rows_ = 0;
  uint64_t width_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace hgt
