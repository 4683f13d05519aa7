// The vectors of nodes as a trained model sees them at a time: sub-graphs are seeded with the
// instances (node, time), several are drawn and their vectors averaged. (Paper, section 5.4.)
//
// The time of an instance changes the gaps to its neighbors and nothing else, unless `until` cuts
// the graph there, or the run's time bound, where that is each seed's own time: the sub-graphs of
// two times are drawn with the same numbers.
//
//   Representations venues(run, venue);
//   const std::vector<float> then = venues.at(2000, nodes);   // [nodes * width]
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hgt/progress.h"
#include "hgt/training/run.h"

namespace hgt {

struct RepresentationOptions {
  uint32_t samples = 8;  // sub-graphs per node
  uint32_t layer = 0;    // whose output is taken; 0: represented_layer()
  bool until = false;    // nothing later than the time, of an event its own, is seen
};

// The last layer that training made use of for nodes of the type. 0: none.
uint32_t represented_layer(const Run& run, NodeType type);

class Representations {
 public:
  // With the weights of the first seed. `run` must outlive it. Throws Error: not trained yet, no
  // such layer, no layer that was trained for the type, a model without vectors (majority), or
  // `until` in a graph without times.
  Representations(const Run& run, NodeType type, const RepresentationOptions& options);
  Representations(Representations&&) noexcept;
  ~Representations();

  // [nodes * width()]. Events have their own time: `time` must be kNoTime for them.
  std::vector<float> at(Time time, std::span<const NodeId> nodes,
                        const ProgressSink& progress = no_progress) const;

  uint64_t width() const;
  uint32_t layer() const;
  NodeType type() const;
  const HeteroGraph& graph() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
