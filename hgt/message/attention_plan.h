// Where every number of heterogeneous mutual attention lies, worked out once per layer graph.
//
// With K, M, Q the projections of the rows, W_r the matrix of meta relation r and Z the projected
// temporal encodings, the score of an edge e = (s, r, t) at gap g is ((K_s + Z_g) W_r) . Q_t and
// its message (M_s + Z_g) W'_r. Both are linear, so W_r can be applied at either end, once per pair
// instead of once per edge:
//   at the target:  (K_s + Z_g) . (W_r Q_t)      pairs (t, r); messages are summed before W'_r
//   at the source:  (K_s W_r + Z_g W_r) . Q_t    pairs (s, r) and (g, r)
// The plan takes the cheaper end for each relation: that with fewer rows, a row at the source
// counted twice. What is left per edge is to read one row of a source table, one of the same table
// for the gap, and one of a target table.
//
//   source table [source_rows, 2d], keys left, messages right:
//     inputs | (type, gap) by type | pairs (s, r) and (g, r), by relation
//   target table [target_rows, d], queries:
//     outputs | pairs (t, r), by block of targets, within it by relation
// Blocks are runs of targets whose pairs fit a core's cache: all that is done for the pairs of a
// block is done while they are there.
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/message/layer_graph.h"

namespace hgt {

// Consecutive pairs of one relation: rows of a table, each another row times the relation's matrix.
struct PairRun {
  uint32_t relation;
  uint32_t first, last;  // pairs, counted from the first pair of the table
};

// The edges of a target that use the same row of the target table.
struct EdgeGroup {
  uint32_t target_row;
  uint32_t first_edge;  // up to the first edge of the next group
};

// One use of a row of the source table.
struct EdgeUse {
  uint32_t edge;
  uint32_t target_row;
};

// Some of the uses of one row of the source table. A row that is used very often (a hub, a frequent
// gap) is cut into several, so that threads can share it; their sums go to `partial` first.
struct UseChunk {
  uint32_t row;
  uint32_t first, last;  // uses
  uint32_t partial;      // kWhole: the row's only chunk
};
constexpr uint32_t kWhole = 0xffffffffU;

struct AttentionPlan : LayerPlan {
  // relation_sets[r]: which of num_sets matrices relation r uses; relations that share all their
  // weights are one to the plan. `temporal` false: no gaps, Z is absent.
  AttentionPlan(const LayerGraph& graph, const std::vector<uint32_t>& relation_sets,
                uint32_t num_sets, bool temporal);

  uint32_t num_relations = 0;  // sets of matrices
  uint32_t num_sources = 0;
  uint32_t num_targets = 0;
  uint32_t target_rows = 0;
  bool temporal = false;

  // (type, gap) rows of the source table, from row num_sources on.
  std::vector<uint32_t> time_offsets;  // [types + 1]
  std::vector<uint32_t> time_gaps;     // [time rows] place in LayerGraph::gap_values
  std::vector<uint32_t> source_pairs;  // [pairs] the input or (type, gap) row it comes from
  std::vector<PairRun> source_runs;    // one per relation at most
  std::vector<uint32_t> target_pairs;  // [pairs] the target it comes from
  std::vector<PairRun> target_runs;
  std::vector<uint32_t> block_runs;  // [blocks + 1] runs of target pairs

  // Edges in the plan's own order: by target, those whose matrix is at the source first.
  std::vector<uint32_t> edge_source;    // [edges] row of the source table
  std::vector<uint32_t> edge_time;      // [edges] row of the source table; empty: not temporal
  std::vector<uint64_t> edge_origin;    // [edges] place in the layer graph
  std::vector<EdgeGroup> groups;        // and one more, past the end
  std::vector<uint32_t> target_groups;  // [targets + 1]
  std::vector<uint32_t> target_blocks;  // [blocks + 1] bounds of runs of targets

  // The same edges by row of the source table, for gradients.
  std::vector<EdgeUse> uses;
  std::vector<UseChunk> chunks;        // every row of the source table has at least one
  std::vector<uint32_t> chunk_blocks;  // bounds of runs of chunks of about equal work
  uint32_t num_partials = 0;

  uint32_t num_blocks() const { return static_cast<uint32_t>(target_blocks.size()) - 1; }
  uint32_t num_source_pairs() const { return static_cast<uint32_t>(source_pairs.size()); }
  uint32_t num_target_pairs() const { return static_cast<uint32_t>(target_pairs.size()); }
  uint32_t first_source_pair() const { return num_sources + num_time_rows(); }  // row
  // The target pairs of a block.
  Numbers<uint32_t> pairs_of(uint32_t block) const;
  uint32_t num_edges() const { return static_cast<uint32_t>(edge_source.size()); }
  uint32_t num_time_rows() const { return static_cast<uint32_t>(time_gaps.size()); }
};

}  // namespace hgt
