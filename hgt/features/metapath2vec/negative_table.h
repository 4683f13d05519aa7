// Draws nodes of one type with probability proportional to (number of occurrences)^0.75, the noise
// distribution of word2vec, in constant time: an alias table (Walker 1977, Vose 1991).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/graph/types.h"
#include "hgt/random.h"

namespace hgt {

// Eight bytes per node. Probabilities are right to within 2^-32; a node that never occurred is
// never drawn.
class AliasTable {
 public:
  AliasTable() = default;
  explicit AliasTable(std::span<const double> weights);  // >= 0, at least one > 0

  // The node that 64 random bits stand for.
  NodeId draw(uint64_t bits) const {
    const auto product = static_cast<Uint128>(bits) * entries_.size();
    const auto place = static_cast<NodeId>(product >> 64U);
    const auto fraction = static_cast<uint32_t>(static_cast<uint64_t>(product) >> 32U);
    const Entry entry = entries_[place];
    // Without a branch: half of the time it would be guessed wrong, while the entry is fetched.
    const NodeId other = 0U - static_cast<NodeId>(fraction >= entry.keep);  // all bits, or none
    return (place & ~other) | (entry.alias & other);
  }
  // To have the entry cached soon.
  void prefetch(uint64_t bits) const {
    __builtin_prefetch(&entries_[static_cast<Uint128>(bits) * entries_.size() >> 64U]);
  }
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    uint32_t keep = 0;  // the place itself, with probability keep / 2^32
    NodeId alias = 0;
  };
  std::vector<Entry> entries_;
};

class NegativeTable {
 public:
  explicit NegativeTable(std::span<const uint64_t> occurrences);  // by node

  // There is a node that can be drawn for this context.
  bool has_other(NodeId context) const {
    return occurring_ > 1 || (occurring_ == 1 && context != heaviest_);
  }
  // A node other than the context: the one that the bits stand for, or else what is drawn next.
  // Requires has_other(context).
  NodeId draw_other(NodeId context, uint64_t bits, Draws& draws) const {
    const AliasTable& table = table_for(context);
    while (true) {
      const NodeId node = table.draw(bits);
      if (node != context) return node;
      bits = draws.bits();
    }
  }
  void prefetch(NodeId context, uint64_t bits) const { table_for(context).prefetch(bits); }

 private:
  // So that no context is drawn more often than every second time.
  const AliasTable& table_for(NodeId context) const {
    return context == heaviest_ && !others_.empty() ? others_ : all_;
  }

  AliasTable all_;
  AliasTable others_;  // without the heaviest node, if that has more than half of the weight
  NodeId heaviest_ = 0;
  uint64_t occurring_ = 0;  // nodes that occurred at all
};

}  // namespace hgt
