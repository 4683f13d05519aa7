#define HGT_KERNELS title_portable
#include "hgt/features/transformer/title_attention.inc"

namespace hgt {

const TitleKernels& portable_title_kernels() { return title_portable::kernels(); }

const TitleKernels& title_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return title_avx2::kernels();
#endif
  return title_portable::kernels();
}

}  // namespace hgt
