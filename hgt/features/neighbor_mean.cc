#include "hgt/features/neighbor_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hgt/error.h"
#include "hgt/features/row_loop.h"

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
  std::vector<NodeId> neighbors;
  for (const Relation relation : relations_) {
    const Neighbors list = graph_.incoming(relation, node);
    for (size_t i = 0; i < list.size(); ++i) {
      const bool late = graph_.time(source_, list.sources[i]) > until_ ||
                        (!list.times.empty() && list.times[i] > until_);
      if (!late) neighbors.push_back(list.sources[i]);
    }
  }
  std::sort(neighbors.begin(), neighbors.end());
  neighbors.erase(std::unique(neighbors.begin(), neighbors.end()), neighbors.end());
  std::vector<float> one(width_ + (flagged_ ? 1 : 0));
  std::vector<double> sums(width_, 0.0);
  uint64_t count = 0;
  for (const NodeId neighbor : neighbors) {
    graph_.copy_features(source_, neighbor, one);
    if (flagged_ && one.back() != 0) continue;
    ++count;
    for (size_t j = 0; j < width_; ++j) sums[j] += one[j];
  }
  for (size_t j = 0; j < width_; ++j) {
    row[j] = count == 0 ? 0 : static_cast<float>(sums[j] / static_cast<double>(count));
  }
  return count > 0;
}

}  // namespace hgt
