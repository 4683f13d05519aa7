// Where every number of heterogeneous mutual attention lies, worked out once per layer graph.
//
// Vectors are rows; all products are taken head by head. For an edge e = (s, r, t) at gap
// g = Delta T(t, s), with H^[s] = H[s] + RTE(g) and tau = tau(s):
//   K_s = K-Linear_tau(H[s])    M_s = M-Linear_tau(H[s])    Q_t = Q-Linear_tau(t)(H[t])
//   ZK_g, ZM_g: RTE(g) times the weights of K-Linear_tau and of M-Linear_tau, without their biases,
//               so that K(s) = K_s + ZK_g and M(s) = M_s + ZM_g are the projections of H^[s]
//   W_r = W_ATT_phi(e) mu_<tau(s),phi(e),tau(t)> / divisor            W'_r = W_MSG_phi(e)
//         the divisor is sqrt(d), or an option of the model (hgt/model/hgt_layer.h)
//   score_e = (K_s + ZK_g) W_r Q_t^T                                  (ATT-head)
//   a_e     = softmax of score over all edges into t                  (Attention)
//   H~[t]   = sum over e into t of a_e (M_s + ZM_g) W'_r              (Attention * Message)
// Everything but the softmax is linear, so W_r and W'_r can be applied at either end of the edges,
// once per pair instead of once per edge:
//   at the target:  score_e = (K_s + ZK_g) . (Q_t W_r^T)          pairs (t, r)
//                   H~[t]  += (sum over its e of a_e (M_s + ZM_g)) W'_r
//   at the source:  score_e = (K_s W_r + ZK_g W_r) . Q_t          pairs (s, r) and (g, r)
//                   H~[t]  += sum over its e of a_e (M_s W'_r + ZM_g W'_r)
// The plan takes the cheaper end for each relation: that with fewer pairs, a pair at the source
// counted twice. What is left per edge is to read one row of the source table for its source, one
// of the same table for its gap, and one row of a target table.
//
// The tables, of which the plan says what each row is (attention.h fills them):
//   source table [source_rows, 2d], columns [0, d) keys and [d, 2d) messages:
//     rows [0, num_sources)                    K_s | M_s       the inputs of the layer graph
//     rows [num_sources, first_source_pair())  ZK_g | ZM_g     (type, gap), by type
//     rows [first_source_pair(), source_rows)  one of the rows above, its left half times W_r and
//                                              its right half times W'_r: pairs, by relation
//   target tables [target_rows, d]: queries, sums of messages, and the gradients of both
//     rows [0, num_targets)                    the outputs of the layer graph
//     rows [num_targets, target_rows)          pairs (t, r), by block of targets, within a block by
//                                              relation, within a relation by target
// Blocks are runs of targets whose pairs fit a core's cache: all that is done for the pairs of a
// block is done while they are there.
//
// Invariants:
//   - A relation has its pairs at one end: all of its edges read source pairs and rows of outputs,
//     or all of them read inputs and rows of target pairs.
//   - edge_source and edge_time of an edge lie on the same side of first_source_pair().
//   - No row occurs twice among the pairs of one relation, so that threads may add to the rows of
//     one relation's pairs at the same time; different relations share rows.
//   - The edges of a target are consecutive, and so are those of a group; the group with
//     target_row < num_targets, of which a target has at most one, is its first.
//   - Each edge is listed once in `uses` under its source's row and, if temporal, once under its
//     gap's row.
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/message/layer_graph.h"

