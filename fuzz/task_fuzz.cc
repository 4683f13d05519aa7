// Any text is a task or an hgt::Error; a task is read back as it was written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fuzz/fuzz_input.h"
#include "hgt/task/task_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] {
    const hgt::TaskSpec spec = hgt::read_task(file.path());
    const hgt::fuzz::MemoryFile again(hgt::to_toml(spec));
    if (hgt::read_task(again.path()) != spec) std::abort();
  });
  return 0;
}
