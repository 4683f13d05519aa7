#include "hgt/features/neighbor_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hgt/error.h"
#include "hgt/features/row_loop.h"
#include "hgt/graph/each_row.h"
#include "hgt/graph/mean_features.h"

namespace hgt {

NeighborMean::NeighborMean(HeteroGraph graph, std::vector<Relation> relations, const Reach& reach)
    : graph_(std::move(graph)),
      relations_(std::move(relations)),
      until_(reach.until),
      source_(graph_.schema().at(relations_.front()).source) {
  const auto& features = graph_.schema().at(source_).features;
  if (!features) {
    const std::string& name = graph_.schema().at(source_).name;
    throw NoFeatures(
        fmt::format("nodes of type {0} have no features to take the mean of; make them first with "
                    "'hgt features GRAPH --type {0}'",
                    name));
  }
  flagged_ = features->flagged;
  width_ = features->width - (flagged_ ? 1 : 0);
}

void NeighborMean::read(NodeId first, std::span<float> rows, std::vector<bool>& missing) {
  make_rows(missing, [&](size_t i) {
    return read_node(first + static_cast<NodeId>(i), rows.subspan(i * width_, width_));
  });
}

bool NeighborMean::read_node(NodeId node, std::span<float> row) const {
  const std::vector<NodeId> neighbors = neighbors_until(graph_, relations_, node, until_);
  std::vector<double> sums(width_, 0.0);
  uint64_t count = 0;
  for_each_row(graph_, source_, neighbors, [&](std::span<const float> one) {
    if (flagged_ && one.back() != 0) return;
    ++count;
    for (size_t j = 0; j < width_; ++j) sums[j] += one[j];
  });
  for (size_t j = 0; j < width_; ++j) {
    row[j] = count == 0 ? 0 : static_cast<float>(sums[j] / static_cast<double>(count));
  }
  return count > 0;
}

std::vector<uint32_t> NeighborMean::counts() const {
  std::vector<bool> lacks;
  if (flagged_) {
    for_every_row(graph_, source_,
                  [&](std::span<const float> one) { lacks.push_back(one.back() != 0); });
  } else {
    lacks.resize(graph_.num_nodes(source_), false);
  }
  std::vector<uint32_t> counts(graph_.num_nodes(graph_.schema().at(relations_.front()).target));
  for (NodeId node = 0; node < counts.size(); ++node) {
    const std::vector<NodeId> neighbors = neighbors_until(graph_, relations_, node, until_);
    counts[node] = static_cast<uint32_t>(std::count_if(
        neighbors.begin(), neighbors.end(), [&](NodeId neighbor) { return !lacks[neighbor]; }));
  }
  return counts;
}

}  // namespace hgt
