// Are the arrays of a graph what was written? Damage that keeps every number in range, such as a
// page of zeros, gives no error by itself, only worse scores: the checksums tell.
//
//   const HeteroGraph graph = open_verified("cs.graph", progress);
//
// Everything that learns from a graph or copies it opens it so. The whole graph is read once, and
// the outcome is remembered for each file with its device, inode, size and times of change: in
// "verified.json" in the graph folder, and where that cannot be written, in this process. A file of
// which one of these differs is read again.
#pragma once

#include <string>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/progress.h"

namespace hgt {

// Compares the checksums of all arrays that are not known to be good. Throws Error naming the first
// file that is damaged, and what `progress` throws.
void verify_arrays(const HeteroGraph& graph, const ProgressSink& progress = no_progress);

// The same for these arrays of a folder, whatever is known of them.
void verify_arrays_again(const Path& folder, const std::vector<ArrayRecord>& arrays,
                         const ProgressSink& progress = no_progress);

// HeteroGraph::open, then verify_arrays.
HeteroGraph open_verified(const Path& folder, const ProgressSink& progress = no_progress,
                          const std::string& feature_set = {});

}  // namespace hgt
