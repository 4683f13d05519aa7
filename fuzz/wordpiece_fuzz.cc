// Any bytes are the vocabulary of a BERT, as lines or in a tokenizer.json, or an hgt::Error; a
// vocabulary cuts any text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/fuzz_input.h"
#include "hgt/features/tokens/wordpiece_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hgt::fuzz::FuzzFolder folder;
  const bool json = size > 0 && data[0] == '{';
  const std::string_view text = hgt::fuzz::text_of(data, size);
  std::filesystem::remove(folder.path() / "vocab.txt");
  folder.write(json ? "tokenizer.json" : "vocab.txt", text);
  if (!json) folder.write("tokenizer_config.json", R"({"do_lower_case": true})");
  if (json) std::filesystem::remove(folder.path() / "tokenizer_config.json");
  hgt::fuzz::read_or_refuse([&] {
    const auto tokenizer = hgt::WordpieceTokenizer::open(folder.path());
    for (const std::string_view title :
         {std::string_view("The graph, of \xc3\x9c\xe5\x9b\xbe\xff"), text}) {
      for (const int32_t id : tokenizer.encode(title, 16)) {
        if (id < 0 || static_cast<size_t>(id) >= tokenizer.size()) std::abort();
      }
    }
  });
  return 0;
}
