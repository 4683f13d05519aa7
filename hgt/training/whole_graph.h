// Layer by layer over the whole graph: every neighbor of every node counts, each instance is
// computed once per layer, and memory holds one layer of the dated nodes and one slice of the
// others.
//
// A dated node (an event with its time) is one instance. Any other node is an instance at every
// time at which a dated node meets it: a paper of 2010 reads its authors as of 2010. All these
// instances of one time are a slice; they are read by that time's dated nodes and by each other
// only, so slices wait in a file while others are computed. With Instances::single there is one
// slice, at the time that is asked for: cheaper, and what gaps mean is then relative to that time.
//
// For layers l = 1 .. L, slices, and in each slice the instances v of which H^(l) is needed
// (time_slices.h):
//   H^(l)[v] = layer l of H^(l-1)[v] and H^(l-1)[w] for all w that v reads
// in the two parts of Layer: prepare_rows() once per instance, forward_prepared() per target. What
// is kept, for each type, with d = hidden and p = Layer::prepared_width(d):
//   dated              [nodes of an event type, d]       one row per node, of all slices; H^(l-1),
//                                                        row by row overwritten by H^(l)
//   dated_prepared     [nodes of an event type, p]       prepare_rows() of H^(l-1)
//   undated            [undated nodes of the slice, d]   likewise, of the slice at hand
//   undated_prepared   [undated nodes of the slice, p]
//   a file             [undated nodes of all slices, d]  slice by slice, in it type by type
// Others read an instance's prepared row only, and these are made before any row is overwritten:
// the order of targets within a layer does not matter.
//
//   WholeGraph whole(graph, {.at = 2019});
//   whole.embed(encoder, {venue}, [&](NodeType, std::span<const NodeId> nodes,
//                                     const at::Tensor& vectors) { ... });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/model/encoder.h"
#include "hgt/model/torch.h"
#include "hgt/progress.h"
#include "hgt/training/run.h"

namespace hgt {

struct WholeGraphOptions {
  InferenceOptions inference = {};
  std::vector<Relation> hidden = {};  // left out, with their reverses
  uint32_t layers = 0;                // of the encoder, that are computed; 0: all
  Path scratch = {};                  // folder for the slices; empty: that for temporary files
};

// Nodes of a type and their vectors, [nodes, d], block after block; every node once.
using VectorSink =
    std::function<void(NodeType type, std::span<const NodeId> nodes, const at::Tensor& vectors)>;

class WholeGraph {
 public:
  WholeGraph(const HeteroGraph& graph, const WholeGraphOptions& options);
  ~WholeGraph();
  WholeGraph(const WholeGraph&) = delete;
  WholeGraph& operator=(const WholeGraph&) = delete;

  // The vectors of all nodes of these types that may be seen, by the last layer that is computed.
  // The model should be in evaluation mode. Throws Error when there would be more than a hundred
  // instances per node.
  void embed(const Encoder& encoder, const std::vector<NodeType>& types, const VectorSink& sink,
             const ProgressSink& progress = no_progress);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
