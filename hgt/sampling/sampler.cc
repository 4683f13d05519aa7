#include "hgt/sampling/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/random.h"
#include "hgt/sampling/adjacency.h"
#include "hgt/sampling/candidate_reader.h"
#include "hgt/sampling/draft.h"
#include "hgt/sampling/page_requests.h"
#include "hgt/sampling/strategies.h"
#include "hgt/sampling/visibility.h"
#include "hgt/sampling/visible_features.h"

namespace hgt {

namespace {

void check_options(const SamplingOptions& options) {
  if (options.strategy == Strategy::hgsampling && options.width == 0) {
    throw Error("the sampling width is 0; HGSampling draws at least one instance per type");
  }
  if (options.strategy == Strategy::neighbors && options.fanout.empty()) {
    throw Error("the strategy neighbors needs fan-outs: one number per hop, such as 10,5");
  }
}

// Groups the numbers 0..n-1 by key, the order within a group kept.
// offsets: [keys + 1] into members.
struct Groups {
  std::vector<uint32_t> offsets;
  std::vector<uint32_t> members;

  void make(std::span<const uint32_t> keys, size_t num_keys) {
    offsets.assign(num_keys + 2, 0);
    for (const uint32_t key : keys) ++offsets[key + 2];
    for (size_t key = 2; key < offsets.size(); ++key) offsets[key] += offsets[key - 1];
    members.resize(keys.size());
    for (uint32_t i = 0; i < keys.size(); ++i) members[offsets[keys[i] + 1]++] = i;
    offsets.pop_back();
  }
  std::span<const uint32_t> of(size_t key) const {
    return std::span(members).subspan(offsets[key], offsets[key + 1] - offsets[key]);
  }
};

}  // namespace

struct Sampler::State {
  State(HeteroGraph opened, SamplingOptions given, uint64_t memory)
      : graph(std::move(opened)),
        options(std::move(given)),
        visibility(graph, options.hidden),
        pages(graph, memory),
        reader(graph, visibility, pages),
        adjacency(graph, visibility, pages, options.same_time),
        hidden_from_means(graph, options.hidden),
        draft(graph.schema().node_types().size()) {
    check_options(options);
  }

  Seed dated(const Seed& seed) const;
  void divide_seeds();
  uint32_t width_for(size_t members) const;
  void draw(uint32_t component, Draws draws, Subgraph& result, SamplingTrace* trace);
  void connect(Subgraph& result);

  const HeteroGraph graph;
  const SamplingOptions options;
  Visibility visibility;
  PageRequests pages;
  CandidateReader reader;
  Adjacency adjacency;
  HiddenFromMeans hidden_from_means;
  Draft draft;

