// Any bytes are a SentencePiece model or an hgt::Error; a model cuts any text.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/fuzz_input.h"
#include "hgt/features/tokens/sentencepiece_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] {
    const auto model = hgt::SentencepieceModel::open(file.path());
    for (const char* text : {"", " the graph  of graphs", "\xe2\x84\xab\xef\xac\x81 \xff\xc3"}) {
      hgt::fuzz::use(model.cut(text).size());
    }
    hgt::fuzz::use(model.cut(hgt::fuzz::text_of(data, size)).size());
  });
  return 0;
}
