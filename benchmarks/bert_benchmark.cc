// Vectors of titles from a BERT of the size of all-MiniLM-L6-v2 (6 layers, 384, 12 heads, 1536)
// with random weights; titles are random ids of 8 to 30 tokens, most about 15.
//
//   bert_benchmark [--threads=N] [--benchmark_filter=...]
//
// `bound`: time over that of the matrix products (projections, outputs, both feed-forward matrices)
// at the rate of [2048, 256] x [256, 768] measured between the iterations; medians of both.
// `GFLOP/s` is the rate of the matrix products in the whole.
#include <fmt/format.h>

#include <string>

#include "benchmarks/title_encoding.h"
#include "hgt/features/bert/bert.h"

namespace hgt {
namespace {

constexpr uint64_t kWidth = 384;
constexpr uint64_t kInner = 1536;
constexpr uint64_t kLayers = 6;
constexpr uint64_t kPerToken = kLayers * 2 * (4 * kWidth * kWidth + 2 * kWidth * kInner);

void add_linear(RandomModel& model, const std::string& name, uint64_t inputs, uint64_t outputs) {
  model.add(name + ".weight", {outputs, inputs});
  model.add(name + ".bias", {outputs});
}

void add_norm(RandomModel& model, const std::string& name) {
  model.add(name + ".LayerNorm.weight", {kWidth});
  model.add(name + ".LayerNorm.bias", {kWidth});
}

void add_all(RandomModel& model) {
  model.add("embeddings.word_embeddings.weight", {kVocabulary, kWidth});
  model.add("embeddings.position_embeddings.weight", {512, kWidth});
  model.add("embeddings.token_type_embeddings.weight", {2, kWidth});
  add_norm(model, "embeddings");
  for (uint64_t i = 0; i < kLayers; ++i) {
    const std::string layer = fmt::format("encoder.layer.{}.", i);
    for (const char* part : {"self.query", "self.key", "self.value", "output.dense"}) {
      add_linear(model, layer + "attention." + part, kWidth, kWidth);
    }
    add_norm(model, layer + "attention.output");
    add_linear(model, layer + "intermediate.dense", kWidth, kInner);
    add_linear(model, layer + "output.dense", kInner, kWidth);
    add_norm(model, layer + "output");
  }
  model.write(fmt::format(
      R"({{"vocab_size": {}, "hidden_size": {}, "num_hidden_layers": {}, "num_attention_heads": 12,
          "intermediate_size": {}, "max_position_embeddings": 512}})",
      kVocabulary, kWidth, kLayers, kInner));
}

}  // namespace
}  // namespace hgt

int main(int argc, char** argv) {
  hgt::RandomModel model;
  hgt::add_all(model);
  return hgt::run_title_benchmark<hgt::BertNetwork>(argc, argv, model.folder(), hgt::kWidth,
                                                    hgt::kPerToken);
}
