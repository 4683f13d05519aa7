// The weights of a BERT as its forward pass needs them.
#pragma once

#include <vector>

#include "hgt/features/bert/bert_config.h"
#include "hgt/features/transformer/transformer_pass.h"

namespace hgt {

struct BertWeights {
  at::Tensor word_embedding;      // [vocab_size, hidden_size]
  at::Tensor position_embedding;  // [max_position_embeddings, hidden_size], with that of segment 0
  at::Tensor embedding_weight;    // [hidden_size]: of the norm after embedding
  at::Tensor embedding_shift;
  std::vector<TransformerLayer> layers;
};

// From a .safetensors file with the public names, with or without "bert." before them; norms may
// have the names of older files, gamma and beta. Tensors that are not needed are read over. Throws
// Error when one is missing, does not fit the config, or holds infinities or NaN.
BertWeights read_bert_weights(const Path& file, const BertConfig& config);

}  // namespace hgt
