#define HGT_KERNELS portable
#define HGT_VECTOR_BYTES 16
#include "hgt/features/metapath2vec/skip_gram_kernels.inc"
