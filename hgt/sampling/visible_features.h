// The features of a sub-graph's nodes, as if the edges that are hidden from it were not in the
// graph, and nobody knew the labels of its seeds. They differ from those of the graph where these
// are means over such edges (hgt/graph/mean_features.h), and in the columns of known labels.
#pragma once

#include <span>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/sampling_options.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

// The features of nodes of the type, any of the sub-graph's, one row after the other. rows: [nodes
// * width]
void copy_visible_features(const HeteroGraph& graph, const Subgraph& subgraph, NodeType type,
                           std::span<const NodeId> nodes, std::span<float> rows);

// Lists the hidden edges that went into features of a sub-graph's nodes: what is hidden for all
// batches, and for one. Relations that are hidden everywhere are no part of what is asked, and stay
// in the means that were made of them.
class HiddenFromMeans {
 public:
  HiddenFromMeans(const HeteroGraph& graph, const HiddenEdges& hidden);

  // Sets subgraph.hidden_from_means.
  void collect(const Request& request, Subgraph& subgraph) const;

 private:
  // Of a type whose features are such a mean.
  struct Mean {
    NodeType type{};
    std::vector<Relation> relations = {};  // ascending
    std::vector<Relation> at_seeds = {};   // those of them whose edges at seeds are hidden
    std::vector<HiddenEdge> always = {};   // by target
  };
  static void add_either_way(const Schema& schema, const Mean& mean, const HiddenEdge& edge,
                             std::vector<HiddenEdge>& edges);
  void add_at_seed(const Mean& mean, const Seed& seed, std::vector<HiddenEdge>& edges) const;

  static void add_always(const Mean& mean, std::span<const NodeId> nodes,
                         std::vector<HiddenEdge>& edges);

  HeteroGraph graph_;
  std::vector<Mean> means_;
};

}  // namespace hgt
