// W and W' of all relations, their transposes, and sums of their gradients: what the passes of
// attention.cc multiply pairs by. Part of attention.cc.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "hgt/message/attention_kernels.h"
#include "hgt/parallel.h"

namespace hgt {

// Calls task(i) for i in [0, count), on `threads` threads. Throws what one of them threw.
template <typename Task>
void in_parallel(int threads, size_t count, const Task& task) {
  const auto last = static_cast<int64_t>(count);
  FirstFailure failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && last > 1)
  for (int64_t i = 0; i < last; ++i) failure.watch([&] { task(static_cast<size_t>(i)); });
  failure.rethrow();
}

// The matrices of all relations: [relations][heads or 1][width][width].
template <typename T>
struct Matrices {
  const T* data;
  HeadShape shape;

  const T* operator[](uint32_t relation) const {
    return data + relation * shape.numbers_per_relation();
  }
};

// The same with the last two indices exchanged: M^T for each M.
template <typename T>
class Transposed {
 public:
  Transposed(const T* matrices, uint32_t relations, const HeadShape& shape, int threads)
      : shape_(shape), values_(relations * shape.numbers_per_relation()) {
    const uint64_t width = shape.width;
    in_parallel(threads, uint64_t{relations} * shape.matrices(), [&](size_t matrix) {
      const T* from = matrices + matrix * width * width;
      T* to = values_.data() + matrix * width * width;
      for (uint64_t i = 0; i < width; ++i) {
        for (uint64_t j = 0; j < width; ++j) to[j * width + i] = from[i * width + j];
      }
    });
  }
  Matrices<T> matrices() const { return {.data = values_.data(), .shape = shape_}; }

 private:
  HeadShape shape_;
  std::vector<T> values_;
};

// Gradients of matrices, summed by one thread; only relations that it meets take room.
template <typename T>
class MatrixSums {
 public:
  MatrixSums(uint32_t relations, const HeadShape& shape) : shape_(shape), sums_(relations) {}
  T* operator[](uint32_t relation) {
    if (sums_[relation].empty()) sums_[relation].resize(shape_.numbers_per_relation());
    return sums_[relation].data();
  }
  // Adds what was summed for a relation, if anything.
  void add_to(uint32_t relation, T* to) const {
    std::transform(sums_[relation].begin(), sums_[relation].end(), to, to, std::plus<T>());
  }

 private:
  HeadShape shape_;
  std::vector<std::vector<T>> sums_;
};

}  // namespace hgt
