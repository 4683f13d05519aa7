// Features that are means of neighbors' features, and means without some of the neighbors.
//
// A mean over links that a task predicts contains its answers: the mean of an author's papers
// contains the paper whose author is asked for. FeatureSpec::mean records how such a mean was made,
// so that for each batch the neighbors at the other end of hidden links can be left out of it. What
// is left is a mean as if these links were not in the graph.
#pragma once

#include <span>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

// The relations into a type that its features are the mean over, ascending; empty: they are no
// mean, or none that neighbors can be left out of.
std::vector<Relation> mean_relations(const Schema& schema, NodeType type);

// The schema has the features that those of the type are the mean of, and not others in their
// place: leave_out() needs them.
bool has_source_of_mean(const Schema& schema, NodeType type);

// The neighbors of a node by relations of one source type, each once, ascending. Nodes and edges
// later than `until` do not count.
std::vector<NodeId> neighbors_until(const HeteroGraph& graph, std::span<const Relation> relations,
                                    NodeId node, Time until);

// `row`, the features of the node, becomes the mean without these neighbors: distinct, ascending,
// and of neighbors_until(). Those without features of their own do not count, as ever. If none
// remains, it becomes the row of a node without features.
//
// n neighbors count, k of them are left out. Where more remains, it is (n * mean - sum of the k) /
// (n - k); else the mean is taken anew. The mean is rounded to float32 and n / (n - k) < 2, so a
// number differs from that of a mean taken anew by at most 2^-23 of the mean's own size.
// Requires has_source_of_mean(). Throws Error: the counts are damaged.
void leave_out(const HeteroGraph& graph, NodeType type, NodeId node,
               std::span<const NodeId> neighbors, std::span<float> row);

}  // namespace hgt
