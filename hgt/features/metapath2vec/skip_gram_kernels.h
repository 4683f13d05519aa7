// The inner loops of skip-gram training, on plain arrays: written once, compiled for AVX2 and for
// any processor, chosen when the program runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hgt {

// A center, and the rows of a PairList that belong to it: its context, then negatives, all
// different.
struct TrainingPair {
  uint32_t center = 0;
  uint32_t first = 0;
  uint32_t count = 0;
};

struct PairList {
  const TrainingPair* pairs = nullptr;
  size_t size = 0;
  const uint32_t* rows = nullptr;
  const float* copies = nullptr;  // how many times each row was drawn
};

struct PairTables {
  float* inputs = nullptr;   // [rows, width] vectors of centers
  float* outputs = nullptr;  // [rows, width] vectors of contexts and negatives
  uint32_t width = 0;
};

// Floats of memory that train() needs to work in: three rows.
constexpr size_t pair_workspace(uint32_t width) { return size_t{3} * width; }

struct SkipGramKernels {
  // One step of gradient descent for each pair, in order. All rows of a pair are moved by the
  // gradient where they were before it. The center's row is kept apart while centers repeat, and
  // what it moved by is added to the table afterwards.
  void (*train)(const PairTables& tables, const PairList& list, float rate, float* workspace);
};

enum class KernelSet { portable, avx2 };

KernelSet best_kernel_set();  // that this processor has
const SkipGramKernels& skip_gram_kernels(KernelSet set);

namespace avx2 {
const SkipGramKernels& skip_gram_kernels();
}
namespace portable {
const SkipGramKernels& skip_gram_kernels();
}

}  // namespace hgt
