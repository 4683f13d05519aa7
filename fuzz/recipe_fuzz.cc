// Any text is a recipe or an hgt::Error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/fuzz_input.h"
#include "hgt/features/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] { hgt::fuzz::use(hgt::read_recipe(file.path()).size()); });
  return 0;
}
