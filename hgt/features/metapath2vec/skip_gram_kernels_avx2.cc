// Compiled with -mavx2 -mfma (CMakeLists.txt), where the processor family has them.
#define HGT_KERNELS avx2
#define HGT_VECTOR_BYTES 32
#include "hgt/features/metapath2vec/skip_gram_kernels.inc"
