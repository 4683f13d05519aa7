// The instances of a whole graph, by the time of those nodes that have none of their own, and what
// each of them reads. See whole_graph.h.
//
// With T(v) the time of a dated node v, an instance is v@T(v), or u@T for an undated u and the time
// T of a slice. With N(v) the nodes that v reads (edges that are neither hidden nor later than
// `at`):
//   slices     one for each distinct T(v) <= at, in ascending order, and always one at `at`; with
//              `single` only the latter, which then has all dated nodes
//   v@T(v)     reads w@T(w) for each dated w in N(v), of any slice, and u@T for each undated u in
//              N(v), T being the time of the slice that v is in; then itself
//   u@T        reads w@T(w) for each dated w in N(u), of any slice, and u'@T for each undated u' in
//              N(u), of its own slice; then itself
//   gap        Delta T = T(target) - T(source), each the time of its instance; 0 for itself. With
//              `single` a dated node keeps its own time and undated ones have that of the slice.
// Of L layers, H^(l) of an instance is computed for l <= last_layer, which is never less than what
// is needed and may be more:
//   dated v    L if its type is asked for, else L - 1
//   undated u  L if its type is asked for and its slice is that at `at`; else L - 1 if a dated
//              node of the slice reads it; else one less than the largest of the undated nodes
//              that read it. 0: only its input, H^(0), is read. Nobody reads it within L layers:
//              it is not in the slice.
//
// Order of the instances of a slice, by which runs number its targets: type after type, within a
// type dated[type] and then undated[type].
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/message/layer_graph.h"

namespace hgt {

// The dated nodes of one time, and the nodes without a time that they and each other meet.
struct TimeSlice {
  Time time = kNoTime;                            // of the undated
  std::vector<std::vector<NodeId>> dated = {};    // by type, ascending
  std::vector<std::vector<NodeId>> undated = {};  // by type, ascending
  // By type, beside `undated`: the last layer that somebody needs it of; 0: only its input.
  std::vector<std::vector<uint8_t>> last_layer = {};

  uint64_t num_undated() const;
  uint64_t num_targets() const;  // dated and undated
};

// Some targets of a slice with all they read, as a layer computes them. The first sources of each
// type are its targets, in the slice's order.
struct SliceBlock {
  uint32_t slice = 0;  // the undated sources are all of this one
  LayerGraph graph = {};
  // [sources of the graph] dated: the node; undated: its place in the slice's list.
  std::vector<uint32_t> places = {};
  std::vector<bool> is_dated = {};  // [sources]
};

class TimeSlices {
 public:
  struct Options {
    Time at = kNoTime;                  // nothing later; kNoTime: the last time of the graph
    bool single = false;                // one slice only
    std::vector<Relation> hidden = {};  // and their reverses
    uint32_t layers = 1;
    std::vector<NodeType> types = {};  // asked for after the last layer; undated ones at `at`
    bool degrees = false;              // count LayerGraph::source_degrees
  };
  TimeSlices(const HeteroGraph& graph, const Options& options);

  std::span<const TimeSlice> slices() const { return slices_; }
  uint64_t num_instances() const;
  bool is_dated(NodeType type, NodeId node) const { return graph_.time(type, node) != kNoTime; }

  // Targets in runs that read about as much each: those of [first, last) in the slice's order that
  // are needed of the layer, last_layer >= layer. Runs are by slice.
  struct Run {
    uint32_t slice = 0;
    uint32_t layer = 0;
    uint64_t first = 0;
    uint64_t last = 0;
  };
  // Of what is needed of a layer, 1 .. layers.
  std::vector<Run> runs(uint32_t layer) const;

  // Makes blocks; one thread at a time.
  class Reader {
   public:
    explicit Reader(const TimeSlices& slices);
    void read(const Run& run, SliceBlock& block);

   private:
    // Writes source_offsets, places and is_dated of the sources that were numbered.
    void locate_sources(const Run& run, SliceBlock& block);
    uint32_t number_of(NodeType type, NodeId node);
    // What an instance of the node reads, itself included: the same in all slices.
    uint32_t degree(NodeType type, NodeId node);

    const TimeSlices& slices_;
    // By type and node: the number of a source in the block at hand, and the block that wrote it.
    // A number counts only if its stamp is stamp_, so that nothing has to be cleared between
    // blocks.
    std::vector<std::vector<uint32_t>> numbers_;
    std::vector<std::vector<uint32_t>> stamps_;
    std::vector<std::vector<NodeId>> sources_;  // by type, in the order of their numbers
    uint32_t stamp_ = 0;
    std::vector<std::vector<uint32_t>> degrees_;  // by type and node; 0: not counted yet
  };

 private:
  struct Target {
    NodeType type;
    NodeId node;
    Time time;            // its own, or that of the slice
    uint32_t last_layer;  // that is needed
  };
  // An instance by its number in the slice's order.
  Target target(uint32_t slice, uint64_t number) const;
  // Calls use(relation, type, node, gap) for all that a target may read, then for itself.
  template <typename Use>
  void for_sources(const Target& target, Time slice_time, Use use) const;
  bool is_hidden(Relation relation) const { return hidden_[index(relation)]; }
  void make_slices(bool single);
  using Marks = std::vector<std::vector<uint32_t>>;  // by type and node: the last slice it is in
  class Closure;
  void add_undated(TimeSlice& slice, Marks& marks, uint32_t mark) const;
  void append_runs(uint32_t slice, uint32_t layer, std::vector<Run>& runs) const;
  bool is_asked_for(NodeType type) const;
  uint64_t degree(const Target& target) const;  // edges at most, its own included

  const HeteroGraph graph_;
  Time at_;
  std::vector<bool> hidden_;       // by relation
  std::vector<bool> has_undated_;  // by type: is there a node without a time?
  uint32_t layers_;
  std::vector<NodeType> types_;
  bool degrees_;
  std::vector<TimeSlice> slices_;
};

}  // namespace hgt
