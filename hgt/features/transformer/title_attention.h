// The inner loops of text encoders on plain arrays: attention inside titles, with or without
// relative positions, and the norm of rows. Written once (title_attention.inc), compiled for AVX2
// and for any processor, chosen when the program runs.
//
// Titles lie one behind the other in the rows of a matrix. Attention goes title by title, so titles
// of all lengths share the rows without padding or masks. What a kernel writes for a title or a row
// depends on no other: callers share ranges out to threads as they like.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hgt {

// With relative positions a title has at most so many tokens.
constexpr uint32_t kMostRelativeTokens = 64;
// Columns of a table of positions: column kMostRelativeTokens - (i - j) is for query i and key j.
constexpr uint32_t kPositions = 2 * kMostRelativeTokens;

// score(i, j) = q_i . k_j, or, with relative positions, (q_i + r_w_bias) . k_j +
// (q_i + r_r_bias) . r_(i - j), as Transformer-XL and XLNet have it; softmax over j;
// context_i = sum over j of softmax(i, j) v_j; for every head.
struct TitleAttention {
  uint32_t heads = 0;                  // at most 2^16
  uint32_t width = 0;                  // of a head
  const float* projections = nullptr;  // [tokens, 3, heads, width]: q, k, v; q has the scale
  // All three or none.
  const float* content_bias = nullptr;   // [heads, width]: r_w_bias, scaled as q is
  const float* position_bias = nullptr;  // [heads, width]: r_r_bias, scaled as q is
  const float* position_keys = nullptr;  // [heads, width, kPositions]: r
  const uint32_t* offsets = nullptr;     // title t has tokens offsets[t] to offsets[t + 1]
  float* context = nullptr;              // [tokens, heads, width]
  float* token_weight = nullptr;         // [tokens] mean over heads and queries; may be nullptr
};

// Floats that attend() needs to work in, for titles of up to `longest` tokens.
constexpr size_t title_attention_scratch(uint32_t width, uint32_t longest) {
  const size_t tokens = size_t{longest} + 8;
  return 2 * tokens * (width + size_t{8}) + size_t{2} * width + tokens;
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

struct TitleKernels {
  void (*attend)(const TitleAttention&, float* scratch, uint32_t first_title, uint32_t end_title);
  void (*normalize)(const RowNorm&, uint64_t first_row, uint64_t end_row);
};

const TitleKernels& title_kernels();           // the best for this processor
const TitleKernels& portable_title_kernels();  // for any

namespace title_avx2 {
const TitleKernels& kernels();
}
namespace title_portable {
const TitleKernels& kernels();
}

}  // namespace hgt
