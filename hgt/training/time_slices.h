// The instances of a whole graph, by the time of those nodes that have none of their own, and what
// each of them reads. See whole_graph.h.
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
  std::vector<std::vector<NodeId>> dated = {};    // by type
  std::vector<std::vector<NodeId>> undated = {};  // by type, ascending
  // [undated] The last layer that somebody needs it of; 0: only its input.
  std::vector<std::vector<uint8_t>> last_layer = {};

  uint64_t num_undated() const;
  uint64_t num_targets() const;
};

// Some targets of a slice with all they read, as a layer computes them.
struct SliceBlock {
  uint32_t slice = 0;
  LayerGraph graph = {};
  // [sources of the graph] dated: the node; undated: its place in the slice's list.
  std::vector<uint32_t> places = {};
  std::vector<bool> is_dated = {};  // [sources]
};

class TimeSlices {
 public:
  struct Options {
    Time at = kNoTime;    // nothing later
    bool single = false;  // one slice only
    std::vector<Relation> hidden = {};
    uint32_t layers = 1;
    std::vector<NodeType> types = {};  // asked for after the last layer; undated ones at `at`
  };
  TimeSlices(const HeteroGraph& graph, const Options& options);

  std::span<const TimeSlice> slices() const { return slices_; }
  uint64_t num_instances() const;
  bool is_dated(NodeType type, NodeId node) const { return graph_.time(type, node) != kNoTime; }

  // Targets in runs that read about as much each: those of [first, last) in the slice's order,
  // which is by type, dated first, that are needed of the layer.
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
    void number_sources(const Run& run, SliceBlock& block);
    uint32_t number_of(NodeType type, NodeId node);

    const TimeSlices& slices_;
    // By type and node: the number of a source in the block at hand, and the block that wrote it.
    std::vector<std::vector<uint32_t>> numbers_;
    std::vector<std::vector<uint32_t>> stamps_;
    std::vector<std::vector<NodeId>> sources_;  // by type, in the order of their numbers
    uint32_t stamp_ = 0;
  };

 private:
  struct Target {
    NodeType type;
    NodeId node;
    Time time;
    uint32_t last_layer;
  };
  Target target(uint32_t slice, uint64_t number) const;
  // Calls use(relation number, source, gap) for all that a target may read, then for itself.
  template <typename Use>
  void for_sources(const Target& target, Time slice_time, Use use) const;
  bool is_hidden(Relation relation) const { return hidden_[index(relation)]; }
  void make_slices(bool single);
  using Marks = std::vector<std::vector<uint32_t>>;  // by type and node: the last slice it is in
  class Closure;
  void add_undated(TimeSlice& slice, Marks& marks, uint32_t mark) const;
  void append_runs(uint32_t slice, uint32_t layer, std::vector<Run>& runs) const;
  bool is_asked_for(NodeType type) const;
  uint64_t degree(const Target& target) const;

  const HeteroGraph graph_;
  Time at_;
  std::vector<bool> hidden_;       // by relation
  std::vector<bool> has_undated_;  // by type
  uint32_t layers_;
  std::vector<NodeType> types_;
  std::vector<TimeSlice> slices_;
};

}  // namespace hgt
