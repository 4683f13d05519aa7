// The shape of an XLNet, as the config.json beside its weights gives it.
#pragma once

#include <cstdint>

#include "hgt/disk/file.h"
#include "hgt/features/transformer/feed_activation.h"

namespace hgt {

struct XlnetConfig {
  uint64_t vocab_size = 0;
  uint64_t d_model = 0;
  uint64_t n_layer = 0;
  uint64_t n_head = 0;
  uint64_t d_head = 0;  // left out in the file: d_model / n_head
  uint64_t d_inner = 0;
  FeedActivation ff_activation = FeedActivation::gelu;
  double layer_norm_eps = 1e-12;
  int64_t clamp_len = -1;  // positive: positions further away count as this far away
};

// Throws Error for what this code does not compute: attention to one side (attn_type other than
// "bi"), bi_data, other activations, fewer than two layers. Two fields change nothing here and are
// read over: untie_r (files hold the biases of every layer either way) and same_length (it is about
// attention to one side).
XlnetConfig read_xlnet_config(const Path& file);

}  // namespace hgt
