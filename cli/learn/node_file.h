// Files that name nodes, for verbs that are asked about many.
#pragma once

#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/subgraph.h"

namespace hgt::cli {

// One id per line; or a table, in any format that hgt imports, with a column 'id' and perhaps one
// 'time', for nodes without a time of their own (what `hgt embed` writes is one). Other columns are
// ignored. Throws Error, with file and line: a damaged row, an unknown id, a time that is none or
// not the node's own; and when there is no node at all.
std::vector<Seed> read_node_file(const Path& file, const HeteroGraph& graph, NodeType type);

}  // namespace hgt::cli
