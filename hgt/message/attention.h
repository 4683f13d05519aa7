// Heterogeneous mutual attention and message passing on tables in memory (paper, section 3.2-3.4),
// forward and backward, in parallel. The caller makes the tables' first rows by matrix products;
// everything that follows the projections is done here, without an array of [edges, d].
//
// Symbols and the layout of the tables: attention_plan.h. In the plan's terms an edge e reads a key
// key_e and a message msg_e (each the sum of two rows of the source table, that of its source and
// that of its gap) and belongs to one row p of the target tables: its target t, if the relation's
// pairs are at the source, or the pair (t, r). With q_p the query of that row, q_t = Q_t:
//   attention_forward
//     source pairs   key_(s,r) = key_s W_r        msg_(s,r) = msg_s W'_r        likewise (g, r)
//     target pairs   q_(t,r)   = Q_t W_r^T
//     score_e = key_e . q_p                       per head, as are all products
//     a_e     = exp(score_e) / sum of exp(score_f) over all f into t, of all rows of t
//     sum_p   = sum over e of p of a_e msg_e
//     H~[t]   = sum_t + sum over its pairs (t, r) of sum_(t,r) W'_r
//   attention_backward, with dX the gradient of the loss by X; given is dH~
//     dsum_t = dH~[t]                 dsum_(t,r) = dH~[t] W'_r^T
//     da_e     = dsum_p . msg_e
//     dscore_e = a_e (da_e - sum of a_f da_f over all f into t), where that sum is dH~[t] . H~[t]
//     dq_p     = sum over e of p of dscore_e key_e
//     dQ_t     = dq_t + sum over its pairs of dq_(t,r) W_r
//     dkey_row = sum over the uses e of the row of dscore_e q_p
//     dmsg_row = sum over the uses e of the row of a_e dsum_p
//     source pairs add  dkey_s += dkey_(s,r) W_r^T  and  dmsg_s += dmsg_(s,r) W'_r^T
//     relations at the targets   dW_r  = sum over pairs of dq_(t,r)^T Q_t
//                                dW'_r = sum over pairs of sum_(t,r)^T dH~[t]
//     relations at the sources   dW_r  = sum over pairs of key_s^T dkey_(s,r)
//                                dW'_r = sum over pairs of msg_s^T dmsg_(s,r)
// Kept between the two: the source table with its pairs, Q, a and H~. Worked out again: q_(t,r) and
// sum_(t,r), which are cheap while the block is in the cache.
//
// Results depend on the number of threads in the last bits of the matrices' gradients only, and on
// nothing else.
#pragma once

#include <cstdint>

#include "hgt/message/attention_kernels.h"
#include "hgt/message/attention_plan.h"

namespace hgt {

// What the forward pass reads and writes. "relations": plan.num_relations sets of matrices.
template <typename T>
struct AttentionTables {
  // [source rows, 2d] keys and messages; the caller fills inputs and (type, gap) rows, the forward
  // pass the rows of pairs.
  T* sources = nullptr;
  const T* queries = nullptr;  // [targets, d] Q
  // W and W': [relations, heads or 1, width, width], row vectors come from the left; mu / divisor
  // is part of the first.
  const T* attention_matrices = nullptr;
  const T* message_matrices = nullptr;
  T* weights = nullptr;  // [edges, heads] a, in the plan's order
  T* outputs = nullptr;  // [targets, d] H~; zero where no edge comes in
};

// Gradients by the fields of AttentionTables that have the same names.
template <typename T>
struct AttentionGradients {
  const T* outputs = nullptr;  // [targets, d] dH~, given
  T* sources = nullptr;        // [source rows, 2d] of pairs, too, which nobody needs afterwards
  T* queries = nullptr;        // [targets, d] dQ
  T* attention_matrices = nullptr;  // [relations, heads or 1, width, width]
  T* message_matrices = nullptr;
  // Room to work in, of which nothing is read afterwards.
  T* pair_queries = nullptr;        // [target pairs, d] q of pairs, worked out again
  T* pair_sum_gradients = nullptr;  // [target pairs, d] dsum of pairs
  T* score_gradients = nullptr;     // [edges, heads] dscore
  T* partials = nullptr;            // [partials of the plan, 2d] parts of rows of dsources
};

// Requires shape.heads <= kMostHeads.
template <typename T>
void attention_forward(const AttentionPlan& plan, const HeadShape& shape,
                       const AttentionTables<T>& tables,
                       Instructions instructions = current_instructions());

// `tables` as attention_forward() left them. Overwrites all of `gradients` but what is given; of
// the source table, the rows that attention_forward()'s caller filled are what counts.
template <typename T>
void attention_backward(const AttentionPlan& plan, const HeadShape& shape,
                        const AttentionTables<T>& tables, const AttentionGradients<T>& gradients,
                        Instructions instructions = current_instructions());

}  // namespace hgt
