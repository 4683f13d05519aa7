// The inner loops of heterogeneous mutual attention, on plain arrays: written once, compiled for
// AVX2 and for any processor, chosen when the program runs.
//
// Vectors of `heads` times `width` numbers; block-diagonal matrices of `heads` blocks
// [width][width], or of one block for all heads. Loops over edges read tables as AttentionPlan lays
// them out. A kernel computes a range of rows, and what it writes depends on no other range:
// callers share ranges out to threads as they like.
#pragma once

#include <cstdint>
#include <string_view>

#include "hgt/message/attention_plan.h"

namespace hgt {

// Rows of a table, by their place in a list; without a list, as they come.
template <typename T>
struct RowList {
  T* data = nullptr;
  uint64_t stride = 0;
  const uint32_t* rows = nullptr;

  [[gnu::always_inline]] T* operator[](uint32_t place) const {
    return data + stride * (rows == nullptr ? place : rows[place]);
  }
};

constexpr uint32_t kMostHeads = 256;

struct HeadShape {
  uint32_t heads = 1;
  uint32_t width = 1;   // of one head, d / h
  bool shared = false;  // all heads have the same matrix, which is there once

  [[gnu::always_inline]] uint32_t hidden() const { return heads * width; }
  // Matrices of a relation, the numbers in them, and where that of a head begins.
  uint32_t matrices() const { return shared ? 1 : heads; }
  uint64_t block() const { return uint64_t{matrices()} * width * width; }
  [[gnu::always_inline]] uint64_t matrix_at(uint64_t head) const {
    return shared ? 0 : head * width * width;
  }
};

// to[i] = from[i] M, or to[i] += from[i] M.
template <typename T>
struct BlockProduct {
  HeadShape shape = {};
  RowList<const T> from = {};
  RowList<T> to = {};
  const T* matrix = nullptr;  // [heads or 1][width][width]
  bool add = false;
};

// gradient[head] += sum over i of the outer products of left[i] and right[i], head by head.
template <typename T>
struct BlockGradient {
  HeadShape shape = {};
  RowList<const T> left = {};
  RowList<const T> right = {};
  T* gradient = nullptr;  // [heads or 1][width][width]
};

// A table whose first rows belong to the targets and the others to pairs, kept apart.
template <typename T>
struct SplitTable {
  T* targets = nullptr;
  T* pairs = nullptr;
};

// What the kernels read of an AttentionPlan, as plain pointers.
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

template <typename T>
struct EdgePass {
  PlanArrays plan;
  HeadShape shape = {};
  const T* sources = nullptr;        // [source rows, 2d] keys and messages
  SplitTable<const T> queries = {};  // [target rows, d]
  T* weights = nullptr;              // [edges, heads] attention, in the plan's order
  SplitTable<T> sums = {};           // [target rows, d] weighted sums of messages
};

template <typename T>
struct EdgeGradientPass {
  EdgePass<T> forward = {};
  const T* outputs = nullptr;              // [targets, d] complete weighted sums
  SplitTable<const T> sum_gradients = {};  // [target rows, d]
  T* score_gradients = nullptr;            // [edges, heads]
  SplitTable<T> query_gradients = {};      // [target rows, d]
  T* source_gradients = nullptr;           // [source rows, 2d]
  T* partials = nullptr;                   // [partials, 2d]
};

template <typename T>
struct AttentionKernels {
  void (*multiply)(const BlockProduct<T>&, uint32_t first, uint32_t last);
  void (*outer)(const BlockGradient<T>&, uint32_t first, uint32_t last);
  // Scores, softmax and weighted sums of targets [first, last).
  void (*attend)(const EdgePass<T>&, uint32_t first, uint32_t last);
  // Gradients of scores and queries of targets [first, last); works the sums of pairs out again.
  void (*attend_backward)(const EdgeGradientPass<T>&, uint32_t first, uint32_t last);
  // Gradients of the rows of the source table, chunks [first, last).
  void (*gather_gradients)(const EdgeGradientPass<T>&, uint32_t first, uint32_t last);
};

enum class Instructions { portable, avx2, avx512 };  // each includes those before

Instructions best_instructions();  // that this processor has
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
