#define HGT_KERNELS xlnet_portable
#include "hgt/features/xlnet/relative_attention.inc"

namespace hgt {

const XlnetKernels& portable_xlnet_kernels() { return xlnet_portable::kernels(); }

const XlnetKernels& xlnet_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return xlnet_avx2::kernels();
#endif
  return xlnet_portable::kernels();
}

}  // namespace hgt
