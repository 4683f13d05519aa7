// Compiled with -mavx2 -mfma (CMakeLists.txt), where the processor family has them.
#define HGT_KERNELS xlnet_avx2
#include "hgt/features/xlnet/relative_attention.inc"
