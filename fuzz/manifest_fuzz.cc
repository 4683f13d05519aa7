// Any text is a manifest or an hgt::Error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/fuzz_input.h"
#include "hgt/tables/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] {
    const hgt::Manifest manifest = hgt::read_manifest(file.path());
    for (const hgt::EdgeTable& table : manifest.edges) hgt::fuzz::use(table.edge_types().size());
  });
  return 0;
}
