// Vectors of titles from an XLNet of the size of xlnet-base (12 layers, 768, 12 heads, 3072) with
// random weights; titles are random ids of 8 to 30 tokens, most about 15.
//
//   xlnet_benchmark [--threads=N] [--benchmark_filter=...]
//
// `bound`: time over that of the matrix products (projections, outputs, both feed-forward matrices
// of the 11 layers that are needed) at the rate of [2048, 256] x [256, 768] measured between the
// iterations; medians of both. `GFLOP/s` is the rate of the matrix products in the whole.
#include <fmt/format.h>

#include <string>

#include "benchmarks/title_encoding.h"
#include "hgt/features/xlnet/xlnet_network.h"

namespace hgt {
namespace {

constexpr uint64_t kModel = 768;
constexpr uint64_t kHeads = 12;
constexpr uint64_t kInner = 3072;
constexpr uint64_t kLayers = 12;
constexpr uint64_t kPerToken = (kLayers - 1) * 2 * (4 * kModel * kModel + 2 * kModel * kInner);

void add_layer(RandomModel& model, const std::string& layer) {
  constexpr uint64_t kWidth = kModel / kHeads;
  for (const char* matrix : {"q", "k", "v", "o", "r"}) {
    model.add(layer + "rel_attn." + matrix, {kModel, kHeads, kWidth});
  }
  for (const char* bias : {"r_w_bias", "r_r_bias"}) {
    model.add(layer + "rel_attn." + bias, {kHeads, kWidth});
  }
  for (const char* part : {"rel_attn", "ff"}) {
    model.add(layer + part + ".layer_norm.weight", {kModel});
    model.add(layer + part + ".layer_norm.bias", {kModel});
  }
  model.add(layer + "ff.layer_1.weight", {kInner, kModel});
  model.add(layer + "ff.layer_1.bias", {kInner});
  model.add(layer + "ff.layer_2.weight", {kModel, kInner});
  model.add(layer + "ff.layer_2.bias", {kModel});
}

void add_all(RandomModel& model) {
  model.add("word_embedding.weight", {kVocabulary, kModel});
  for (uint64_t i = 0; i < kLayers; ++i) add_layer(model, fmt::format("layer.{}.", i));
  model.write(fmt::format(
      R"({{"vocab_size": {}, "d_model": {}, "n_layer": {}, "n_head": {}, "d_inner": {}}})",
      kVocabulary, kModel, kLayers, kHeads, kInner));
}

}  // namespace
}  // namespace hgt

int main(int argc, char** argv) {
  hgt::RandomModel model;
  hgt::add_all(model);
  return hgt::run_title_benchmark<hgt::XlnetNetwork>(argc, argv, model.folder(), hgt::kModel,
                                                     hgt::kPerToken);
}