  // --- of the batch at hand ---
  std::vector<Seed> seeds;  // as asked, with their times
  // Seeds that have a bound in common, and so a part of the sub-graph: the bounds, and who.
  std::vector<Time> last_times;
  Groups seeds_by_component;
  Groups rows_by_component;
  std::vector<uint32_t> component_of_seed;  // scratch
};

// The seed with the time that it has in the sub-graph.
Seed Sampler::State::dated(const Seed& seed) const {
  const Schema& schema = graph.schema();
  if (index(seed.type) >= schema.node_types().size() || seed.node >= graph.num_nodes(seed.type)) {
    throw Error(fmt::format("a seed is node {} of type number {}, which does not exist", seed.node,
                            index(seed.type)));
  }
  const auto complain = [&](const std::string& what) {
    throw Error(fmt::format("seed {}:{}: {}", schema.at(seed.type).name,
                            graph.id(seed.type, seed.node), what));
  };
  const auto text = [&](Time time) { return format_time(time, schema.time_unit); };
  const Time own = graph.time(seed.type, seed.node);
  if (own != kNoTime && seed.time != kNoTime && seed.time != own) {
    complain(fmt::format("its own time is {}, so it cannot be requested at {}", text(own),
                         text(seed.time)));
  }
  const Time time = own == kNoTime ? seed.time : own;
  if (ends_with_split(options.time_bound) && time > options.split_end) {
    complain(
        fmt::format("its time {} is later than the bound {}; leave it out or set a later bound",
                    text(time), text(options.split_end)));
  }
  return {.type = seed.type, .node = seed.node, .time = time};
}

// TimeBound::seed: one component for each time that a seed has; otherwise one in all.
void Sampler::State::divide_seeds() {
  constexpr Time kNoBound = std::numeric_limits<Time>::max();
  std::map<Time, uint32_t> component_of;
  last_times.clear();
  if (options.time_bound == TimeBound::seed) {
    for (const Seed& seed : seeds) component_of[seed.time] = 0;
  }
  for (auto& [time, component] : component_of) {
    component = static_cast<uint32_t>(last_times.size());
    last_times.push_back(time == kNoTime ? kNoBound : time);
  }
  if (component_of.empty()) {
    last_times.push_back(ends_with_split(options.time_bound) ? options.split_end : kNoBound);
  }
  component_of_seed.clear();
  for (const Seed& seed : seeds) {
    component_of_seed.push_back(component_of.empty() ? 0 : component_of.at(seed.time));
  }
  seeds_by_component.make(component_of_seed, last_times.size());
}

// What the seeds of one time draw per type and step: a share of the width by their number, so that
// a batch does not cost more the more times its seeds have, but not so little that nothing can be
// learned from it.
uint32_t Sampler::State::width_for(size_t members) const {
  const uint64_t share = (uint64_t{options.width} * members + seeds.size() - 1) / seeds.size();
  return std::max(static_cast<uint32_t>(share), std::min(options.width, options.seed_width));
}

void Sampler::State::draw(uint32_t component, Draws draws, Subgraph& result, SamplingTrace* trace) {
  const auto members = seeds_by_component.of(component);
  visibility.set_last_time(last_times[component]);
  draft.begin_component(component);
  if (members.empty()) return;  // a batch without seeds
  for (const uint32_t i : members) result.seed_rows[i] = draft.add_seed(seeds[i]);
  if (options.strategy != Strategy::hgsampling) {
    const bool full = options.strategy == Strategy::full;
    const auto fanout = full ? std::span<const uint32_t>{} : std::span(options.fanout);
    const auto hops = full ? options.depth : static_cast<uint32_t>(fanout.size());
    draw_neighbors(draft, reader, {.hops = hops, .fanouts = fanout, .recent = options.recent},
                   draws);
    return;
  }
  draw_hgsampling(draft, reader,
                  {.width = width_for(members.size()),
                   .depth = options.depth,
                   .neighbor_cap = options.neighbor_cap},
                  draws, trace);
}

void Sampler::State::connect(Subgraph& result) {
  draft.write(result);
  for (size_t i = 0; i < seeds.size(); ++i) {
    result.seed_rows[i] += result.type_offsets[index(seeds[i].type)];
  }
  rows_by_component.make(result.components, last_times.size());
  adjacency.clear();
  for (size_t component = 0; component < last_times.size(); ++component) {
    visibility.set_last_time(last_times[component]);
    adjacency.connect(result, rows_by_component.of(component));
  }
  adjacency.write(result);
}

Sampler::Sampler(HeteroGraph graph, SamplingOptions options)
    : Sampler(std::move(graph), std::move(options), memory_here()) {}
Sampler::Sampler(HeteroGraph graph, SamplingOptions options, uint64_t memory)
    : state_(std::make_unique<State>(std::move(graph), std::move(options), memory)) {}
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;
Sampler::~Sampler() = default;

void Sampler::sample(const Request& request, uint64_t random_seed, Subgraph& result,
                     SamplingTrace* trace) {
  State& state = *state_;
  state.pages.begin_batch();
  state.seeds.clear();
  for (const Seed& seed : request.seeds) state.seeds.push_back(state.dated(seed));
  state.divide_seeds();
  state.visibility.begin(state.seeds, request.hidden);
  state.draft.clear();
  result.seed_rows.resize(state.seeds.size());
  if (trace != nullptr) trace->draws.clear();
  for (uint32_t component = 0; component < state.last_times.size(); ++component) {
    state.draw(component, Draws(hash(random_seed, component)), result, trace);
  }
  state.connect(result);
  state.hidden_from_means.collect(request, result);
  state.pages.end_batch();
}

Subgraph sample(const HeteroGraph& graph, std::span<const Seed> seeds,
                const SamplingOptions& options, SamplingTrace* trace) {
  Subgraph result;
  const Request request{.seeds = {seeds.begin(), seeds.end()}};
  Sampler(graph, options).sample(request, options.seed, result, trace);
  return result;
}

}  // namespace hgt
