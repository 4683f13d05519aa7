// Any text is the config of an XLNet or an hgt::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fuzz/fuzz_input.h"
#include "hgt/features/xlnet/xlnet_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] {
    const hgt::XlnetConfig config = hgt::read_xlnet_config(file.path());
    if (config.n_head == 0 || config.n_layer == 0) std::abort();
  });
  return 0;
}
