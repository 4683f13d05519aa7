#include "hgt/sampling/strategies.h"

#include <cmath>
#include <vector>

namespace hgt {

namespace {

// Algorithm 2 for the instances of one type from number `first` on.
void add_in_budget(Draft& draft, CandidateReader& reader, NodeType type, uint32_t first,
                   uint32_t neighbor_cap, Draws& draws) {
  const auto add = [&](const CandidateList& list) {
    Budget& budget = draft.budget(list.type);
    for (size_t i = 0; i < list.nodes.size(); ++i) {
      budget.add(list.nodes[i], list.times[i], list.share);
    }
  };
  const auto ask = [&](const CandidateList& list) {
    const Budget& budget = draft.budget(list.type);
    for (size_t i = 0; i < list.nodes.size(); ++i) budget.prefetch(list.nodes[i], list.times[i]);
  };
  reader.read(draft.range(type, first, draft.size(type)), {.cap = neighbor_cap}, draws, ask, add);
}

void record(const Budget& budget, SamplingTrace::Draw& record) {
  double squares = 0;
  for (uint32_t slot = 0; slot < budget.size(); ++slot) {
    const double weight = budget.weight(slot);
    if (std::isnan(weight)) continue;
    record.candidates.push_back(
        {.node = budget.node(slot), .time = budget.time(slot), .weight = weight});
    squares += weight * weight;
  }
  for (SamplingTrace::Candidate& candidate : record.candidates) {
    candidate.probability = candidate.weight * candidate.weight / squares;
  }
}

// Marks which of the recorded candidates the draw took out of the budget.
void record_drawn(const Budget& budget, SamplingTrace::Draw& record) {
  for (SamplingTrace::Candidate& candidate : record.candidates) {
    candidate.drawn = std::isnan(budget.weight(budget.find(candidate.node, candidate.time)));
  }
}

// One step for one type; false: there was no candidate.
bool draw_type(Draft& draft, CandidateReader& reader, const HgSamplingSize& size, NodeType type,
               Draws& draws, SamplingTrace* trace) {
  Budget& budget = draft.budget(type);
  if (trace != nullptr) {
    record(budget, trace->draws.emplace_back(SamplingTrace::Draw{
                       .component = draft.component(), .step = draft.hop(), .type = type}));
  }
  const uint32_t first = draft.size(type);
  const std::vector<uint32_t>& drawn = budget.draw(size.width, draws);  // lines 8 to 11, and 15
  for (const uint32_t slot : drawn) draft.add(type, budget.node(slot), budget.time(slot));
  if (trace != nullptr) record_drawn(budget, trace->draws.back());
  add_in_budget(draft, reader, type, first, size.neighbor_cap, draws);  // line 14
  return !drawn.empty();
}

// Adds the neighbors of the targets that are not in the draft yet.
void add_neighbors(Draft& draft, CandidateReader& reader, const Targets& targets, ListCut cut,
                   Draws& draws) {
  // The reader gets a copy: what it reads may grow the very columns it would read from.
  const std::vector<NodeId> nodes(targets.nodes.begin(), targets.nodes.end());
  const std::vector<Time> times(targets.times.begin(), targets.times.end());
  const auto add = [&](const CandidateList& list) {
    for (size_t i = 0; i < list.nodes.size(); ++i) {
      if (!draft.budget(list.type).take(list.nodes[i], list.times[i])) continue;
      draft.add(list.type, list.nodes[i], list.times[i]);
    }
  };
  const auto ignore = [](const CandidateList& /*list*/) {};
  reader.read({.type = targets.type, .nodes = nodes, .times = times}, cut, draws, ignore, add);
}

}  // namespace

void draw_hgsampling(Draft& draft, CandidateReader& reader, const HgSamplingSize& size,
                     Draws& draws, SamplingTrace* trace) {
  for (size_t type = 0; type < draft.num_types(); ++type) {  // lines 3 to 5
    add_in_budget(draft, reader, NodeType(type), draft.component_begin(NodeType(type)),
                  size.neighbor_cap, draws);
  }
  bool more = true;  // once all budgets are empty they stay so
  for (uint32_t step = 1; more && step <= size.depth; ++step) {  // line 6
    draft.begin_hop(step);
    more = false;
    for (size_t type = 0; type < draft.num_types(); ++type) {  // line 7
      more |= draw_type(draft, reader, size, NodeType(type), draws, trace);
    }
  }
}

void draw_neighbors(Draft& draft, CandidateReader& reader, const NeighborHops& size, Draws& draws) {
  std::vector<uint32_t> first(draft.num_types());  // of the hop before
  std::vector<uint32_t> last(draft.num_types());
  for (size_t type = 0; type < first.size(); ++type) {
    first[type] = draft.component_begin(NodeType(type));
  }
  for (uint32_t hop = 0; hop < size.hops; ++hop) {
    draft.begin_hop(hop + 1);
    for (size_t type = 0; type < last.size(); ++type) last[type] = draft.size(NodeType(type));
    if (first == last) return;
    const ListCut cut{.cap = hop < size.fanouts.size() ? size.fanouts[hop] : 0,
                      .latest = size.recent};
    for (size_t type = 0; type < last.size(); ++type) {
      add_neighbors(draft, reader, draft.range(NodeType(type), first[type], last[type]), cut,
                    draws);
    }
    first = last;
  }
}

}  // namespace hgt
