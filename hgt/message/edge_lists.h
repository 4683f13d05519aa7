// Edges by target row and, for gradients, by source row: used to compute sums over neighbors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hgt {

struct EdgeLists {
  // offsets: [rows + 1] the edges of a row; sources: [edges] below num_sources.
  EdgeLists(std::vector<uint64_t> offsets, std::vector<uint32_t> sources, uint32_t num_sources);

  uint32_t num_rows() const { return static_cast<uint32_t>(offsets.size()) - 1; }
  uint64_t num_edges() const { return sources.size(); }
  uint64_t length(uint32_t row) const { return offsets[row + size_t{1}] - offsets[row]; }

  std::vector<uint64_t> offsets;
  std::vector<uint32_t> sources;
  std::vector<uint32_t> rows;  // [edges]
  uint32_t num_sources = 0;
  std::vector<uint64_t> use_offsets;  // [num_sources + 1]
  std::vector<uint64_t> uses;         // [edges] the edges that come from a source, ascending
};

// At most `most` entries of a list, evenly spread over it, in their order.
template <typename Entry>
std::vector<Entry> spread_out(std::span<const Entry> list, size_t most) {
  if (list.size() <= most) return {list.begin(), list.end()};
  std::vector<Entry> some;
  for (size_t i = 0; i < most; ++i) some.push_back(list[i * list.size() / most]);
  return some;
}

}  // namespace hgt
