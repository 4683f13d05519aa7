// The shape of a BERT, and what becomes of its token vectors: config.json and the files of
// sentence-transformers beside it. Knows no torch.
#pragma once

#include <cstdint>

#include "hgt/disk/file.h"
#include "hgt/features/transformer/feed_activation.h"

namespace hgt {

enum class BertPooling { mean, cls };  // mean: over all tokens, [CLS] and [SEP] included

struct BertConfig {
  uint64_t vocab_size = 0;
  uint64_t hidden_size = 0;
  uint64_t num_hidden_layers = 0;
  uint64_t num_attention_heads = 0;
  uint64_t intermediate_size = 0;
  uint64_t max_position_embeddings = 0;
  uint64_t type_vocab_size = 2;
  FeedActivation hidden_act = FeedActivation::gelu;
  double layer_norm_eps = 1e-12;

  uint64_t max_seq_length = 0;  // tokens of a title, at least 2; at most max_position_embeddings
  BertPooling pooling = BertPooling::mean;
  bool normalize = false;  // vectors have the length 1
};

// From config.json and, where they are there, sentence_bert_config.json (max_seq_length),
// 1_Pooling/config.json and modules.json (a last step that normalizes). Throws Error for what this
// code does not compute: models of other types, other positions, other poolings, other modules.
BertConfig read_bert_config(const Path& folder);

}  // namespace hgt
