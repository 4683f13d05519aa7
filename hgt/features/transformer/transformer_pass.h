// The layers of a text encoder, applied to many titles at once: of all lengths, one behind the
// other in the rows of a matrix, without padding. With whom a title is makes no difference but
// rounding.
//
//   TransformerPass pass(shape, size_of_batches(titles));
//   for (size_t first = 0, end = 0; first < titles.size(); first = end) {
//     end = end_of_batch(titles, first);
//     pass.begin(titles.subspan(first, end - first));
//     ... fill pass.hidden() with the embeddings of its tokens
//     for (const TransformerLayer& layer : layers) pass.apply(layer);
//     ... read pass.hidden()
//   }
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hgt/features/transformer/feed_activation.h"
#include "hgt/features/transformer/title_attention.h"
#include "hgt/model/torch.h"

namespace hgt {

using TitleIds = std::span<const std::vector<int32_t>>;

struct TransformerShape {
  uint64_t width = 0;  // of the rows
  uint64_t heads = 0;
  uint64_t head_width = 0;
  uint64_t inner = 0;  // between the two matrices of the feed-forward part
  FeedActivation activation = FeedActivation::gelu;
  double layer_norm_eps = 0;
};

// Everything in float; all = heads * head_width. The scale 1 / sqrt(head_width) of the scores is
// multiplied into what makes queries. What an encoder does not have is left undefined.
struct TransformerLayer {
  at::Tensor projection;        // [width, 3 * all]: q, k, v
  at::Tensor projection_bias;   // [3 * all], or undefined
  at::Tensor content_bias;      // [all], or undefined: r_w_bias
  at::Tensor position_bias;     // [all], or undefined: r_r_bias
  at::Tensor position_keys;     // [heads, head_width, kPositions], or undefined (title_attention.h)
  at::Tensor output;            // [all, width]
  at::Tensor output_bias;       // [width], or undefined
  at::Tensor attention_weight;  // [width]: of the norm after attention
  at::Tensor attention_shift;
  at::Tensor feed_in;        // [width, inner]
  at::Tensor feed_in_bias;   // [inner]
  at::Tensor feed_out;       // [inner, width]
  at::Tensor feed_out_bias;  // [width]
  at::Tensor feed_weight;    // [width]: of the norm after the feed-forward part
  at::Tensor feed_shift;
};

// Tokens of a batch, and of a title.
struct BatchSize {
  size_t tokens = 0;
  size_t longest = 0;
};
BatchSize size_of_batches(TitleIds titles);  // the largest there will be
// Behind the last title of the batch that begins with `first`: at least one.
size_t end_of_batch(TitleIds titles, size_t first);

// Throws Error: a title of more than `most` ids, or an id that is none of the vocabulary, whose
// file is named.
void check_ids(TitleIds titles, size_t most, uint64_t vocab_size, std::string_view file);

// In tensors that serve batch after batch. Needs a torch::NoGradGuard.
class TransformerPass {
 public:
  TransformerPass(const TransformerShape& shape, BatchSize most);

  void begin(TitleIds titles);
  float* hidden() { return now_.hidden.data_ptr<float>(); }       // [tokens, width]
  float* scratch() { return now_.attended.data_ptr<float>(); }    // likewise, lost by apply()
  std::span<const uint32_t> offsets() const { return offsets_; }  // [titles + 1] into the tokens
  uint64_t num_tokens() const { return offsets_.back(); }

  // hidden() -> hidden(). token_weight: [tokens], see TitleAttention, or nullptr.
  void apply(const TransformerLayer& layer, float* token_weight = nullptr);
  void normalize(RowNorm norm);  // all rows; width and eps are those of the shape

 private:
  struct Rows {
    at::Tensor hidden;       // [tokens, width]: what goes into a layer, and comes out
    at::Tensor attended;     // [tokens, width]: between its two parts
    at::Tensor projections;  // [tokens, 3 * all]
    at::Tensor context;      // [tokens, all]
    at::Tensor fed;          // [tokens, inner]
  };

  void attend(const TransformerLayer& layer, float* token_weight);
  void activate();

  TransformerShape shape_;
  uint32_t longest_;
  const TitleKernels& kernels_ = title_kernels();
  Rows all_;
  Rows now_;  // the first rows of all_
  std::vector<uint32_t> offsets_;
};

}  // namespace hgt
