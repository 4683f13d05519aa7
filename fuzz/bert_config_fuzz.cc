// Any text is the config of a BERT, its list of modules or its pooling, or an hgt::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/fuzz_input.h"
#include "hgt/features/bert/bert_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hgt::fuzz::FuzzFolder folder;
  const std::string_view text = hgt::fuzz::text_of(data, size);
  constexpr const char* kGood =
      R"({"vocab_size": 9, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2,
          "intermediate_size": 3, "max_position_embeddings": 8})";
  for (const char* file :
       {"config.json", "modules.json", "1_Pooling/config.json", "sentence_bert_config.json"}) {
    folder.write("config.json", kGood);
    folder.write(file, text);
    hgt::fuzz::read_or_refuse([&] {
      const hgt::BertConfig config = hgt::read_bert_config(folder.path());
      if (config.hidden_size % config.num_attention_heads != 0) std::abort();
      if (config.max_seq_length < 2) std::abort();
      if (config.max_seq_length > config.max_position_embeddings) std::abort();
    });
    std::filesystem::remove(folder.path() / file);
  }
  return 0;
}
