#include "hgt/sampling/candidate_reader.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace hgt {

CandidateReader::CandidateReader(HeteroGraph graph, const Visibility& visibility,
                                 PageRequests& pages)
    : graph_(std::move(graph)), visibility_(visibility), pages_(pages) {}

void CandidateReader::read_together(const Targets& targets, ListCut cut, Draws& draws) {
  if (pages_.are_wanted()) ask_for_offsets(targets, cut.latest);
  choose_entries(targets, cut, draws);
  if (pages_.are_wanted()) ask_for_entries();
  load_sources(targets.type);
  lists_.clear();
  for (const Range& range : ranges_) list_visible(range);
}

// whole_lists: they are read to choose from.
void CandidateReader::ask_for_offsets(const Targets& targets, bool whole_lists) {
  for (const NodeId node : targets.nodes) {
    graph_.append_offset_memory(targets.type, node, pages_.ranges());
  }
  pages_.send();
  if (!whole_lists) return;
  const auto relations = graph_.schema().incoming(targets.type);
  for (const NodeId node : targets.nodes) {
    const auto offsets = graph_.incoming_offsets(targets.type, node, offsets_);
    for (size_t slot = 0; slot < relations.size(); ++slot) {
      graph_.append_entry_memory(relations[slot], node, {offsets[slot], offsets[slot + 1]},
                                 pages_.ranges());
    }
  }
  pages_.send();
}

void CandidateReader::ask_for_entries() {
  for (const Range& range : ranges_) {
    for (size_t i = range.first; i < range.last;) {
      size_t end = i + 1;  // of successive entries
      while (end < range.last && positions_[end] == positions_[end - 1] + 1) ++end;
      graph_.append_entry_memory(range.relation, range.target,
                                 {positions_[i], positions_[end - 1] + 1}, pages_.ranges());
      i = end;
    }
  }
  pages_.send();
}

// Which positions of which lists are read.
void CandidateReader::choose_entries(const Targets& targets, ListCut cut, Draws& draws) {
  ranges_.clear();
  positions_.clear();
  for (const NodeId node : targets.nodes) graph_.prefetch_offsets(targets.type, node);
  const auto relations = graph_.schema().incoming(targets.type);
  for (size_t i = 0; i < targets.nodes.size(); ++i) {
    const NodeId target = targets.nodes[i];
    const auto offsets = graph_.incoming_offsets(targets.type, target, offsets_);
    for (size_t slot = 0; slot < relations.size(); ++slot) {
      const EdgePosition begin = offsets[slot];
      const EdgePosition end = offsets[slot + 1];
      if (begin == end || visibility_.hides_all(relations[slot])) continue;
      const uint64_t kept = cut.cap == 0 ? end - begin : std::min<uint64_t>(cut.cap, end - begin);
      Range range{.relation = relations[slot],
                  .target = target,
                  .target_time = targets.times[i],
                  .share = 1.0 / static_cast<double>(kept),  // Algorithm 2, line 2
                  .first = positions_.size(),
                  .last = positions_.size() + kept};
      const bool latest = cut.latest && kept < end - begin && has_dated_entries(range.relation);
      latest ? choose_latest(range, begin, end, kept) : choose(range, begin, end, draws);
      ranges_.push_back(range);
    }
  }
}

void CandidateReader::choose(Range& range, EdgePosition begin, EdgePosition end, Draws& draws) {
  positions_.resize(range.last);
  EdgePosition* into = positions_.data() + range.first;
  const uint64_t kept = range.last - range.first;
  if (kept == end - begin) {
    for (uint64_t i = 0; i < kept; ++i) into[i] = begin + i;
    return;
  }
  choice_.choose(end - begin, kept, draws, [&](uint64_t position) { *into++ = begin + position; });
}

bool CandidateReader::has_dated_entries(Relation relation) const {
  const RelationSpec& spec = graph_.schema().at(relation);
  return spec.times || !graph_.times(spec.source).empty();
}

