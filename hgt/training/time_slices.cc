// See time_slices.h. Made once: the slices with their undated nodes (Closure). Made for each layer:
// runs of targets. Made for each run, one after the other: a block, whose sources Reader numbers
// type by type, the targets first.
#include "hgt/training/time_slices.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "hgt/sampling/subgraph.h"

namespace hgt {

namespace {

// A run of targets reads up to this many edges, of up to this many targets, or is a single hub.
constexpr uint64_t kEdgesPerRun = uint64_t{1} << 16U;
constexpr uint64_t kTargetsPerRun = uint64_t{1} << 13U;

uint64_t total(const std::vector<std::vector<NodeId>>& lists) {
  uint64_t sum = 0;
  for (const auto& list : lists) sum += list.size();
  return sum;
}

}  // namespace

uint64_t TimeSlice::num_undated() const { return total(undated); }
uint64_t TimeSlice::num_targets() const { return total(undated) + total(dated); }

TimeSlices::TimeSlices(const HeteroGraph& graph, const Options& options)
    : graph_(graph),
      at_(options.at),
      hidden_(graph.schema().relations().size()),
      layers_(options.layers),
      types_(options.types),
      degrees_(options.degrees) {
  const Schema& schema = graph_.schema();
  if (at_ == kNoTime) {
    at_ = schema.time_range ? schema.time_range->second : std::numeric_limits<Time>::max();
  }
  for (const Relation relation : options.hidden) {
    hidden_[index(relation)] = true;
    hidden_[index(schema.reverse(relation))] = true;
  }
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    const auto times = graph_.times(NodeType(i));
    has_undated_.push_back(times.empty() ||
                           std::find(times.begin(), times.end(), kNoTime) != times.end());
  }
  make_slices(options.single);
}

void TimeSlices::make_slices(bool single) {
  const size_t types = graph_.schema().node_types().size();
  std::map<Time, TimeSlice> by_time;
  const auto slice_of = [&](Time time) -> TimeSlice& {
    TimeSlice& slice = by_time[time];
    slice.time = time;
    slice.dated.resize(types);
    slice.undated.resize(types);
    slice.last_layer.resize(types);
    return slice;
  };
  slice_of(at_);  // even if nothing is dated so: undated nodes that are asked for are in it
  for (size_t type = 0; type < types; ++type) {
    const auto times = graph_.times(NodeType(type));
    for (NodeId node = 0; node < times.size(); ++node) {
      if (times[node] == kNoTime || times[node] > at_) continue;
      slice_of(single ? at_ : times[node]).dated[type].push_back(node);
    }
  }
  // std::map is ascending: slices are in the order of their times, and mark i + 1 is slice i.
  Marks marks(types);
  for (size_t type = 0; type < types; ++type) {
    if (has_undated_[type]) marks[type].resize(graph_.num_nodes(NodeType(type)));
  }
  for (auto& [time, slice] : by_time) {
    slices_.push_back(std::move(slice));
    add_undated(slices_.back(), marks, static_cast<uint32_t>(slices_.size()));
  }
}

bool TimeSlices::is_asked_for(NodeType type) const {
  return std::find(types_.begin(), types_.end(), type) != types_.end();
}

// Collects the undated nodes of a slice, from the last layer backwards: what is added first keeps
// its last_layer, which is the highest.
class TimeSlices::Closure {
 public:
  Closure(const TimeSlices& slices, Marks& marks, uint32_t mark)
      : slices_(slices), marks_(marks), mark_(mark), members_(marks.size()) {}

  void add(NodeType type, NodeId node, uint32_t last_layer) {
    uint32_t& seen = marks_[index(type)][node];
    if (seen == mark_ || slices_.is_dated(type, node)) return;
    seen = mark_;
    members_[index(type)].emplace_back(node, static_cast<uint8_t>(last_layer));
    next_.emplace_back(type, node);
  }

  // What the node reads.
  void add_sources(NodeType type, NodeId node, uint32_t last_layer) {
    const Schema& schema = slices_.graph_.schema();
    for (const Relation relation : schema.incoming(type)) {
      const NodeType source = schema.at(relation).source;
      if (slices_.is_hidden(relation) || !slices_.has_undated_[index(source)]) continue;
      for (const NodeId other : slices_.graph_.incoming(relation, node).sources) {
        add(source, other, last_layer);
      }
    }
  }

  // What those read that were added since the last call.
  void add_sources_of_new(uint32_t last_layer) {
    for (const auto& [type, node] : std::exchange(next_, {})) add_sources(type, node, last_layer);
  }

