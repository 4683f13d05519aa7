// The vectors of all nodes of some types, by the way that fits the model: layer by layer over the
// whole graph where layers are made of edges (whole_graph.h), through sampled sub-graphs where they
// are not (han).
#pragma once

#include <vector>

#include "hgt/training/run_state.h"
#include "hgt/training/whole_graph.h"

namespace hgt {

void embed_all(const RunState& run, const Encoder& encoder, const WholeGraphOptions& options,
               const std::vector<NodeType>& types, const VectorSink& sink,
               const ProgressSink& progress);

}  // namespace hgt
