// What LibTorch runs on here: threads, BLAS, memory.
//
//   keep_tensor_memory();    // once, at the start: memory of tensors is kept between steps
//   set_compute_threads(0);  // one per core
//
// Also for `hgt doctor`, and for the warning that every computing command gives if matrix products
// take thirty times as long as they should.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hgt {

// The library behind LibTorch's matrix products.
struct Blas {
  std::string name;   // "OpenBLAS", "MKL", "BLIS", "ATLAS", "reference BLAS" or "unknown"
  std::string file;   // of the shared library; empty: inside LibTorch
  bool slow = false;  // the reference BLAS: no vectors, no threads
  // OpenBLAS on pthreads: its threads compete with ours.
  bool own_threads = false;
};
Blas blas();

// One line that says what is wrong and how to fix it; no value if nothing is wrong.
std::optional<std::string> blas_warning();

struct Machine {
  std::string torch_version;
  std::string instructions;  // that LibTorch uses
  std::string kernels;       // that ours use
  unsigned cores = 0;        // that the process may use
  int threads = 0;           // that compute now
  uint64_t memory_bytes = 0;
  uint64_t available_bytes = 0;
};
Machine machine();

// Threads for tensors, matrix products and our kernels alike; 0: one for each core. LibTorch's
// own default may be a single one. Throws Error if they cannot be started, or if memory is limited
// and too little for their products.
void set_compute_threads(int threads);

// Multiplications and additions per second of [2048, 256] x [256, 768] in float, as the projections
// of a layer are: the best of all repetitions.
double measure_gemm_rate(int repetitions = 20);

// From now on large tensors come from LargeBlocks (large_blocks.h), which keeps freed memory for
// the next step. For programs that train: call it once, before the first tensor is made. A program
// that has its own allocator for LibTorch leaves it out.
void keep_tensor_memory();

}  // namespace hgt