  void write(TimeSlice& slice) {
    for (size_t type = 0; type < members_.size(); ++type) {
      std::sort(members_[type].begin(), members_[type].end());
      for (const auto& [node, last_layer] : members_[type]) {
        slice.undated[type].push_back(node);
        slice.last_layer[type].push_back(last_layer);
      }
    }
  }

 private:
  const TimeSlices& slices_;
  Marks& marks_;
  uint32_t mark_;
  std::vector<std::vector<std::pair<NodeId, uint8_t>>> members_;  // by type; with the last layer
  std::vector<std::pair<NodeType, NodeId>> next_;                 // added, their sources not yet
};

// All that the slice's dated nodes read and that has no time, and what those read in turn, as far
// as the layers reach.
void TimeSlices::add_undated(TimeSlice& slice, Marks& marks, uint32_t mark) const {
  Closure closure(*this, marks, mark);
  // Needed of layer L: the undated nodes that are asked for. Of L - 1: what these read, and what
  // any dated node of the slice reads.
  for (const NodeType type : types_) {
    if (slice.time != at_ || !has_undated_[index(type)]) continue;
    const auto count = static_cast<NodeId>(graph_.num_nodes(type));
    for (NodeId node = 0; node < count; ++node) closure.add(type, node, layers_);
  }
  closure.add_sources_of_new(layers_ - 1);
  for (size_t type = 0; type < slice.dated.size(); ++type) {
    for (const NodeId node : slice.dated[type]) {
      closure.add_sources(NodeType(type), node, layers_ - 1);
    }
  }
  // Of L - 2 down to 0: what the undated nodes added one step before read.
  for (uint32_t layer = layers_ - 1; layer-- > 0;) closure.add_sources_of_new(layer);
  closure.write(slice);
}

uint64_t TimeSlices::num_instances() const {
  uint64_t sum = 0;
  for (const TimeSlice& slice : slices_) sum += slice.num_targets();
  return sum;
}

TimeSlices::Target TimeSlices::target(uint32_t slice, uint64_t number) const {
  const TimeSlice& own = slices_[slice];
  for (size_t type = 0;; ++type) {
    if (number < own.dated[type].size()) {
      const NodeId node = own.dated[type][number];
      // Other nodes may read it anywhere below the last layer.
      const uint32_t last = is_asked_for(NodeType(type)) ? layers_ : layers_ - 1;
      return {.type = NodeType(type),
              .node = node,
              .time = graph_.time(NodeType(type), node),
              .last_layer = last};
    }
    number -= own.dated[type].size();
    if (number < own.undated[type].size()) {
      return {.type = NodeType(type),
              .node = own.undated[type][number],
              .time = own.time,
              .last_layer = own.last_layer[type][number]};
    }
    number -= own.undated[type].size();
  }
}

uint64_t TimeSlices::degree(const Target& target) const {
  const auto slots = static_cast<uint32_t>(graph_.schema().incoming(target.type).size());
  return graph_.incoming_range(target.type, target.node, 0, slots).size() + 1;
}

std::vector<TimeSlices::Run> TimeSlices::runs(uint32_t layer) const {
  std::vector<Run> result;
  for (uint32_t slice = 0; slice < slices_.size(); ++slice) append_runs(slice, layer, result);
  return result;
}

void TimeSlices::append_runs(uint32_t slice, uint32_t layer, std::vector<Run>& runs) const {
  uint64_t edges = 0;  // of the last run
  uint64_t targets = 0;
  bool open = false;  // the last run goes on
  const uint64_t count = slices_[slice].num_targets();
  for (uint64_t number = 0; number < count; ++number) {
    const Target own = target(slice, number);
    if (own.last_layer < layer) continue;
    const uint64_t more = degree(own);
    if (!open || edges + more > kEdgesPerRun || targets == kTargetsPerRun) {
      runs.push_back({.slice = slice, .layer = layer, .first = number, .last = number});
      edges = 0;
      targets = 0;
      open = true;
    }
    edges += more;
    ++targets;
    runs.back().last = number + 1;
  }
}

template <typename Use>
void TimeSlices::for_sources(const Target& target, Time slice_time, Use use) const {
  const Schema& schema = graph_.schema();
  for (const Relation relation : schema.incoming(target.type)) {
    if (is_hidden(relation)) continue;
    const NodeType type = schema.at(relation).source;
    const Neighbors list = graph_.incoming(relation, target.node);
    for (size_t i = 0; i < list.size(); ++i) {
      // kNoTime is below every time: an undated source is later than nothing.
      const Time own = graph_.time(type, list.sources[i]);
      if (own > at_ || (!list.times.empty() && list.times[i] > at_)) continue;
      use(relation, type, list.sources[i],
          time_gap(target.time, own == kNoTime ? slice_time : own));
    }
  }
  use(self_relation(schema, target.type), target.type, target.node, 0);
}

