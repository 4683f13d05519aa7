// XLNet (Yang et al., NeurIPS 2019) as an encoder of titles: ids in, vectors out.
//
// The vector of a title is the sum over its tokens of their hidden states before the last layer,
// each times the attention that the token gets in the layer before the last: the mean over its
// heads and over all tokens that attend. The last layer has no part in it and is never computed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/features/xlnet/xlnet_config.h"

namespace hgt {

// How the vector of one title came about.
struct XlnetTrace {
  // n_layer times [tokens, d_model]: the embeddings, then what every layer but the last gives.
  std::vector<std::vector<float>> hidden_states;
  std::vector<float> token_weight;  // [tokens], sums to 1
  std::vector<float> title_vector;  // [d_model]
};

// Any number of threads may use one at the same time. Each call computes with as many threads as
// LibTorch has (hgt/model/machine.h).
class XlnetNetwork {
 public:
  // The folder holds config.json and model.safetensors.
  static XlnetNetwork open(const Path& folder);
  XlnetNetwork(XlnetNetwork&& other) noexcept;
  XlnetNetwork& operator=(XlnetNetwork&& other) noexcept;
  ~XlnetNetwork();

  const XlnetConfig& config() const;

  // rows: [titles, d_model]. A title has at most kMaxTitleIds ids, each below vocab_size, or Error
  // is thrown; one without ids has no vector and gets zeros. Titles go through the network many at
  // a time, of all lengths and without padding; with whom makes no difference but rounding.
  void encode(std::span<const std::vector<int32_t>> titles, std::span<float> rows) const;

  XlnetTrace trace(const std::vector<int32_t>& ids) const;  // of at least one id

 private:
  struct State;
  explicit XlnetNetwork(std::unique_ptr<const State> state);

  std::unique_ptr<const State> state_;
};

}  // namespace hgt
