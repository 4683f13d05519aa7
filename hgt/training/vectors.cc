#include "hgt/training/vectors.h"

#include <fmt/format.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/random.h"
#include "hgt/task/trained_layer.h"
#include "hgt/training/example_stream.h"

namespace hgt {

namespace {

constexpr uint64_t kVectorStream = 0x7ec5;
constexpr uint64_t kNodesAtOnce = 256;

// The nodes of a type that may be seen, as seeds: at their own time, those without one at the last.
std::vector<Seed> visible_nodes(const HeteroGraph& graph, NodeType type, Time last) {
  std::vector<Seed> seeds;
  for (NodeId node = 0; node < graph.num_nodes(type); ++node) {
    const Time own = graph.time(type, node);
    if (own > last) continue;
    seeds.push_back({.type = type, .node = node, .time = own == kNoTime ? last : kNoTime});
  }
  return seeds;
}

Time last_time(const HeteroGraph& graph, const InferenceOptions& options) {
  if (options.at != kNoTime) return options.at;
  Time last = kNoTime;
  for (size_t type = 0; type < graph.schema().node_types().size(); ++type) {
    for (const Time time : graph.times(NodeType(type))) last = std::max(last, time);
  }
  return last;
}

void embed_sampled(const TrainedModel& trained, const WholeGraphOptions& options, NodeType type,
                   const VectorSink& sink, const ProgressSink& progress) {
  const HeteroGraph& graph = trained.graph();
  const Encoder& encoder = trained.encoder();
  const Time last = last_time(graph, options.inference);
  const std::vector<Seed> seeds = visible_nodes(graph, type, last);
  SamplingOptions sampling = trained.options().sampling;
  const bool own_times = is_bound_to_own_times(trained.run(), type);
  sampling.time_bound = own_times ? TimeBound::seed : TimeBound::split;
  sampling.split_end = last == kNoTime ? std::numeric_limits<Time>::max() : last;
  sampling.hidden.everywhere = options.hidden;
  const auto batch_of = [&](uint64_t i) {
    const uint64_t first = i * kNodesAtOnce;
    return std::span(seeds).subspan(first, std::min<uint64_t>(kNodesAtOnce, seeds.size() - first));
  };
  ExampleStream stream(
      {.graph = graph, .sampling = sampling, .encoder = encoder, .layers = options.layers},
      [&](uint64_t i) {
        BatchPlan plan{.random_seed = hash(trained.options().seed, kVectorStream, i)};
        plan.question.request.seeds.assign(batch_of(i).begin(), batch_of(i).end());
        return plan;
      },
      {.count = (seeds.size() + kNodesAtOnce - 1) / kNodesAtOnce,
       .workers = trained.options().pipeline.workers});
  uint64_t done = 0;
  for (ReadyBatch batch; stream.next(batch);) {
    std::vector<NodeId> nodes;
    for (const Seed& seed : batch.question.request.seeds) nodes.push_back(seed.node);
    sink(type, nodes, encoder->forward_first(batch.graph).index_select(0, batch.graph.seed_rows));
    done += nodes.size();
    progress({.stage = fmt::format("vectors of {}", graph.schema().at(type).name),
              .unit = "nodes",
              .count = done,
              .fraction = static_cast<double>(done) / static_cast<double>(seeds.size()),
              .finished = done == seeds.size()});
  }
}

void refuse_single_instances(const TrainedModel& trained, const WholeGraphOptions& options) {
  if (options.inference.instances != Instances::single) return;
  const Encoder& encoder = trained.encoder();
  if (!encoder->reads_edges()) {
    throw Error(fmt::format("--instances is for models that are computed layer by layer; {} is not",
                            to_string(encoder->options().kind)));
  }
  throw Error(
      "--instances is for inference over the whole graph, but the time bound of this run is seed, "
      "or labels are inputs: each node is computed from a sampled sub-graph; leave it out");
}

}  // namespace

bool is_bound_to_own_times(const Run& run, NodeType type) {
  const TimeBound bound = run.task().time_bound(run.options().training.sampling.time_bound);
  return bound == TimeBound::seed && !run.task().graph().times(type).empty();
}

bool hides_own_labels(const Run& run, NodeType type) {
  return run.options().training.label_inputs && type == run.task().node_type();
}

uint32_t last_trained_layer(const Run& run, NodeType type) {
  const ModelOptions& model = run.options().training.model;
  const auto layers = static_cast<uint32_t>(model.layers);
  const ModelRow& row = row_of(model.kind);
  if (!row.reads_features) return 0;
  // Without neighbors, only those that the task asks about are trained at all.
  if (!row.reads_neighbors) return trained_layer(run.task(), 1, type) > 0 ? layers : 0;
  return trained_layer(run.task(), layers, type);
}

uint32_t layer_to_embed(const Run& run, NodeType type, uint32_t wanted) {
  const ModelOptions& model = run.options().training.model;
  if (wanted > model.layers) {
    throw Error(fmt::format("layer is {}; the model has layers 1 to {}", wanted, model.layers));
  }
  const uint32_t layer = wanted > 0 ? wanted : last_trained_layer(run, type);
  if (layer > 0) return layer;
  throw Error(
      fmt::format("task {} makes no use of what any of the {} layers of {} computes for nodes of "
                  "type {}; train with more layers or on another task, or choose a --layer",
                  run.task().spec().name, model.layers, to_string(model.kind),
                  run.task().graph().schema().at(type).name));
}

void embed_all(const TrainedModel& trained, const WholeGraphOptions& options,
               const std::vector<NodeType>& types, const VectorSink& sink,
               const ProgressSink& progress) {
  const Encoder& encoder = trained.encoder();
  std::vector<NodeType> whole;
  std::vector<NodeType> sampled;
  for (const NodeType type : types) {
    const bool by_layer = encoder->reads_edges() && !is_bound_to_own_times(trained.run(), type) &&
                          !hides_own_labels(trained.run(), type);
    std::vector<NodeType>& way = by_layer ? whole : sampled;
    const bool is_new = std::find(way.begin(), way.end(), type) == way.end();
    if (is_new) way.push_back(type);  // a relation may join nodes of one type
  }
  if (!sampled.empty()) refuse_single_instances(trained, options);
  if (!whole.empty()) WholeGraph(trained.graph(), options).embed(encoder, whole, sink, progress);
  const torch::NoGradGuard no_gradient;
  for (const NodeType type : sampled) embed_sampled(trained, options, type, sink, progress);
}

}  // namespace hgt
