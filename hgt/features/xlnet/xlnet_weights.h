// The weights of an XLNet as its forward pass needs them.
#pragma once

#include <vector>

#include "hgt/features/xlnet/xlnet_config.h"
#include "hgt/model/torch.h"

namespace hgt {

// Everything in float. inner = n_head * d_head. The scale 1 / sqrt(d_head) of the scores is
// multiplied into what makes queries.
struct XlnetLayer {
  at::Tensor projection;        // [d_model, 3 * inner]: q, k, v
  at::Tensor content_bias;      // [inner]: r_w_bias
  at::Tensor position_bias;     // [inner]: r_r_bias
  at::Tensor position_keys;     // [n_head, d_head, kPositions], see relative_attention.h
  at::Tensor output;            // [inner, d_model]: o, transposed
  at::Tensor attention_weight;  // [d_model]: of the norm after attention
  at::Tensor attention_shift;
  at::Tensor feed_in;        // [d_model, d_inner]: ff.layer_1, transposed
  at::Tensor feed_in_bias;   // [d_inner]
  at::Tensor feed_out;       // [d_inner, d_model]: ff.layer_2, transposed
  at::Tensor feed_out_bias;  // [d_model]
  at::Tensor feed_weight;    // [d_model]: of the norm after the feed-forward part
  at::Tensor feed_shift;
};

struct XlnetWeights {
  at::Tensor word_embedding;       // [vocab_size, d_model]
  std::vector<XlnetLayer> layers;  // n_layer - 1: no title vector needs the last
};

// From a .safetensors file with the public names, with or without "transformer." before them, in
// F32, F16 or BF16. Tensors that are not needed are read over. Throws Error when one is missing,
// does not fit the config, or holds infinities or NaN.
XlnetWeights read_xlnet_weights(const Path& file, const XlnetConfig& config);

}  // namespace hgt
