// The weights of an XLNet as its forward pass needs them.
#pragma once

#include <vector>

#include "hgt/features/transformer/transformer_pass.h"
#include "hgt/features/xlnet/xlnet_config.h"
#include "hgt/model/torch.h"

namespace hgt {

struct XlnetWeights {
  at::Tensor word_embedding;             // [vocab_size, d_model]
  std::vector<TransformerLayer> layers;  // n_layer - 1: no title vector needs the last
};

// From a .safetensors file with the public names, with or without "transformer." before them, in
// F32, F16 or BF16. Tensors that are not needed are read over. Throws Error when one is missing,
// does not fit the config, or holds infinities or NaN.
XlnetWeights read_xlnet_weights(const Path& file, const XlnetConfig& config);

}  // namespace hgt
