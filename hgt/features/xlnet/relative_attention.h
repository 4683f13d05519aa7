// The inner loops of XLNet on plain arrays: attention with relative positions inside titles, and
// the norm of rows. Written once (relative_attention.inc), compiled for AVX2 and for any processor,
// chosen when the program runs.
//
// Titles lie one behind the other in the rows of a matrix. Attention goes title by title, so titles
// of all lengths share the rows without padding or masks. What a kernel writes for a title or a row
// depends on no other: callers share ranges out to threads as they like.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hgt/features/tokens/xlnet_tokenizer.h"
#include "hgt/features/xlnet/xlnet_config.h"

namespace hgt {

// Columns of a table of positions: column kMaxTitleIds - (i - j) is for query i and key j.
constexpr uint32_t kPositions = 2 * kMaxTitleIds;

// score(i, j) = (q_i + r_w_bias) . k_j + (q_i + r_r_bias) . r_(i - j), as Transformer-XL and XLNet
// have it; softmax over j; context_i = sum over j of softmax(i, j) v_j; for every head.
struct RelativeAttention {
  uint32_t heads = 0;                    // at most 2^16
  uint32_t width = 0;                    // of a head
  const float* projections = nullptr;    // [tokens, 3, heads, width]: q, k, v; q has the scale
  const float* content_bias = nullptr;   // [heads, width]: r_w_bias, scaled as q is
  const float* position_bias = nullptr;  // [heads, width]: r_r_bias, scaled as q is
  const float* position_keys = nullptr;  // [heads, width, kPositions]: r
  const uint32_t* offsets = nullptr;     // title t has tokens offsets[t] to offsets[t + 1]
  float* context = nullptr;              // [tokens, heads, width]
  float* token_weight = nullptr;         // [tokens] mean over heads and queries; may be nullptr
};

// Floats that attend() needs to work in.
constexpr size_t relative_attention_scratch(uint32_t width) {
  return size_t{2} * kMaxTitleIds * (width + size_t{8}) + size_t{2} * width + kMaxTitleIds;
}

// out = (x - mean) / sqrt(variance + eps) weight + shift for every row of x = rows + bias.
struct RowNorm {
  uint64_t width = 0;
  const float* rows = nullptr;    // [.., width]
  const float* bias = nullptr;    // [width]; may be nullptr
  const float* weight = nullptr;  // [width]
  const float* shift = nullptr;   // [width]
  float eps = 0;
  float* out = nullptr;  // [.., width]; not `rows`
};

struct XlnetKernels {
  void (*attend)(const RelativeAttention&, float* scratch, uint32_t first_title,
                 uint32_t end_title);
  void (*normalize)(const RowNorm&, uint64_t first_row, uint64_t end_row);
};

const XlnetKernels& xlnet_kernels();           // the best for this processor
const XlnetKernels& portable_xlnet_kernels();  // for any

namespace xlnet_avx2 {
const XlnetKernels& kernels();
}
namespace xlnet_portable {
const XlnetKernels& kernels();
}

}  // namespace hgt
