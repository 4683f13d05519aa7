#include "hgt/message/edge_lists.h"

#include <numeric>
#include <utility>

namespace hgt {

EdgeLists::EdgeLists(std::vector<uint64_t> row_offsets, std::vector<uint32_t> edge_sources,
                     uint32_t source_count)
    : offsets(std::move(row_offsets)),
      sources(std::move(edge_sources)),
      rows(sources.size()),
      num_sources(source_count),
      use_offsets(size_t{source_count} + 1, 0),
      uses(sources.size()) {
  for (uint32_t row = 0; row < num_rows(); ++row) {
    for (uint64_t edge = offsets[row]; edge < offsets[row + size_t{1}]; ++edge) rows[edge] = row;
  }
  for (const uint32_t source : sources) ++use_offsets[source + size_t{1}];
  std::partial_sum(use_offsets.begin(), use_offsets.end(), use_offsets.begin());
  std::vector<uint64_t> next(use_offsets.begin(), use_offsets.end() - 1);
  for (uint64_t edge = 0; edge < sources.size(); ++edge) uses[next[sources[edge]]++] = edge;
}

}  // namespace hgt