// The latest entries so far are a heap, the earliest of them on top.
void CandidateReader::keep(const DatedEntry& entry, uint64_t wanted) {
  if (latest_.size() == wanted) {
    std::pop_heap(latest_.begin(), latest_.end(), std::greater<>());
    latest_.pop_back();
  }
  latest_.push_back(entry);
  std::push_heap(latest_.begin(), latest_.end(), std::greater<>());
}

// Goes through the whole list: it is sorted by source, not by time.
void CandidateReader::choose_latest(Range& range, EdgePosition begin, EdgePosition end,
                                    uint64_t wanted) {
  const RelationSpec& spec = graph_.schema().at(range.relation);
  const Neighbors list = graph_.incoming(range.relation, range.target);
  const auto own_times = graph_.times(spec.source);
  const Sight sight = sight_of(range);
  latest_.clear();
  for (EdgePosition position = begin; position < end; ++position) {
    const NodeId node = list.sources[position - begin];
    const Time own = own_times.empty() ? kNoTime : own_times[node];
    const Time of_edge = list.times.empty() ? kNoTime : list.times[position - begin];
    const DatedEntry entry{.time = of_edge == kNoTime ? own : of_edge, .position = position};
    if (latest_.size() == wanted && entry < latest_.front()) continue;
    if (!sees(sight, node, own == kNoTime ? range.target_time : own, position)) continue;
    keep(entry, wanted);
  }
  range.last = range.first + latest_.size();
  positions_.resize(range.last);
  for (size_t i = 0; i < latest_.size(); ++i) positions_[range.first + i] = latest_[i].position;
  std::sort(positions_.begin() + static_cast<ptrdiff_t>(range.first), positions_.end());
}

CandidateReader::Sight CandidateReader::sight_of(const Range& range) const {
  Sight sight{.relation = range.relation,
              .target = range.target,
              .may_hide = visibility_.may_hide(range.relation),
              .edge_times = {}};
  if (graph_.schema().at(range.relation).times && visibility_.has_bound()) {
    const Neighbors list = graph_.unchecked_incoming(range.relation, range.target);
    sight.edge_times = list.times;
    sight.first = list.first;
  }
  return sight;
}

// `time` is that of the instance which the entry would become.
bool CandidateReader::sees(const Sight& sight, NodeId node, Time time,
                           EdgePosition position) const {
  if (visibility_.too_late(time)) return false;
  const auto& edge_times = sight.edge_times;
  if (!edge_times.empty() && visibility_.too_late(edge_times[position - sight.first])) return false;
  return !(sight.may_hide && visibility_.hides(sight.relation, node, sight.target));
}

void CandidateReader::load_sources(NodeType target_type) {
  const auto sources = graph_.incoming_sources(target_type);
  nodes_.resize(positions_.size());
  times_.resize(positions_.size());
  for (size_t i = 0; i < positions_.size(); ++i) nodes_[i] = sources[positions_[i]];
  for (const Range& range : ranges_) {
    const NodeType type = graph_.schema().at(range.relation).source;
    const auto nodes = std::span(nodes_).subspan(range.first, range.last - range.first);
    graph_.check_sources(range.relation, nodes, std::span(positions_).subspan(range.first));
    const auto own_times = graph_.times(type);
    const auto times = std::span(times_).subspan(range.first, nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      times[i] = own_times.empty() ? kNoTime : own_times[nodes[i]];
    }
    graph_.check_times(type, nodes, times);
  }
}

// Leaves out what may not be seen and gives the rest their times: Algorithm 2, lines 4 to 7.
void CandidateReader::list_visible(const Range& range) {
  const RelationSpec& spec = graph_.schema().at(range.relation);
  const Sight sight = sight_of(range);
  size_t end = range.first;
  for (size_t i = range.first; i < range.last; ++i) {
    const NodeId node = nodes_[i];
    const Time time = times_[i] == kNoTime ? range.target_time : times_[i];
    if (!sees(sight, node, time, positions_[i])) continue;
    nodes_[end] = node;
    times_[end++] = time;
  }
  if (end == range.first) return;
  const size_t count = end - range.first;
  lists_.push_back({.type = spec.source,
                    .share = range.share,
                    .nodes = std::span(nodes_).subspan(range.first, count),
                    .times = std::span(times_).subspan(range.first, count)});
}

}  // namespace hgt
