// Any bytes are a safetensors file or an hgt::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fuzz/fuzz_input.h"
#include "hgt/disk/tensor_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] {
    const hgt::TensorFile tensors = hgt::TensorFile::open(file.path());
    for (const hgt::TensorView& tensor : tensors.tensors()) {
      if (tensors.find(tensor.name) == nullptr) std::abort();
      for (const std::byte byte : tensor.data) hgt::fuzz::use(static_cast<uint64_t>(byte));
    }
    hgt::fuzz::use(tensors.metadata().size());
  });
  return 0;
}
