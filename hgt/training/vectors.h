// The vectors of all nodes of some types, by the way that fits the model and the time bound: layer
// by layer over the whole graph (whole_graph.h); through sampled sub-graphs where layers are not
// made of edges (han), and where each node may see nothing later than itself, which differs from
// node to node.
#pragma once

#include <vector>

#include "hgt/training/trained_model.h"
#include "hgt/training/whole_graph.h"

namespace hgt {

// The last layer that training made use of for nodes of the type: trained_layer() where the model
// reads neighbors, the last of all for what the task asks about where it does not (mlp). 0: none.
uint32_t last_trained_layer(const Run& run, NodeType type);

// The layer whose vectors of a type are worth having: `wanted`, or where that is 0 the
// last_trained_layer(). Throws Error: the model has fewer; it made use of none.
uint32_t layer_to_embed(const Run& run, NodeType type, uint32_t wanted);

// The run's time bound is each seed's own time, and nodes of the type have one. (At the one time
// that others are asked about, nothing later than them is in sight of the whole graph either.)
bool is_bound_to_own_times(const Run& run, NodeType type);

// What the model reads of a node of the type depends on whether it is asked about: nobody reads its
// own label.
bool hides_own_labels(const Run& run, NodeType type);

// With WholeGraphOptions::layers. Throws Error: Instances::single where sub-graphs are sampled.
void embed_all(const TrainedModel& trained, const WholeGraphOptions& options,
               const std::vector<NodeType>& types, const VectorSink& sink,
               const ProgressSink& progress);

}  // namespace hgt