// --- blocks ---

TimeSlices::Reader::Reader(const TimeSlices& slices) : slices_(slices) {
  for (size_t type = 0; type < slices.graph_.schema().node_types().size(); ++type) {
    numbers_.emplace_back(slices.graph_.num_nodes(NodeType(type)));
    stamps_.emplace_back(slices.graph_.num_nodes(NodeType(type)));
    degrees_.emplace_back(slices.degrees_ ? slices.graph_.num_nodes(NodeType(type)) : 0);
  }
  sources_.resize(numbers_.size());
}

// The number of a source among those of its type.
uint32_t TimeSlices::Reader::number_of(NodeType type, NodeId node) {
  uint32_t& stamp = stamps_[index(type)][node];
  uint32_t& number = numbers_[index(type)][node];
  if (stamp == stamp_) return number;
  stamp = stamp_;
  number = static_cast<uint32_t>(sources_[index(type)].size());
  sources_[index(type)].push_back(node);
  return number;
}

uint32_t TimeSlices::Reader::degree(NodeType type, NodeId node) {
  uint32_t& counted = degrees_[index(type)][node];
  if (counted > 0) return counted;
  slices_.for_sources({.type = type, .node = node, .time = 0, .last_layer = 0}, 0,
                      [&](Relation, NodeType, NodeId, int64_t) { ++counted; });
  return counted;
}

void TimeSlices::Reader::read(const Run& run, SliceBlock& block) {
  ++stamp_;
  for (auto& nodes : sources_) nodes.clear();
  const Time slice_time = slices_.slices_[run.slice].time;
  block.slice = run.slice;
  LayerGraph& graph = block.graph;
  graph = {};
  std::vector<Target> targets;
  for (uint64_t i = run.first; i < run.last; ++i) {
    const Target target = slices_.target(run.slice, i);
    if (target.last_layer >= run.layer) targets.push_back(target);
  }
  // Targets are numbered before any other source: so far, sources are targets.
  for (const Target& target : targets) number_of(target.type, target.node);
  graph.target_offsets = {0};
  for (const auto& nodes : sources_) {
    graph.target_offsets.push_back(graph.target_offsets.back() +
                                   static_cast<uint32_t>(nodes.size()));
  }
  // Until all are known, a source has a number within its type only.
  std::vector<NodeType> source_types;  // [edges]
  std::vector<int64_t> gaps;           // [edges]
  graph.edge_offsets = {0};
  for (const Target& target : targets) {
    slices_.for_sources(target, slice_time,
                        [&](Relation relation, NodeType type, NodeId node, int64_t gap) {
                          graph.sources.push_back(number_of(type, node));
                          source_types.push_back(type);
                          graph.relations.push_back(relation);
                          gaps.push_back(gap);
                        });
    graph.edge_offsets.push_back(graph.sources.size());
  }
  locate_sources(run, block);
  for (size_t edge = 0; edge < source_types.size(); ++edge) {
    graph.sources[edge] += graph.source_offsets[index(source_types[edge])];
  }
  DistinctGaps distinct = distinct_gaps(gaps);
  graph.gaps = std::move(distinct.places);
  graph.gap_values = std::move(distinct.values);
  graph.edge_ids.resize(graph.sources.size());  // of no sub-graph: all 0
}

void TimeSlices::Reader::locate_sources(const Run& run, SliceBlock& block) {
  const TimeSlice& slice = slices_.slices_[run.slice];
  block.places.clear();
  block.is_dated.clear();
  block.graph.source_offsets = {0};
  for (size_t type = 0; type < sources_.size(); ++type) {
    const auto& undated = slice.undated[type];
    for (const NodeId node : sources_[type]) {
      const bool dated = slices_.is_dated(NodeType(type), node);
      const auto at = std::lower_bound(undated.begin(), undated.end(), node) - undated.begin();
      block.places.push_back(dated ? node : static_cast<uint32_t>(at));
      block.is_dated.push_back(dated);
      if (slices_.degrees_) block.graph.source_degrees.push_back(degree(NodeType(type), node));
    }
    block.graph.source_offsets.push_back(static_cast<uint32_t>(block.places.size()));
  }
}

}  // namespace hgt
