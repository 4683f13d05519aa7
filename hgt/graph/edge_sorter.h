// Sorts the edges of one meta relation by (target, source, time, weight), through runs on disk when
// they do not fit in memory.
//
// Edges fill blocks; a full block is sorted by a background thread; when all sorters of one
// SortSpace together exceed its bound, the largest one merges its blocks into a sorted run on disk,
// in the background as well. Reading merges blocks and runs, a little ahead of current(). Runs are
// unlinked as soon as they are created: they vanish with the process, however it ends. In memory an
// edge takes 8 bytes, 16 with a time or a weight; in a run (sorted_run.h) about half of that, until
// it has been read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hgt/graph/graph_builder.h"
#include "hgt/graph/types.h"

namespace hgt {

// Memory, disk folder and background threads shared by several sorters. Outlives them.
class SortSpace {
 public:
  // Besides `memory`, a thread takes a block of at most 8 MB while it sorts. 0 threads: everything
  // is done by those who add and read.
  SortSpace(Path folder, uint64_t memory, unsigned threads = 1);
  SortSpace(const SortSpace&) = delete;
  SortSpace& operator=(const SortSpace&) = delete;
  ~SortSpace();

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

class EdgeSorter {
 public:
  EdgeSorter(SortSpace& space, bool times, bool weights);
  EdgeSorter(EdgeSorter&&) noexcept;
  EdgeSorter& operator=(EdgeSorter&&) noexcept;
  ~EdgeSorter();

  void add(const Edge& edge);
  uint64_t size() const;
  std::optional<std::pair<Time, Time>> time_range() const;  // of the times that are there
  uint64_t runs() const;                                    // on disk so far

  // --- after the last add(): the edges in order, once ---
  void begin_reading();
  // The current edge; null at the end. Valid until advance().
  const Edge* current() const;
  void advance();

  class Store;  // one implementation for plain edges, one for edges with time or weight

 private:
  std::unique_ptr<Store> store_;
  std::vector<Edge> edges_;  // read already
  size_t at_ = 0;            // of the current one
};

}  // namespace hgt
