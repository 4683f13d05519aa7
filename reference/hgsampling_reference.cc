#include "reference/hgsampling_reference.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace hgt {

namespace {

using Instance = std::tuple<NodeType, NodeId, Time>;
using BudgetOfType = std::map<std::pair<NodeId, Time>, double>;  // B[tau]

class SamplingReference {
 public:
  SamplingReference(const HeteroGraph& graph, const Request& request,
                    const SamplingOptions& options, uint64_t random_seed)
      : graph_(graph), request_(request), options_(options), random_(random_seed) {}

  std::set<SampledInstance> run();
  std::set<SampledInstance> run_neighbors();

 private:
  void place_seeds();
  void add_in_budget(const Instance& target);
  std::vector<size_t> entries_to_read(size_t degree, uint32_t cap);
  void follow(const Instance& target, uint32_t hop);
  std::vector<size_t> latest_entries(const Neighbors& list, Relation relation,
                                     const Instance& target);
  bool visible(const Neighbors& list, size_t i, Relation relation, const Instance& target) const;
  Time time_of(const Neighbors& list, size_t i, Relation relation, Time target_time) const;
  std::set<SampledInstance> result() const;
  std::vector<std::pair<NodeId, Time>> sample(BudgetOfType candidates);
  bool listed(const std::vector<Relation>& relations, Relation relation) const;
  bool hidden(Relation relation, NodeId source, NodeId target) const;

  const HeteroGraph& graph_;
  const Request& request_;
  const SamplingOptions& options_;
  std::mt19937_64 random_;
  Time last_time_ = std::numeric_limits<Time>::max();
  std::map<NodeType, BudgetOfType> budget_;  // B
  std::map<Instance, uint32_t> sampled_;     // NS and OS, which are one; with the step
};

// --- Algorithm 1 ---

std::set<SampledInstance> SamplingReference::run() {
  const size_t types = graph_.schema().node_types().size();
  place_seeds();  // lines 1 and 2
  const std::map<Instance, uint32_t> seeds = sampled_;
  for (const auto& [t, hop] : seeds) add_in_budget(t);       // lines 3 to 5
  for (uint32_t step = 1; step <= options_.depth; ++step) {  // line 6
    for (size_t i = 0; i < types; ++i) {                     // line 7
      const NodeType type{static_cast<uint16_t>(i)};
      for (const auto& [node, time] : sample(budget_[type])) {  // lines 8 to 12
        sampled_[{type, node, time}] = step;                    // line 13
        add_in_budget({type, node, time});                      // line 14
        budget_[type].erase({node, time});                      // line 15
      }
    }
  }
  return result();
}

std::set<SampledInstance> SamplingReference::result() const {
  std::set<SampledInstance> result;
  for (const auto& [instance, hop] : sampled_) {
    const auto& [type, node, time] = instance;
    result.insert({.type = type, .node = node, .time = time, .hop = hop});
  }
  return result;
}

void SamplingReference::place_seeds() {
  if (ends_with_split(options_.time_bound)) last_time_ = options_.split_end;
  for (const Seed& seed : request_.seeds) {
    const Time own = graph_.time(seed.type, seed.node);
    const Time time = own == kNoTime ? seed.time : own;
    sampled_[{seed.type, seed.node, time}] = 0;
    if (options_.time_bound == TimeBound::seed && time != kNoTime) last_time_ = time;
  }
}

// Lines 8 to 11. One after the other, without replacement: each time in proportion to the square
// of the accumulated normalized degree, among those that are left.
std::vector<std::pair<NodeId, Time>> SamplingReference::sample(BudgetOfType candidates) {
  std::vector<std::pair<NodeId, Time>> drawn;
  while (drawn.size() < options_.width && !candidates.empty()) {
    double squares = 0;  // the square of the norm of B[tau]
    for (const auto& [s, degree] : candidates) squares += degree * degree;
    const double point = std::uniform_real_distribution<double>(0, squares)(random_);
    double sum = 0;
    auto chosen = candidates.begin();
    for (auto s = candidates.begin(); s != candidates.end() && sum <= point; ++s) {
      sum += s->second * s->second;
      chosen = s;
    }
    drawn.push_back(chosen->first);
    candidates.erase(chosen);
  }
  return drawn;
}

// --- Algorithm 2 ---

void SamplingReference::add_in_budget(const Instance& target) {
  const auto& [target_type, t, target_time] = target;
  for (const Relation relation : graph_.schema().incoming(target_type)) {  // line 1
    const NodeType type = graph_.schema().at(relation).source;
    const Neighbors list = graph_.incoming(relation, t);
    const std::vector<size_t> entries = entries_to_read(list.size(), options_.neighbor_cap);
    const double share = 1.0 / static_cast<double>(entries.size());  // line 2
    for (const size_t i : entries) {                                 // line 3
      const NodeId s = list.sources[i];
      const Time time = time_of(list, i, relation, target_time);  // lines 5 to 7
      if (!visible(list, i, relation, target)) continue;
      // Line 4 comes after lines 5 to 7: the time is a part of what has or has not been sampled.
      if (sampled_.contains({type, s, time})) continue;
      budget_[type][{s, time}] += share;  // line 8
    }
  }
}

// All entries of a list, or `cap` of them, each as likely as the other.
std::vector<size_t> SamplingReference::entries_to_read(size_t degree, uint32_t cap) {
  std::vector<size_t> entries(degree);
  std::iota(entries.begin(), entries.end(), size_t{0});
  if (cap == 0 || degree <= cap) return entries;
  std::shuffle(entries.begin(), entries.end(), random_);
  entries.resize(cap);
  return entries;
}

// --- neighbor sampling ---

std::set<SampledInstance> SamplingReference::run_neighbors() {
  place_seeds();
  for (uint32_t hop = 1; hop <= options_.fanout.size(); ++hop) {
    const std::map<Instance, uint32_t> before = sampled_;
    for (const auto& [target, own_hop] : before) {
      if (own_hop + 1 == hop) follow(target, hop);
    }
  }
  return result();
}

void SamplingReference::follow(const Instance& target, uint32_t hop) {
  const auto& [target_type, t, target_time] = target;
  for (const Relation relation : graph_.schema().incoming(target_type)) {
    const RelationSpec& spec = graph_.schema().at(relation);
    const Neighbors list = graph_.incoming(relation, t);
    const bool dated = spec.times || graph_.schema().at(spec.source).kind == NodeKind::event;
    std::vector<size_t> entries = options_.recent && dated
                                      ? latest_entries(list, relation, target)
                                      : entries_to_read(list.size(), options_.fanout[hop - 1]);
    if (options_.recent && dated && options_.fanout[hop - 1] > 0) {
      entries.resize(std::min<size_t>(entries.size(), options_.fanout[hop - 1]));
    }
    for (const size_t i : entries) {
      if (!visible(list, i, relation, target)) continue;
      const Time time = time_of(list, i, relation, target_time);
      sampled_.insert({{spec.source, list.sources[i], time}, hop});  // unless it is there
    }
  }
}

// The visible entries, the latest first: by the time of the edge, or else of the source; of equal
// ones the one that comes later in the list.
std::vector<size_t> SamplingReference::latest_entries(const Neighbors& list, Relation relation,
                                                      const Instance& target) {
  std::vector<std::pair<Time, size_t>> dated;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!visible(list, i, relation, target)) continue;
    const Time of_edge = list.times.empty() ? kNoTime : list.times[i];
    const Time own = graph_.time(graph_.schema().at(relation).source, list.sources[i]);
    dated.emplace_back(of_edge == kNoTime ? own : of_edge, i);
  }
  std::sort(dated.rbegin(), dated.rend());
  std::vector<size_t> entries;
  for (const auto& [time, i] : dated) entries.push_back(i);
  return entries;
}

