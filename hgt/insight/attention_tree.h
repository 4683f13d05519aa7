// The meta relation attention tree: where the attention that reaches targets comes from, unfolded
// over the last layers into paths of meta relations. (Paper, section "Visualize Meta Relation
// Attention".)
//
// Every target starts with the mass 1/n. The last layer pushes it along the edges into the target,
// each edge as much as its attention says; the layer before pushes what arrived at a source on
// along the edges into that source; and so on. The share of a path (r1, r2, ...) is the mass that
// went along edges of these relations, in this order. Attention sums to one over the edges into a
// row, so the shares of all paths of one length sum to one, and the children of a branch to its
// share.
//
//   AttentionFlow flow(paper, 2);
//   for (each batch) flow.add(layers, seed_rows);
//   const AttentionTree tree = flow.tree();
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/graph/types.h"
#include "hgt/message/layer_graph.h"

namespace hgt {

// A path of meta relations from the target type, by its last relation; the others are those of the
// branches above it.
struct AttentionBranch {
  Relation relation{};  // as in sub-graphs: the schema's, then one `self` for each type
  double share = 0;     // of the whole attention that reaches the targets
  std::vector<AttentionBranch> children = {};  // by relation; those that have an edge
  friend bool operator==(const AttentionBranch&, const AttentionBranch&) = default;
};

struct AttentionTree {
  NodeType target{};
  uint32_t layers = 0;    // the length of the longest paths
  uint64_t examples = 0;  // targets that it is the mean of; one that was met twice counts twice
  std::vector<AttentionBranch> children = {};
  friend bool operator==(const AttentionTree&, const AttentionTree&) = default;
};

// The attention that one layer paid.
struct LayerFlow {
  const LayerGraph* graph = nullptr;
  std::span<const double> attention;  // [edges] mean over the heads
};

class AttentionFlow {
 public:
  // Requires layers > 0.
  AttentionFlow(NodeType target, uint32_t layers);

  // One batch: its layers, first to last, and the rows of its targets in the output of the last
  // one; a row may be there several times. Throws Error: fewer layers than paths are long,
  // attention for more or fewer edges, a target that is not an output, or a layer that reads rows
  // that the layer before it did not write.
  void add(std::span<const LayerFlow> layers, std::span<const uint32_t> targets);

  AttentionTree tree() const;  // the mean over all targets so far

 private:
  AttentionTree sums_;  // shares times examples
};

}  // namespace hgt
