#include "hgt/features/xlnet/xlnet_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "hgt/features/tokens/xlnet_tokenizer.h"
#include "hgt/features/transformer/weight_file.h"

namespace hgt {

namespace {

static_assert(kMaxTitleIds == kMostRelativeTokens);

class XlnetReader {
 public:
  XlnetReader(const Path& path, const XlnetConfig& config)
      : config_(config),
        file_(path, {.first = "word_embedding.weight",
                     .prefix = "transformer.",
                     .layers = "layer.",
                     .depth = "n_layer",
                     .name = "an XLNet",
                     .num_layers = config.n_layer}) {}

  XlnetWeights read() const {
    XlnetWeights weights;
    weights.word_embedding = tensor("word_embedding.weight", {config_.vocab_size, config_.d_model});
    const at::Tensor positions = position_encodings();
    for (uint64_t i = 0; i + 1 < config_.n_layer; ++i)
      weights.layers.push_back(layer(i, positions));
    return weights;
  }

 private:
  at::Tensor tensor(const std::string& name, const std::vector<uint64_t>& shape) const {
    return file_.tensor(name, shape);
  }

  // [d_model, n_head, d_head] as a matrix.
  at::Tensor heads(const std::string& name) const {
    return tensor(name, {config_.d_model, config_.n_head, config_.d_head}).flatten(1);
  }

  // Row m is position kMostRelativeTokens - m: sines of its multiples, then cosines.
  at::Tensor position_encodings() const {
    const auto half = static_cast<int64_t>(config_.d_model / 2);
    const at::Tensor encodings = at::empty({kPositions, 2 * half});
    auto rows = encodings.accessor<float, 2>();
    for (int64_t m = 0; m < kPositions; ++m) {
      auto position = static_cast<double>(static_cast<int64_t>(kMostRelativeTokens) - m);
      const auto furthest = static_cast<double>(config_.clamp_len);
      if (furthest > 0) position = std::clamp(position, -furthest, furthest);
      for (int64_t i = 0; i < half; ++i) {
        const double exponent = static_cast<double>(i) / static_cast<double>(half);
        const double angle = position * std::pow(10000.0, -exponent);
        rows[m][i] = static_cast<float>(std::sin(angle));
        rows[m][half + i] = static_cast<float>(std::cos(angle));
      }
    }
    return encodings;
  }

  TransformerLayer layer(uint64_t number, const at::Tensor& positions) const {
    const std::string name = fmt::format("layer.{}.", number);
    const std::string attention = name + "rel_attn.";
    const std::string feed = name + "ff.";
    const std::vector<uint64_t> bias = {config_.n_head, config_.d_head};
    const std::vector<uint64_t> model = {config_.d_model};
    const double scale = 1 / std::sqrt(static_cast<double>(config_.d_head));
    const auto head_width = static_cast<int64_t>(config_.d_head);
    TransformerLayer read;
    read.projection = at::cat(
        {heads(attention + "q") * scale, heads(attention + "k"), heads(attention + "v")}, 1);
    read.content_bias = tensor(attention + "r_w_bias", bias).flatten() * scale;
    read.position_bias = tensor(attention + "r_r_bias", bias).flatten() * scale;
    read.position_keys = at::mm(positions, heads(attention + "r"))
                             .view({kPositions, -1, head_width})
                             .permute({1, 2, 0})
                             .contiguous();
    read.output = heads(attention + "o").t();
    read.attention_weight = tensor(attention + "layer_norm.weight", model);
    read.attention_shift = tensor(attention + "layer_norm.bias", model);
    read.feed_in = tensor(feed + "layer_1.weight", {config_.d_inner, config_.d_model}).t();
    read.feed_in_bias = tensor(feed + "layer_1.bias", {config_.d_inner});
    read.feed_out = tensor(feed + "layer_2.weight", {config_.d_model, config_.d_inner}).t();
    read.feed_out_bias = tensor(feed + "layer_2.bias", model);
    read.feed_weight = tensor(feed + "layer_norm.weight", model);
    read.feed_shift = tensor(feed + "layer_norm.bias", model);
    return read;
  }

  const XlnetConfig& config_;
  WeightFile file_;
};

}  // namespace

XlnetWeights read_xlnet_weights(const Path& file, const XlnetConfig& config) {
  const torch::NoGradGuard no_gradient;
  return XlnetReader(file, config).read();
}

}  // namespace hgt
