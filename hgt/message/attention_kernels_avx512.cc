// Compiled with -mavx512f and its companions (CMakeLists.txt), where the processor family has them.
#define HGT_KERNELS avx512
#define HGT_VECTOR_BYTES 64
#include "hgt/message/kernel_table.inc"
