#include "hgt/features/transformer/transformer_pass.h"

#include <fmt/format.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/model/blas_memory.h"

namespace hgt {

namespace {

// Of a batch: with 512 the matrix products of xlnet-base take a fifth longer, with 1024 hardly.
constexpr size_t kBatchTokens = 2048;

constexpr int64_t kRowsPerThread = 16;

const float* data_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

}  // namespace

size_t end_of_batch(TitleIds titles, size_t first) {
  size_t end = first + 1;
  size_t tokens = titles[first].size();
  while (end < titles.size() && tokens + titles[end].size() <= kBatchTokens) {
    tokens += titles[end++].size();
  }
  return end;
}

BatchSize size_of_batches(TitleIds titles) {
  BatchSize most;
  for (const std::vector<int32_t>& ids : titles) {
    most.tokens += ids.size();
    most.longest = std::max(most.longest, ids.size());
  }
  most.tokens = std::min(most.tokens, std::max(kBatchTokens, most.longest));
  return most;
}

void check_ids(TitleIds titles, size_t most, uint64_t vocab_size, std::string_view file) {
  for (size_t title = 0; title < titles.size(); ++title) {
    const std::vector<int32_t>& ids = titles[title];
    if (ids.size() > most) {
      throw Error(fmt::format("title {} has {} ids, but at most {} are possible; shorten it", title,
                              ids.size(), most));
    }
    for (const int32_t id : ids) {
      if (id >= 0 && static_cast<uint64_t>(id) < vocab_size) continue;
      throw Error(fmt::format("title {} has the id {}, but the model has {} words; use its own {}",
                              title, id, vocab_size, file));
    }
  }
}

TransformerPass::TransformerPass(const TransformerShape& shape, BatchSize most)
    : shape_(shape), longest_(static_cast<uint32_t>(most.longest)) {
  const auto tokens = static_cast<int64_t>(most.tokens);
  const auto width = static_cast<int64_t>(shape.width);
  const auto all = static_cast<int64_t>(shape.heads * shape.head_width);
  all_.hidden = at::empty({tokens, width});
  all_.attended = at::empty({tokens, width});
  all_.projections = at::empty({tokens, 3 * all});
  all_.context = at::empty({tokens, all});
  all_.fed = at::empty({tokens, static_cast<int64_t>(shape.inner)});
}

void TransformerPass::begin(TitleIds titles) {
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
}

// Both parts add to their input in place, and the norm brings the sum to the other tensor.
void TransformerPass::apply(const TransformerLayer& layer, float* token_weight) {
  if (num_tokens() == 0) return;
  if (layer.projection_bias.defined()) {
    at::addmm_out(now_.projections, layer.projection_bias, now_.hidden, layer.projection);
  } else {
    at::mm_out(now_.projections, now_.hidden, layer.projection);
  }
  attend(layer, token_weight);
  now_.hidden.addmm_(now_.context, layer.output);
  normalize({.rows = now_.hidden.data_ptr<float>(),
             .bias = data_or_null(layer.output_bias),
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

void TransformerPass::attend(const TransformerLayer& layer, float* token_weight) {
  const TitleAttention attention = {.heads = static_cast<uint32_t>(shape_.heads),
                                    .width = static_cast<uint32_t>(shape_.head_width),
                                    .projections = now_.projections.data_ptr<float>(),
                                    .content_bias = data_or_null(layer.content_bias),
                                    .position_bias = data_or_null(layer.position_bias),
                                    .position_keys = data_or_null(layer.position_keys),
                                    .offsets = offsets_.data(),
                                    .context = now_.context.data_ptr<float>(),
                                    .token_weight = token_weight};
  const auto titles = static_cast<int64_t>(offsets_.size()) - 1;
  at::parallel_for(0, titles, 1, [&](int64_t first, int64_t end) {
    std::vector<float> scratch(title_attention_scratch(attention.width, longest_));
    kernels_.attend(attention, scratch.data(), static_cast<uint32_t>(first),
                    static_cast<uint32_t>(end));
  });
}

void TransformerPass::normalize(RowNorm norm) {
  norm.width = shape_.width;
  norm.eps = static_cast<float>(shape_.layer_norm_eps);
  at::parallel_for(0, offsets_.back(), kRowsPerThread, [&](int64_t first, int64_t end) {
    kernels_.normalize(norm, static_cast<uint64_t>(first), static_cast<uint64_t>(end));
  });
}

void TransformerPass::activate() {
  require_headroom();
  switch (shape_.activation) {
    case FeedActivation::gelu:
      at::gelu_(now_.fed);
      break;
    case FeedActivation::gelu_new:
      at::gelu_(now_.fed, "tanh");
      break;
    case FeedActivation::relu:
      at::relu_(now_.fed);
      break;
  }
}

}  // namespace hgt
