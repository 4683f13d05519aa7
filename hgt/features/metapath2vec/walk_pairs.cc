#include "hgt/features/metapath2vec/walk_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "hgt/error.h"

namespace hgt {

NodeRows::NodeRows(const Walks& walks)
    : types_(walks.types().begin(), walks.types().end()),
      first_(walks.graph().schema().node_types().size()),
      nodes_(first_.size()) {
  for (const NodeType type : types_) {
    first_[index(type)] = static_cast<uint32_t>(size_);
    nodes_[index(type)] = walks.graph().num_nodes(type);
    size_ += nodes_[index(type)];
    if (size_ > std::numeric_limits<uint32_t>::max()) {
      throw Error(
          fmt::format("the types of the walks have more than {} nodes together; walk along "
                      "paths with fewer types",
                      std::numeric_limits<uint32_t>::max()));
    }
  }
}

Negatives::Negatives(const NodeRows& rows, std::span<const uint64_t> occurrences) {
  assert(occurrences.size() == rows.size());
  for (const NodeType type : rows.types()) {
    while (tables_.size() < index(type)) tables_.emplace_back(std::span<const uint64_t>{});
    tables_.emplace_back(occurrences.subspan(rows.first(type), rows.nodes(type)));
  }
}

PairList WalkPairs::list(std::span<const WalkNode> walk, Draws draws) {
  const size_t most_pairs = walk.size() * 2 * options_.window;
  pairs_.resize(std::max(pairs_.size(), most_pairs));
  rows_.resize(std::max(rows_.size(), most_pairs * (1 + options_.negatives)));
  copies_.resize(rows_.size());
  bits_.resize((2 * size_t{options_.window} + 1) * options_.negatives);
  size_t pairs = 0;
  uint32_t end = 0;
  for (size_t center = 0; center < walk.size(); ++center) {
    const uint32_t row = (*rows_of_)(walk[center]);
    const size_t first = center - std::min<size_t>(center, options_.window);
    const size_t last = std::min(walk.size(), center + options_.window + 1);
    draw_bits(walk.subspan(first, last - first), draws);
    for (size_t context = first; context < last; ++context) {
      if (context == center) continue;
      const uint32_t begin = end;
      const uint64_t* bits = &bits_[(context - first) * options_.negatives];
      end = add_negatives(walk[context], bits, draws, begin);
      pairs_[pairs++] = {.center = row, .first = begin, .count = end - begin};
    }
  }
  return {.pairs = pairs_.data(), .size = pairs, .rows = rows_.data(), .copies = copies_.data()};
}

// For the negatives of these contexts, which are looked up at random places of large tables.
void WalkPairs::draw_bits(std::span<const WalkNode> contexts, Draws& draws) {
  uint64_t* bits = bits_.data();
  for (const WalkNode& context : contexts) {
    const NegativeTable& table = negatives_->of(context.type);
    if (!table.has_other(context.node)) {
      bits += options_.negatives;
      continue;
    }
    for (uint32_t i = 0; i < options_.negatives; ++i) {
      *bits = draws.bits();
      table.prefetch(context.node, *bits++);
    }
  }
}

// Puts the context's row and its negatives at `first`; returns where they end.
uint32_t WalkPairs::add_negatives(const WalkNode& context, const uint64_t* bits, Draws& draws,
                                  uint32_t first) {
  const NegativeTable& table = negatives_->of(context.type);
  const uint32_t type_rows = rows_of_->first(context.type);
  uint32_t end = first;
  rows_[end] = type_rows + context.node;
  copies_[end++] = 1;
  if (!table.has_other(context.node)) return end;
  for (uint32_t i = 0; i < options_.negatives; ++i) {
    const uint32_t row = type_rows + table.draw_other(context.node, bits[i], draws);
    uint32_t at = first + 1;
    while (at < end && rows_[at] != row) ++at;
    if (at < end) {
      ++copies_[at];
    } else {
      rows_[end] = row;
      copies_[end++] = 1;
    }
  }
  return end;
}

}  // namespace hgt
