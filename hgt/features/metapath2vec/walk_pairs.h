// The training pairs of a walk: each node with each other one within the window, and for each pair
// negatives of the context's type. Nodes are rows of one table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/features/metapath2vec/negative_table.h"
#include "hgt/features/metapath2vec/skip_gram_kernels.h"
#include "hgt/features/metapath2vec/walks.h"
#include "hgt/graph/types.h"

namespace hgt {

// Where a node's vector lies: the types of the walks one after the other, nodes in their order.
class NodeRows {
 public:
  explicit NodeRows(const Walks& walks);  // throws Error: more than 2^32 - 1 rows

  uint64_t size() const { return size_; }
  std::span<const NodeType> types() const { return types_; }
  // Requires a type of the walks.
  uint32_t first(NodeType type) const { return first_[index(type)]; }
  uint64_t nodes(NodeType type) const { return nodes_[index(type)]; }
  uint32_t operator()(const WalkNode& node) const { return first(node.type) + node.node; }

  friend bool operator==(const NodeRows&, const NodeRows&) = default;

 private:
  std::vector<NodeType> types_;
  std::vector<uint32_t> first_;  // by type
  std::vector<uint64_t> nodes_;  // by type
  uint64_t size_ = 0;
};

// The noise distributions of all types.
class Negatives {
 public:
  // `occurrences` by row.
  Negatives(const NodeRows& rows, std::span<const uint64_t> occurrences);

  const NegativeTable& of(NodeType type) const { return tables_[index(type)]; }

 private:
  std::vector<NegativeTable> tables_;
};

// Lists the pairs of one walk after the other in the same memory.
class WalkPairs {
 public:
  struct Options {
    uint32_t window = 5;
    uint32_t negatives = 5;
  };
  // Both must outlive this.
  WalkPairs(const NodeRows& rows, const Negatives& negatives, Options options)
      : rows_of_(&rows), negatives_(&negatives), options_(options) {}

  // Pairs by center, then by context. A negative drawn twice for a pair is one row with two copies.
  // Valid until the next call.
  PairList list(std::span<const WalkNode> walk, Draws draws);

 private:
  void draw_bits(std::span<const WalkNode> contexts, Draws& draws);
  uint32_t add_negatives(const WalkNode& context, const uint64_t* bits, Draws& draws,
                         uint32_t first);

  const NodeRows* rows_of_;
  const Negatives* negatives_;
  Options options_;
  std::vector<TrainingPair> pairs_;
  std::vector<uint32_t> rows_;
  std::vector<float> copies_;
  std::vector<uint64_t> bits_;  // of one center: [contexts, negatives]
};

}  // namespace hgt
