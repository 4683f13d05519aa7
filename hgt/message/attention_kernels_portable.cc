#define HGT_KERNELS portable
#define HGT_VECTOR_BYTES 16
#include "hgt/message/kernel_table.inc"
