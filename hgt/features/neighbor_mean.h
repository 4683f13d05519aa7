// Features of a node as the mean of those of its neighbors.
#pragma once

#include <vector>

#include "hgt/features/feature_source.h"
#include "hgt/features/feature_step.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {

// Each neighbor counts once, whatever the number of edges to it. Neighbors and edges later than
// reach.until do not count, nor do neighbors without features of their own. Missing: no neighbor
// counts.
class NeighborMean : public FeatureSource {
 public:
  // The relations have the same source type and the same target type. Throws NoFeatures: the
  // source type has none.
  NeighborMean(HeteroGraph graph, std::vector<Relation> relations, const Reach& reach);

  uint64_t width() const override { return width_; }
  void read(NodeId first, std::span<float> rows, std::vector<bool>& missing) override;
  std::vector<uint32_t> counts() const override;

 private:
  bool read_node(NodeId node, std::span<float> row) const;

  HeteroGraph graph_;
  std::vector<Relation> relations_;
  Time until_;
  NodeType source_;
  bool flagged_;
  uint64_t width_;
};

}  // namespace hgt