namespace hgt {

// Consecutive pairs [first, last) of one relation: rows of a table, each another row times the
// relation's matrix.
struct PairRun {
  uint32_t relation;     // as the plan counts them: the set of matrices
  uint32_t first, last;  // pairs, counted from the first pair of the table
};

// The edges of a target that use the same row of the target tables.
struct EdgeGroup {
  uint32_t target_row;  // < num_targets: the target itself, else num_targets + its pair
  uint32_t first_edge;  // up to the first edge of the next group
};

// One use of a row of the source table.
struct EdgeUse {
  uint32_t edge;        // in the plan's order
  uint32_t target_row;  // of the edge's group
};

// Uses [first, last) of one row of the source table. A row that is used very often (a hub, a
// frequent gap) is cut into several chunks, one after the other, so that threads can share it;
// their sums go to row `partial` of a table of [num_partials, 2d] first.
struct UseChunk {
  uint32_t row;          // of the source table
  uint32_t first, last;  // uses
  uint32_t partial;      // kWhole: the row's only chunk
};
constexpr uint32_t kWhole = 0xffffffffU;

struct AttentionPlan : LayerPlan {
  // relation_sets[r]: which of num_sets matrices relation r uses; relations that share all their
  // weights are one to the plan. `temporal` false: no gaps, Z is absent. The outputs of a type need
  // not be its inputs.
  AttentionPlan(const LayerGraph& graph, const std::vector<uint32_t>& relation_sets,
                uint32_t num_sets, bool temporal);

  uint32_t num_relations = 0;  // sets of matrices
  uint32_t num_sources = 0;    // inputs of the layer graph
  uint32_t num_targets = 0;    // its outputs
  uint32_t target_rows = 0;    // num_targets + num_target_pairs()
  bool temporal = false;

  // (type, gap) rows of the source table, from row num_sources on.
  std::vector<uint32_t> time_offsets;  // [types + 1] counted from the first of these rows
  std::vector<uint32_t> time_gaps;     // [time rows] place in LayerGraph::gap_values
  // Pair p at the source is row first_source_pair() + p of the source table; pair p at the target
  // is row num_targets + p of the target tables. The runs cover all pairs in their order.
  std::vector<uint32_t> source_pairs;  // [pairs] the input or (type, gap) row it comes from
  std::vector<PairRun> source_runs;    // one per relation at most
  std::vector<uint32_t> target_pairs;  // [pairs] the target it comes from
  std::vector<PairRun> target_runs;    // one per block and relation at most
  std::vector<uint32_t> block_runs;    // [blocks + 1] bounds in target_runs

  // Edges in the plan's own order: by target, those whose matrix is at the source first.
  std::vector<uint32_t> edge_source;    // [edges] row of the source table
  std::vector<uint32_t> edge_time;      // [edges] row of the source table; empty: not temporal
  std::vector<uint64_t> edge_origin;    // [edges] place in the layer graph
  std::vector<EdgeGroup> groups;        // and one more, past the end: no row, first_edge = edges
  std::vector<uint32_t> target_groups;  // [targets + 1] bounds in groups; a target may have none
  std::vector<uint32_t> target_blocks;  // [blocks + 1] bounds of runs of targets

  // The same edges by row of the source table, for gradients.
  std::vector<EdgeUse> uses;           // [edges, or 2 edges if temporal] by row, then by edge
  std::vector<UseChunk> chunks;        // by row; every row has at least one, be it empty
  std::vector<uint32_t> chunk_blocks;  // bounds of runs of chunks of about equal work
  uint32_t num_partials = 0;           // chunks of rows that are cut

  uint32_t num_blocks() const { return static_cast<uint32_t>(target_blocks.size()) - 1; }
  uint32_t num_source_pairs() const { return static_cast<uint32_t>(source_pairs.size()); }
  uint32_t num_target_pairs() const { return static_cast<uint32_t>(target_pairs.size()); }
  uint32_t first_source_pair() const { return num_sources + num_time_rows(); }  // row
  // The target pairs of a block: consecutive, as its runs are.
  Numbers<uint32_t> pairs_of(uint32_t block) const;
  uint32_t num_edges() const { return static_cast<uint32_t>(edge_source.size()); }
  uint32_t num_time_rows() const { return static_cast<uint32_t>(time_gaps.size()); }
};

}  // namespace hgt
