#include "hgt/features/xlnet/xlnet_network.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "hgt/features/tokens/xlnet_tokenizer.h"
#include "hgt/features/transformer/transformer_pass.h"
#include "hgt/features/xlnet/xlnet_weights.h"
#include "hgt/model/torch.h"

namespace hgt {

struct XlnetNetwork::State {
  XlnetConfig config;
  XlnetWeights weights;
};

namespace {

// The forward pass of one batch of titles after another.
class XlnetPass {
 public:
  XlnetPass(const XlnetConfig& config, const XlnetWeights& weights, BatchSize most)
      : config_(config),
        weights_(weights),
        pass_({.width = config.d_model,
               .heads = config.n_head,
               .head_width = config.d_head,
               .inner = config.d_inner,
               .activation = config.ff_activation,
               .layer_norm_eps = config.layer_norm_eps},
              most),
        token_weight_(most.tokens) {}

  // rows: [titles, d_model]; hidden_states as in XlnetTrace, or nullptr.
  void run(TitleIds titles, float* rows, std::vector<std::vector<float>>* hidden_states) {
    pass_.begin(titles);
    embed(titles);
    keep(hidden_states);
    for (const TransformerLayer& layer : weights_.layers) {
      const bool last = &layer == &weights_.layers.back();
      pass_.apply(layer, last ? token_weight_.data() : nullptr);
      keep(hidden_states);
    }
    sum_up(rows);
  }

  std::span<const float> token_weight() const { return {token_weight_.data(), pass_.num_tokens()}; }

 private:
  void embed(TitleIds titles) {
    const float* const words = weights_.word_embedding.data_ptr<float>();
    float* to = pass_.hidden();
    for (const std::vector<int32_t>& ids : titles) {
      for (const int32_t id : ids) {
        std::memcpy(to, words + static_cast<uint64_t>(id) * config_.d_model,
                    config_.d_model * sizeof(float));
        to += config_.d_model;
      }
    }
  }

  void keep(std::vector<std::vector<float>>* hidden_states) {
    if (hidden_states == nullptr) return;
    const float* const from = pass_.hidden();
    hidden_states->emplace_back(from, from + pass_.num_tokens() * config_.d_model);
  }

  void sum_up(float* rows) {
    const float* hidden = pass_.hidden();
    const std::span<const uint32_t> offsets = pass_.offsets();
    for (size_t title = 0; title + 1 < offsets.size(); ++title, rows += config_.d_model) {
      std::fill_n(rows, config_.d_model, 0.0F);
      for (uint32_t token = offsets[title]; token < offsets[title + 1]; ++token) {
        for (uint64_t d = 0; d < config_.d_model; ++d) rows[d] += token_weight_[token] * hidden[d];
        hidden += config_.d_model;
      }
    }
  }

  const XlnetConfig& config_;
  const XlnetWeights& weights_;
  TransformerPass pass_;
  std::vector<float> token_weight_;  // [tokens]
};

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

void XlnetNetwork::encode(TitleIds titles, std::span<float> rows) const {
  const uint64_t width = state_->config.d_model;
  assert(rows.size() == titles.size() * width);
  check_ids(titles, kMaxTitleIds, state_->config.vocab_size, "spiece.model");
  const torch::NoGradGuard no_gradient;
  XlnetPass pass(state_->config, state_->weights, size_of_batches(titles));
  for (size_t first = 0, end = 0; first < titles.size(); first = end) {
    end = end_of_batch(titles, first);
    pass.run(titles.subspan(first, end - first), rows.data() + first * width, nullptr);
  }
}

XlnetTrace XlnetNetwork::trace(const std::vector<int32_t>& ids) const {
  const TitleIds titles(&ids, 1);
  check_ids(titles, kMaxTitleIds, state_->config.vocab_size, "spiece.model");
  assert(!ids.empty());
  const torch::NoGradGuard no_gradient;
  XlnetPass pass(state_->config, state_->weights, size_of_batches(titles));
  XlnetTrace trace;
  trace.title_vector.resize(state_->config.d_model);
  pass.run(titles, trace.title_vector.data(), &trace.hidden_states);
  trace.token_weight.assign(pass.token_weight().begin(), pass.token_weight().end());
  return trace;
}

}  // namespace hgt
