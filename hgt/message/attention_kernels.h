// The inner loops of heterogeneous mutual attention, on plain arrays: written once, compiled three
// times (for AVX-512, for AVX2 with FMA, and with 16-byte vectors for any processor), chosen when
// the program runs.
//
// Vectors of d = heads * width numbers, head after head; block-diagonal matrices of `heads` blocks
// [width][width], or of one block for all heads. A vector times such a matrix is
//   y[head * width + j] = sum over i < width of x[head * width + i] M[head][i][j]
// Loops over edges read tables as AttentionPlan lays them out; equations and gradients of what the
// kernels compute together: attention.h. A kernel computes a range of rows, and what it writes
// depends on no other range: callers share ranges out to threads as they like.
#pragma once

#include <cstdint>
#include <string_view>

#include "hgt/message/attention_plan.h"

namespace hgt {

// Rows of a table, by their place in a list; without a list, as they come.
template <typename T>
struct RowList {
  T* data = nullptr;               // row 0
  uint64_t stride = 0;             // numbers from a row to the next; at least d
  const uint32_t* rows = nullptr;  // [places] a row each; nullptr: place i is row i

  [[gnu::always_inline]] T* operator[](uint32_t place) const {
    return data + stride * (rows == nullptr ? place : rows[place]);
  }
};

constexpr uint32_t kMostHeads = 256;  // the loops keep a number for each head on the stack

struct HeadShape {
  uint32_t heads = 1;
  uint32_t width = 1;   // of one head, d / h
  bool shared = false;  // all heads have the same matrix, which is there once

  [[gnu::always_inline]] uint32_t hidden() const { return heads * width; }
  // Matrices of a relation, the numbers in them, and where that of a head begins among these.
  uint32_t matrices() const { return shared ? 1 : heads; }
  uint64_t numbers_per_relation() const { return uint64_t{matrices()} * width * width; }
  [[gnu::always_inline]] uint64_t matrix_at(uint64_t head) const {
    return shared ? 0 : head * width * width;
  }
};

// to[i] = from[i] M, or to[i] += from[i] M if `add`. No row may occur twice in `to` of one call,
// and `to` may not overlap `from`.
template <typename T>
struct BlockProduct {
  HeadShape shape = {};
  RowList<const T> from = {};
  RowList<T> to = {};
  const T* matrix = nullptr;  // [heads or 1][width][width]
  bool add = false;
};

// gradient[head] += sum over i of left[i]^T right[i], each the part of one head: the gradient of M
// in right = left M, given `left` and the gradient of `right`. If the heads share one matrix, they
// all add to it.
template <typename T>
struct BlockGradient {
  HeadShape shape = {};
  RowList<const T> left = {};
  RowList<const T> right = {};
  T* gradient = nullptr;  // [heads or 1][width][width]
};

// A target table (attention_plan.h), whose first rows belong to the targets and the others to
// pairs, in two arrays: row r < num_targets is row r of `targets`, any other row r - num_targets of
// `pairs`.
template <typename T>
struct SplitTable {
  T* targets = nullptr;  // [targets, d]
  T* pairs = nullptr;    // [target pairs, d]; only rows of the targets at hand have to be there
};

// What the kernels read of an AttentionPlan, as plain pointers; fields as there.
struct PlanArrays {
  explicit PlanArrays(const AttentionPlan& plan);

  const uint32_t* edge_source;
  const uint32_t* edge_time;  // nullptr: not temporal
  const EdgeGroup* groups;
  const uint32_t* target_groups;
  const EdgeUse* uses;
  const UseChunk* chunks;
  uint32_t num_targets;
  uint32_t num_edges;
};

// The forward pass over edges: score, a and sum from key, msg and q (attention.h).
template <typename T>
struct EdgePass {
  PlanArrays plan;
  HeadShape shape = {};
  const T* sources = nullptr;        // [source rows, 2d] keys and messages, all rows filled
  SplitTable<const T> queries = {};  // [target rows, d] q
  T* weights = nullptr;              // [edges, heads] a, in the plan's order
  SplitTable<T> sums = {};           // [target rows, d] sum: of pairs not yet times W'
};

// The backward pass over edges: dscore, dq, dkey and dmsg from dsum and what the forward pass left.
template <typename T>
struct EdgeGradientPass {
  EdgePass<T> forward = {};                // here sums.targets is neither read nor written
  const T* outputs = nullptr;              // [targets, d] H~, sums of pairs included
  SplitTable<const T> sum_gradients = {};  // [target rows, d] dsum
  T* score_gradients = nullptr;            // [edges, heads] dscore
  SplitTable<T> query_gradients = {};      // [target rows, d] dq; of pairs not yet times W
  T* source_gradients = nullptr;           // [source rows, 2d] dkey | dmsg
  T* partials = nullptr;                   // [partials, 2d] the same of chunks of one row
};

template <typename T>
struct AttentionKernels {
  // Places [first, last) of the lists.
  void (*multiply)(const BlockProduct<T>&, uint32_t first, uint32_t last);
  void (*outer)(const BlockGradient<T>&, uint32_t first, uint32_t last);
  // Scores, softmax and weighted sums: all edges of targets [first, last). Overwrites `weights` of
  // these edges and `sums` of their rows.
  void (*attend_edges)(const EdgePass<T>&, uint32_t first, uint32_t last);
  // Gradients of scores and queries: all edges of targets [first, last). Overwrites score_gradients
  // and query_gradients; works the sums of pairs out again, into forward.sums.pairs.
  void (*attend_edges_backward)(const EdgeGradientPass<T>&, uint32_t first, uint32_t last);
  // Gradients of the rows of the source table, chunks [first, last), once attend_edges_backward has
  // seen all targets. Overwrites each row or partial.
  void (*gather_gradients)(const EdgeGradientPass<T>&, uint32_t first, uint32_t last);
};

enum class Instructions { portable, avx2, avx512 };  // each includes those before

Instructions best_instructions();  // that this processor has
// What the whole process computes with: the best, unless use_instructions() said otherwise. Results
// of different instructions differ in their last bits.
Instructions current_instructions();
void use_instructions(Instructions instructions);  // throws Error: this processor has them not
std::string_view to_string(Instructions instructions);

// Defined for float and double.
template <typename T>
const AttentionKernels<T>& attention_kernels(Instructions instructions);

namespace avx2 {
template <typename T>
const AttentionKernels<T>& kernels();
}
namespace avx512 {
template <typename T>
const AttentionKernels<T>& kernels();
}
namespace portable {
template <typename T>
const AttentionKernels<T>& kernels();
}

}  // namespace hgt
