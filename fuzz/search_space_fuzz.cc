// Any text is a search space or an hgt::Error; a space is read back as it was written, and what is
// drawn from it makes sense or is refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "fuzz/fuzz_input.h"
#include "hgt/run/search_space.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] {
    const hgt::SearchSpace space = hgt::read_space(file.path());
    const hgt::fuzz::MemoryFile again(hgt::to_toml(space));
    if (hgt::read_space(again.path()) != space) std::abort();
    for (uint64_t trial = 0; trial < 4; ++trial) {
      hgt::draw_trial(space, {}, hgt::Schema(), size, trial);
    }
  });
  return 0;
}
