// The meta relation attention tree: where the attention that reaches targets comes from, unfolded
// over layers into paths of meta relations, in two forms. (Paper, section "Visualize Meta Relation
// Attention".)
//
// Shares (AttentionFlow). Every target starts with the mass 1/n. The last layer pushes it along the
// edges into the target, each edge as much as its attention says; the layer before pushes what
// arrived at a source on along the edges into that source; and so on. The share of a path (r1, r2,
// ...) is the mass that went along edges of these relations, in this order. Attention sums to one
// over the edges into a row, so the shares of all paths of one length sum to one, and the children
// of a branch to its share.
//
// Means (AttentionMeans): the paper's own form, Figure 5. In each of the first layers every meta
// relation has the mean attention of its edges. The tree unfolds them from the target type: its
// relations by their means in the last of these layers, below each the relations into its source
// type by their means in the layer before, and so on. A relation has the same mean wherever it is
// in a layer, and nothing sums to anything.
//
//   AttentionFlow flow(paper, 2);
//   AttentionMeans means(schema, paper, 2);
//   for (each batch) {
//     flow.add(layers, seed_rows);
//     means.add(layers, seed_rows.size());
//   }
//   const AttentionTrees trees = {flow.tree(), means.tree()};
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/enum_words.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"
#include "hgt/message/layer_graph.h"

namespace hgt {

enum class AttentionForm { shares, means };
constexpr auto words_of(AttentionForm) {
  return enum_words<AttentionForm>(
      "form", {{AttentionForm::shares, "shares"}, {AttentionForm::means, "means"}});
}

// A path of meta relations from the target type, by its last relation; the others are those of the
// branches above it.
struct AttentionBranch {
  Relation relation{};  // as in sub-graphs: the schema's, then one `self` for each type
  // Shares: of the whole attention that reaches the targets. Means: of an edge of the relation.
  double attention = 0;
  std::vector<AttentionBranch> children = {};  // by relation; those that have an edge
  friend bool operator==(const AttentionBranch&, const AttentionBranch&) = default;
};

struct AttentionTree {
  AttentionForm form = AttentionForm::shares;
  NodeType target{};
  uint32_t layers = 0;      // the length of the longest paths
  uint32_t from_layer = 0;  // in which the relations into the target are read, counted from 1
  uint64_t examples = 0;    // targets that it is the mean of; one that was met twice counts twice
  std::vector<AttentionBranch> children = {};
  friend bool operator==(const AttentionTree&, const AttentionTree&) = default;
};

struct AttentionTrees {
  AttentionTree shares = {};
  AttentionTree means = {};

  const AttentionTree& of(AttentionForm form) const {
    return form == AttentionForm::shares ? shares : means;
  }
  friend bool operator==(const AttentionTrees&, const AttentionTrees&) = default;
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

class AttentionMeans {
 public:
  // Of the first `layers` layers. Requires layers > 0; `schema` must outlive it.
  AttentionMeans(const Schema& schema, NodeType target, uint32_t layers);

  // One batch: its layers, first to last, of which all edges count, and how many targets it has.
  // Throws Error as AttentionFlow does.
  void add(std::span<const LayerFlow> layers, uint64_t targets);

  AttentionTree tree() const;  // the means over all edges so far

 private:
  struct Sum {
    double attention = 0;
    uint64_t edges = 0;
  };
  // The relations into a type, as layer `layer` reads them.
  std::vector<AttentionBranch> unfolded(NodeType type, uint32_t layer) const;

  const Schema* schema_;
  NodeType target_;
  uint64_t examples_ = 0;
  std::vector<std::vector<Sum>> sums_;  // [layers][relations, then `self` of each type]
};

}  // namespace hgt
