// Heterogeneous mutual attention and message passing on tables in memory (paper, section 3.2-3.4),
// forward and backward, in parallel. The caller makes the tables' first rows by matrix products;
// everything that follows the projections is done here, without an array of [edges, d].
//
// Results depend on the number of threads in the last bits of the matrices' gradients only, and on
// nothing else.
#pragma once

#include <cstdint>

#include "hgt/message/attention_kernels.h"
#include "hgt/message/attention_plan.h"

namespace hgt {

template <typename T>
struct AttentionTables {
  // [source rows, 2d] keys and messages; the caller fills inputs and (type, gap) rows.
  T* sources = nullptr;
  const T* queries = nullptr;  // [targets, d]
  // [relations, heads or 1, width, width]; mu / divisor is part of the first.
  const T* attention_matrices = nullptr;
  const T* message_matrices = nullptr;
  T* weights = nullptr;  // [edges, heads] attention, in the plan's order
  T* outputs = nullptr;  // [targets, d]; zero where no edge comes in
};

template <typename T>
struct AttentionGradients {
  const T* outputs = nullptr;       // [targets, d] given
  T* sources = nullptr;             // [source rows, 2d]
  T* queries = nullptr;             // [targets, d]
  T* attention_matrices = nullptr;  // [relations, heads or 1, width, width]
  T* message_matrices = nullptr;
  // Room to work in, of which nothing is read afterwards.
  T* pair_queries = nullptr;  // [target pairs, d]
  T* pair_sums = nullptr;     // [target pairs, d]
  T* scores = nullptr;        // [edges, heads]
  T* partials = nullptr;      // [partials of the plan, 2d]
};

template <typename T>
void attend(const AttentionPlan& plan, const HeadShape& shape, const AttentionTables<T>& tables,
            Instructions instructions = best_instructions());

// `tables` as attend() left them. Overwrites all of `gradients`; of the source table, the rows that
// attend()'s caller filled are what counts.
template <typename T>
void attend_backward(const AttentionPlan& plan, const HeadShape& shape,
                     const AttentionTables<T>& tables, const AttentionGradients<T>& gradients,
                     Instructions instructions = best_instructions());

}  // namespace hgt
