// What to do where memory is limited, so that running out of it is an error, and neither a hang nor
// the end of the program.
#pragma once

#include <cstddef>

namespace hgt {

// What large tensors leave to libraries: without any memory oneDNN crashes.
constexpr size_t kHeadroomBytes = size_t{64} << 20U;

// Throws std::bad_alloc if memory is limited and less than a quarter of that is left. To be called
// before what oneDNN computes, which is gelu and its gradient.
void require_headroom();

// Takes the memory in which OpenBLAS multiplies on that many threads at once. It would otherwise
// do so during a product and, if there is none, ask again forever. Throws Error if there is too
// little. Does nothing where memory is not limited, and with another BLAS.
void reserve_blas_memory(int threads);

// Limits the memory that this process may map to what its control group leaves it: then it is told
// that memory ran out, instead of being killed. What is mapped but unused does not count, nor does
// what reserve_blas_memory() takes.
void keep_within_container();

}  // namespace hgt
