// A graph on disk -> tables and the manifest that imports them again.
#pragma once

#include "hgt/graph/hetero_graph.h"
#include "hgt/progress.h"

namespace hgt {

// Writes nodes_<type>.tsv, edges_<source>+<edge>+<target>.tsv, label tables, feature matrices and
// manifest.toml to a new folder. Importing it gives the same graph again, array by array (of the
// schema, the counts of missing features and of dropped repeated edges are lost). Reverse relations
// are not written: the import makes them. Throws Error when the folder exists.
void export_tables(const HeteroGraph& graph, const Path& folder,
                   const ProgressSink& progress = no_progress);

}  // namespace hgt
