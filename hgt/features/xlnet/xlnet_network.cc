#include "hgt/features/xlnet/xlnet_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "hgt/error.h"
#include "hgt/features/xlnet/relative_attention.h"
#include "hgt/features/xlnet/xlnet_weights.h"
#include "hgt/model/blas_memory.h"
#include "hgt/model/torch.h"

namespace hgt {

struct XlnetNetwork::State {
  XlnetConfig config;
  XlnetWeights weights;
};

namespace {

// Of a batch: with 512 the matrix products of xlnet-base take a fifth longer, with 1024 hardly.
constexpr size_t kBatchTokens = 2048;

constexpr int64_t kRowsPerThread = 16;

using Titles = std::span<const std::vector<int32_t>>;

// The forward pass of one batch of titles, in tensors that serve batch after batch.
class XlnetPass {
 public:
  XlnetPass(const XlnetConfig& config, const XlnetWeights& weights, size_t most_tokens)
      : config_(config), weights_(weights) {
    const auto tokens = static_cast<int64_t>(most_tokens);
    const auto model = static_cast<int64_t>(config.d_model);
    const auto inner = static_cast<int64_t>(config.n_head * config.d_head);
    all_.hidden = at::empty({tokens, model});
    all_.attended = at::empty({tokens, model});
    all_.projections = at::empty({tokens, 3 * inner});
    all_.context = at::empty({tokens, inner});
    all_.fed = at::empty({tokens, static_cast<int64_t>(config.d_inner)});
    token_weight_.resize(most_tokens);
  }

  // rows: [titles, d_model]; hidden_states as in XlnetTrace, or nullptr.
  void run(Titles titles, float* rows, std::vector<std::vector<float>>* hidden_states) {
    embed(titles);
    if (offsets_.back() > 0) {
      keep(hidden_states);
      for (const XlnetLayer& layer : weights_.layers) {
        apply(layer, &layer == &weights_.layers.back());
        keep(hidden_states);
      }
    }
    sum_up(rows);
  }

  std::span<const float> token_weight() const { return {token_weight_.data(), offsets_.back()}; }

 private:
  struct Rows {
    at::Tensor hidden;       // [tokens, d_model]: what goes into a layer, and comes out
    at::Tensor attended;     // [tokens, d_model]: between its two parts
    at::Tensor projections;  // [tokens, 3 * inner]
    at::Tensor context;      // [tokens, inner]
    at::Tensor fed;          // [tokens, d_inner]
  };

  void embed(Titles titles) {
    offsets_.assign(1, 0);
    for (const std::vector<int32_t>& ids : titles) {
      offsets_.push_back(offsets_.back() + static_cast<uint32_t>(ids.size()));
    }
    const int64_t tokens = offsets_.back();
    now_ = {.hidden = all_.hidden.narrow(0, 0, tokens),
            .attended = all_.attended.narrow(0, 0, tokens),
            .projections = all_.projections.narrow(0, 0, tokens),
            .context = all_.context.narrow(0, 0, tokens),
            .fed = all_.fed.narrow(0, 0, tokens)};
    const float* const words = weights_.word_embedding.data_ptr<float>();
    auto* to = now_.hidden.data_ptr<float>();
    for (const std::vector<int32_t>& ids : titles) {
      for (const int32_t id : ids) {
        std::memcpy(to, words + static_cast<uint64_t>(id) * config_.d_model,
                    config_.d_model * sizeof(float));
        to += config_.d_model;
      }
    }
  }

  // Both parts add to their input in place, and the norm brings the sum to the other tensor.
  void apply(const XlnetLayer& layer, bool weigh_tokens) {
    at::mm_out(now_.projections, now_.hidden, layer.projection);
    attend(layer, weigh_tokens);
    now_.hidden.addmm_(now_.context, layer.output);
    normalize({.rows = now_.hidden.data_ptr<float>(),
               .weight = layer.attention_weight.data_ptr<float>(),
               .shift = layer.attention_shift.data_ptr<float>(),
               .out = now_.attended.data_ptr<float>()});
    at::addmm_out(now_.fed, layer.feed_in_bias, now_.attended, layer.feed_in);
    activate();
    now_.attended.addmm_(now_.fed, layer.feed_out);
    normalize({.rows = now_.attended.data_ptr<float>(),
               .bias = layer.feed_out_bias.data_ptr<float>(),
               .weight = layer.feed_weight.data_ptr<float>(),
               .shift = layer.feed_shift.data_ptr<float>(),
               .out = now_.hidden.data_ptr<float>()});
  }

  void attend(const XlnetLayer& layer, bool weigh_tokens) {
    const RelativeAttention attention = {
        .heads = static_cast<uint32_t>(config_.n_head),
        .width = static_cast<uint32_t>(config_.d_head),
        .projections = now_.projections.data_ptr<float>(),
        .content_bias = layer.content_bias.data_ptr<float>(),
        .position_bias = layer.position_bias.data_ptr<float>(),
        .position_keys = layer.position_keys.data_ptr<float>(),
        .offsets = offsets_.data(),
        .context = now_.context.data_ptr<float>(),
        .token_weight = weigh_tokens ? token_weight_.data() : nullptr};
    const auto titles = static_cast<int64_t>(offsets_.size()) - 1;
    at::parallel_for(0, titles, 1, [&](int64_t first, int64_t end) {
      std::vector<float> scratch(relative_attention_scratch(attention.width));
      kernels_.attend(attention, scratch.data(), static_cast<uint32_t>(first),
                      static_cast<uint32_t>(end));
    });
  }

