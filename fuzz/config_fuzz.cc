// Any text is a config file or an hgt::Error; options are read back as they were written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "fuzz/fuzz_input.h"
#include "hgt/run/run_options.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] {
    hgt::RunOptions options;
    hgt::training_table(options).read(file.path());
    const std::string text = hgt::training_table(options).to_toml();
    const hgt::fuzz::MemoryFile again(text);
    hgt::RunOptions same;
    hgt::training_table(same).read(again.path());
    if (hgt::training_table(same).to_toml() != text) std::abort();
  });
  return 0;
}
