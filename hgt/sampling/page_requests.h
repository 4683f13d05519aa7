// Pages of a graph that does not fit in memory, asked for before they are read.
//
// The graph is mapped: who touches a page that is not in memory waits for the disk, and a disk that
// is asked for one page after the other gives a fifth of what it gives when it is asked for many.
// So before the lists of a step are read, the pages of all of them are asked for. To ask costs time
// where everything is in memory, so requests stop when batches no longer read from the disk, and
// begin again when they do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/disk/mapping.h"
#include "hgt/disk/memory_limit.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

class PageRequests {
 public:
  // Of a graph that does not fit in `memory`: its arrays are read at random from now on, and
  // the times of nodes, which are small and read for every candidate, are brought into memory. Of
  // other graphs nothing is ever asked for: the system reads far around what is missing, and soon
  // has all of them.
  PageRequests(const HeteroGraph& graph, uint64_t memory);

  bool are_wanted() const { return wanted_; }  // if not, adding and sending can be left out

  void begin_batch();
  std::vector<MemoryRange>& ranges() { return ranges_; }  // to add to
  void send();
  void end_batch();

 private:
  const bool large_;
  bool wanted_;
  uint64_t blocks_before_ = 0;  // of the disk, that this thread had read
  unsigned batches_from_memory_ = 0;
  std::vector<MemoryRange> ranges_;
};

// For those who look at the lists of nodes before these are sampled: asks for the pages of all of
// them, and only for the beginnings of long ones. No effect on a graph that fits in memory.
void ask_for_lists(const HeteroGraph& graph, std::span<const Seed> seeds,
                   uint64_t memory = memory_here());

}  // namespace hgt
