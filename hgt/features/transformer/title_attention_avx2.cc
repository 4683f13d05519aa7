// Compiled with -mavx2 -mfma (CMakeLists.txt), where the processor family has them.
#define HGT_KERNELS title_avx2
#include "hgt/features/transformer/title_attention.inc"
