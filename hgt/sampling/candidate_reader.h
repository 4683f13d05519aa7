// Algorithm 2 up to its last line: the neighbors of sampled instances with the time that each of
// them gets and its share of the target's normalized degree.
//
// A graph of millions of nodes does not fit in the caches, and neighbors lie anywhere. So the
// lists of a few targets are read together, stage by stage (offsets, entries, times), each in a
// loop whose reads do not depend on each other: the processor then waits for many cache lines at
// once instead of for one after the other. From a graph that does not fit in memory many more are
// read together, and each stage first asks for the pages that it will need (page_requests.h).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/random.h"
#include "hgt/sampling/page_requests.h"
#include "hgt/sampling/uniform_choice.h"
#include "hgt/sampling/visibility.h"

namespace hgt {

// What one list of one target contributes.
struct CandidateList {
  NodeType type{};                // of the candidates
  double share = 0;               // 1 / degree, or 1 / cap when the list was cut
  std::span<const NodeId> nodes;  // only those that may be seen
  std::span<const Time> times;    // event nodes: their own; others: the target's
};

// How much of each list is read.
struct ListCut {
  uint32_t cap = 0;     // entries at most; 0: all
  bool latest = false;  // the latest of them that may be seen; otherwise drawn uniformly from all
};

// Instances of one type.
struct Targets {
  NodeType type{};
  std::span<const NodeId> nodes;
  std::span<const Time> times;
};

class CandidateReader {
 public:
  // `visibility` and `pages` must outlive the reader.
  CandidateReader(HeteroGraph graph, const Visibility& visibility, PageRequests& pages);

  // Reads all lists of the targets; calls visit(CandidateList) for each that is not empty, in the
  // order of targets and of their relations. `ask` is called with the same lists a little earlier,
  // to ask for the memory that visit needs. Throws Error: a damaged graph.
  //
  // The time of an entry is that of the edge, or else its source's own. With `cut.latest` undated
  // entries come last, and of equal ones those nearer to the end of the list first; a list of a
  // relation whose entries have no times is drawn from uniformly.
  template <typename Ask, typename Visit>
  void read(const Targets& targets, ListCut cut, Draws& draws, const Ask& ask, const Visit& visit) {
    const size_t together = pages_.are_wanted() && cut.cap > 0 ? kTogetherFromDisk : kTogether;
    for (size_t first = 0; first < targets.nodes.size(); first += together) {
      const size_t count = std::min(together, targets.nodes.size() - first);
      read_together({.type = targets.type,
                     .nodes = targets.nodes.subspan(first, count),
                     .times = targets.times.subspan(first, count)},
                    cut, draws);
      for (const CandidateList& list : lists_) ask(list);
      for (const CandidateList& list : lists_) visit(list);
    }
  }

 private:
  // The chosen entries of one list: positions_[first .. last).
  struct Range {
    Relation relation{};
    NodeId target = 0;
    Time target_time = kNoTime;
    double share = 0;
    size_t first = 0;
    size_t last = 0;
  };

  // An entry with the time by which the latest are found.
  struct DatedEntry {
    Time time = kNoTime;
    EdgePosition position = 0;
    friend auto operator<=>(const DatedEntry&, const DatedEntry&) = default;
  };
  // Which entries of a list may be seen.
  struct Sight {
    Relation relation{};
    NodeId target = 0;
    bool may_hide = false;
    EdgeTimes edge_times;    // of all its entries; empty: none of them can be too late
    EdgePosition first = 0;  // of its entries
  };

  void read_together(const Targets& targets, ListCut cut, Draws& draws);
  void ask_for_offsets(const Targets& targets, bool whole_lists);
  void ask_for_entries();
  void choose_entries(const Targets& targets, ListCut cut, Draws& draws);
  void choose(Range& range, EdgePosition begin, EdgePosition end, Draws& draws);
  void choose_latest(Range& range, EdgePosition begin, EdgePosition end, uint64_t wanted);
  void keep(const DatedEntry& entry, uint64_t wanted);
  bool has_dated_entries(Relation relation) const;
  Sight sight_of(const Range& range) const;
  bool sees(const Sight& sight, NodeId node, Time time, EdgePosition position) const;
  void load_sources(NodeType target_type);
  void list_visible(const Range& range);

  static constexpr size_t kTogether = 16;
  static constexpr size_t kTogetherFromDisk = 256;  // disks need more to do at once than processors

  const HeteroGraph graph_;
  const Visibility& visibility_;
  PageRequests& pages_;
  UniformChoice choice_;
  std::vector<Range> ranges_;
  std::vector<EdgePosition> positions_;
  std::vector<NodeId> nodes_;
  std::vector<Time> times_;
  std::vector<CandidateList> lists_;
  std::vector<DatedEntry> latest_;
  std::vector<EdgePosition> offsets_;  // of the target at hand
};

}  // namespace hgt
