#include "hgt/features/xlnet/xlnet_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "hgt/disk/tensor_file.h"
#include "hgt/error.h"
#include "hgt/features/xlnet/relative_attention.h"

namespace hgt {

namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

class WeightReader {
 public:
  WeightReader(const Path& path, const XlnetConfig& config)
      : path_(path), config_(config), file_(TensorFile::open(path)) {
    if (file_.find("word_embedding.weight") == nullptr) prefix_ = "transformer.";
    check_layers();
  }

  XlnetWeights read() const {
    XlnetWeights weights;
    weights.word_embedding = tensor("word_embedding.weight", {config_.vocab_size, config_.d_model});
    const at::Tensor positions = position_encodings();
    for (uint64_t i = 0; i + 1 < config_.n_layer; ++i)
      weights.layers.push_back(layer(i, positions));
    return weights;
  }

 private:
  // A file of more layers than the config says would give vectors, but wrong ones.
  void check_layers() const {
    uint64_t layers = 0;
    const std::string start = prefix_ + "layer.";
    for (const TensorView& view : file_.tensors()) {
      if (!view.name.starts_with(start)) continue;
      uint64_t number = 0;
      const char* const end = view.name.data() + view.name.size();
      const auto parsed = std::from_chars(view.name.data() + start.size(), end, number);
      if (parsed.ec == std::errc()) layers = std::max(layers, number + 1);
    }
    if (layers == 0 || layers == config_.n_layer) return;  // 0: a missing tensor will be named
    throw Error(fmt::format(
        "{}: holds {} layers, but config.json beside it says n_layer = {}; use the config.json "
        "that belongs to the weights",
        path_.string(), layers, config_.n_layer));
  }

  const TensorView& find(const std::string& name) const {
    if (const TensorView* const view = file_.find(prefix_ + name)) return *view;
    throw Error(
        fmt::format("{}: has no tensor {} (with or without \"transformer.\" before it); use the "
                    "weights of an XLNet with n_layer = {}",
                    path_.string(), name, config_.n_layer));
  }

  at::ScalarType scalar_type(const TensorView& view) const {
    switch (view.type) {
      case ElementType::float32:
        return at::kFloat;
      case ElementType::float16:
        return at::kHalf;
      case ElementType::bfloat16:
        return at::kBFloat16;
      default:
        throw Error(fmt::format("{}: tensor {} is {}; convert it to F32, F16 or BF16",
                                path_.string(), view.name, to_string(view.type)));
    }
  }

  at::Tensor tensor(const std::string& name, const std::vector<uint64_t>& shape) const {
    const TensorView& view = find(name);
    if (view.shape != shape) {
      throw Error(
          fmt::format("{}: tensor {} has the shape {}, but config.json beside it requires {}; use "
                      "the config.json that belongs to the weights",
                      path_.string(), view.name, shape_text(view.shape), shape_text(shape)));
    }
    const std::vector<int64_t> sizes(shape.begin(), shape.end());
    const at::Tensor stored = at::empty(sizes, scalar_type(view));
    std::memcpy(stored.data_ptr(), view.data.data(), view.data.size());
    at::Tensor values = stored.to(at::kFloat);
    if (!at::isfinite(values.sum()).item<bool>() && !at::isfinite(values).all().item<bool>()) {
      throw Error(fmt::format("{}: tensor {} contains infinities or NaN; download the file again",
                              path_.string(), view.name));
    }
    return values;
  }

  // [d_model, n_head, d_head] as a matrix.
  at::Tensor heads(const std::string& name) const {
    return tensor(name, {config_.d_model, config_.n_head, config_.d_head}).flatten(1);
  }

  // Row m is position kMaxTitleIds - m: sines of its multiples, then cosines.
  at::Tensor position_encodings() const {
    const auto half = static_cast<int64_t>(config_.d_model / 2);
    const at::Tensor encodings = at::empty({kPositions, 2 * half});
    auto rows = encodings.accessor<float, 2>();
    for (int64_t m = 0; m < kPositions; ++m) {
      auto position = static_cast<double>(static_cast<int64_t>(kMaxTitleIds) - m);
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

  XlnetLayer layer(uint64_t number, const at::Tensor& positions) const {
    const std::string name = fmt::format("layer.{}.", number);
    const std::string attention = name + "rel_attn.";
    const std::string feed = name + "ff.";
    const std::vector<uint64_t> bias = {config_.n_head, config_.d_head};
    const std::vector<uint64_t> model = {config_.d_model};
    const double scale = 1 / std::sqrt(static_cast<double>(config_.d_head));
    const auto head_width = static_cast<int64_t>(config_.d_head);
    XlnetLayer read;
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

  const Path& path_;
  const XlnetConfig& config_;
  TensorFile file_;
  std::string prefix_;
};

}  // namespace

XlnetWeights read_xlnet_weights(const Path& file, const XlnetConfig& config) {
  const torch::NoGradGuard no_gradient;
  return WeightReader(file, config).read();
}

}  // namespace hgt