  void normalize(RowNorm norm) {
    norm.width = config_.d_model;
    norm.eps = static_cast<float>(config_.layer_norm_eps);
    at::parallel_for(0, offsets_.back(), kRowsPerThread, [&](int64_t first, int64_t end) {
      kernels_.normalize(norm, static_cast<uint64_t>(first), static_cast<uint64_t>(end));
    });
  }

  void activate() {
    require_headroom();
    switch (config_.ff_activation) {
      case XlnetActivation::gelu:
        at::gelu_(now_.fed);
        break;
      case XlnetActivation::gelu_new:
        at::gelu_(now_.fed, "tanh");
        break;
      case XlnetActivation::relu:
        at::relu_(now_.fed);
        break;
    }
  }

  void keep(std::vector<std::vector<float>>* hidden_states) const {
    if (hidden_states == nullptr) return;
    const auto* const from = now_.hidden.data_ptr<float>();
    hidden_states->emplace_back(from, from + now_.hidden.numel());
  }

  void sum_up(float* rows) const {
    const float* hidden = now_.hidden.data_ptr<float>();
    for (size_t title = 0; title + 1 < offsets_.size(); ++title, rows += config_.d_model) {
      std::fill_n(rows, config_.d_model, 0.0F);
      for (uint32_t token = offsets_[title]; token < offsets_[title + 1]; ++token) {
        for (uint64_t d = 0; d < config_.d_model; ++d) rows[d] += token_weight_[token] * hidden[d];
        hidden += config_.d_model;
      }
    }
  }

  const XlnetConfig& config_;
  const XlnetWeights& weights_;
  const XlnetKernels& kernels_ = xlnet_kernels();
  Rows all_;
  Rows now_;                         // the first rows of all_
  std::vector<uint32_t> offsets_;    // [titles + 1] into the tokens
  std::vector<float> token_weight_;  // [tokens]
};

void check_ids(const std::vector<int32_t>& ids, size_t title, uint64_t vocab_size) {
  if (ids.size() > kMaxTitleIds) {
    throw Error(fmt::format("title {} has {} ids, but at most {} are possible; shorten it", title,
                            ids.size(), kMaxTitleIds));
  }
  for (const int32_t id : ids) {
    if (id >= 0 && static_cast<uint64_t>(id) < vocab_size) continue;
    throw Error(
        fmt::format("title {} has the id {}, but the model has {} words; use its own spiece.model",
                    title, id, vocab_size));
  }
}

}  // namespace

XlnetNetwork XlnetNetwork::open(const Path& folder) {
  const XlnetConfig config = read_xlnet_config(folder / "config.json");
  XlnetWeights weights = read_xlnet_weights(folder / "model.safetensors", config);
  return XlnetNetwork(std::make_unique<const State>(State{config, std::move(weights)}));
}

XlnetNetwork::XlnetNetwork(std::unique_ptr<const State> state) : state_(std::move(state)) {}
XlnetNetwork::XlnetNetwork(XlnetNetwork&& other) noexcept = default;
XlnetNetwork& XlnetNetwork::operator=(XlnetNetwork&& other) noexcept = default;
XlnetNetwork::~XlnetNetwork() = default;

const XlnetConfig& XlnetNetwork::config() const { return state_->config; }

void XlnetNetwork::encode(std::span<const std::vector<int32_t>> titles,
                          std::span<float> rows) const {
  const uint64_t width = state_->config.d_model;
  assert(rows.size() == titles.size() * width);
  size_t tokens = 0;
  for (size_t title = 0; title < titles.size(); ++title) {
    check_ids(titles[title], title, state_->config.vocab_size);
    tokens += titles[title].size();
  }
  const torch::NoGradGuard no_gradient;
  XlnetPass pass(state_->config, state_->weights, std::min(tokens, kBatchTokens));
  for (size_t first = 0; first < titles.size();) {
    size_t end = first;
    size_t batch_tokens = 0;
    while (end < titles.size() && batch_tokens + titles[end].size() <= kBatchTokens) {
      batch_tokens += titles[end++].size();
    }
    pass.run(titles.subspan(first, end - first), rows.data() + first * width, nullptr);
    first = end;
  }
}

XlnetTrace XlnetNetwork::trace(const std::vector<int32_t>& ids) const {
  check_ids(ids, 0, state_->config.vocab_size);
  assert(!ids.empty());
  const torch::NoGradGuard no_gradient;
  XlnetPass pass(state_->config, state_->weights, ids.size());
  XlnetTrace trace;
  trace.title_vector.resize(state_->config.d_model);
  pass.run({&ids, 1}, trace.title_vector.data(), &trace.hidden_states);
  trace.token_weight.assign(pass.token_weight().begin(), pass.token_weight().end());
  return trace;
}

}  // namespace hgt
