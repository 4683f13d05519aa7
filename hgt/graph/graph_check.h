// verify: is every byte of an opened graph what it should be?
#pragma once

#include "hgt/graph/hetero_graph.h"
#include "hgt/progress.h"

namespace hgt {

// Reads the whole graph once and checks
//   - the checksum of every array;
//   - incoming offsets: from 0, never falling, ending at the number of entries;
//   - sources: below the number of nodes of the relation's source type, sorted within each list;
//   - edge counts and degree summaries: as schema.json states them;
//   - each relation and its reverse: the same edges, times and weights in both directions;
//   - times: within the schema's range; weights and features: finite;
//   - ids: each found again under its own node; names and labels: offsets and classes in range.
// Throws Error naming the file and the first thing that is wrong.
void verify(const HeteroGraph& graph, const ProgressSink& progress = no_progress);

}  // namespace hgt