// --- what must not be seen ---

// The time of the instance that entry i becomes when it is met through a target of that time.
Time SamplingReference::time_of(const Neighbors& list, size_t i, Relation relation,
                                Time target_time) const {
  const Time own = graph_.time(graph_.schema().at(relation).source, list.sources[i]);
  return own == kNoTime ? target_time : own;
}

bool SamplingReference::visible(const Neighbors& list, size_t i, Relation relation,
                                const Instance& target) const {
  const auto& [target_type, t, target_time] = target;
  if (time_of(list, i, relation, target_time) > last_time_) return false;
  if (!list.times.empty() && list.times[i] > last_time_) return false;
  return !hidden(relation, list.sources[i], t);
}

bool SamplingReference::listed(const std::vector<Relation>& relations, Relation relation) const {
  for (const Relation each : relations) {
    if (each == relation || graph_.schema().reverse(each) == relation) return true;
  }
  return false;
}

bool SamplingReference::hidden(Relation relation, NodeId source, NodeId target) const {
  const RelationSpec& spec = graph_.schema().at(relation);
  if (listed(options_.hidden.everywhere, relation)) return true;
  for (const Seed& seed : request_.seeds) {
    const bool at_seed = (seed.type == spec.source && seed.node == source) ||
                         (seed.type == spec.target && seed.node == target);
    if (at_seed && listed(options_.hidden.at_seeds, relation)) return true;
  }
  for (const auto* edges : {&options_.hidden.edges, &request_.hidden}) {
    for (const HiddenEdge& edge : *edges) {
      const bool same = edge.relation == relation && edge.source == source && edge.target == target;
      const bool reversed = graph_.schema().reverse(edge.relation) == relation &&
                            edge.source == target && edge.target == source;
      if (same || reversed) return true;
    }
  }
  return false;
}

}  // namespace

std::set<SampledInstance> hgsampling_reference(const HeteroGraph& graph, const Request& request,
                                               const SamplingOptions& options,
                                               uint64_t random_seed) {
  return SamplingReference(graph, request, options, random_seed).run();
}

std::set<SampledInstance> neighbors_reference(const HeteroGraph& graph, const Request& request,
                                              const SamplingOptions& options,
                                              uint64_t random_seed) {
  return SamplingReference(graph, request, options, random_seed).run_neighbors();
}

}  // namespace hgt
