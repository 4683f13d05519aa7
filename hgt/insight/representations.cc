#include "hgt/insight/representations.h"

#include <fmt/format.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/random.h"
#include "hgt/training/example_stream.h"
#include "hgt/training/trained_model.h"
#include "hgt/training/vectors.h"

namespace hgt {

namespace {

constexpr uint64_t kTimesStream = 0x71e5;
constexpr uint64_t kSeedsAtOnce = 16;  // few, so that each sees many of its neighbors

[[noreturn]] void report_no_layer(const Run& run, NodeType type) {
  const int64_t layers = run.options().training.model.layers;
  const std::string& task = run.task().spec().name;
  const std::string& name = run.task().graph().schema().at(type).name;
  const ModelRow& row = row_of(run.options().training.model.kind);
  if (!row.reads_neighbors) {
    throw Error(
        fmt::format("{}: the model {} does not read neighbors, so training on {} taught it nothing "
                    "about nodes of type {}; train another model",
                    run.folder().string(), row.name, task, name));
  }
  throw Error(fmt::format(
      "in a model with {} layers, task {} makes no use of what nodes of type {} read from their "
      "neighbors; train with more layers or on another task, or choose a --layer",
      layers, task, name));
}

}  // namespace

uint32_t represented_layer(const Run& run, NodeType type) { return last_trained_layer(run, type); }

struct Representations::State {
  State(const Run& owner, NodeType node_type, const RepresentationOptions& how)
      : run(owner), type(node_type), options(how), layer(how.layer) {
    const ModelOptions& chosen = run.options().training.model;
    if (!row_of(chosen.kind).reads_features) {
      throw Error(fmt::format("{}: the model {} has no vectors for nodes; train another model",
                              run.folder().string(), to_string(chosen.kind)));
    }
    if (layer > chosen.layers) {
      throw Error(fmt::format("layer is {}; the model has layers 1 to {}", layer, chosen.layers));
    }
    if (layer == 0) layer = represented_layer(owner, type);
    if (layer == 0) report_no_layer(run, type);
    if (options.samples == 0) throw Error("samples is 0; at least one sub-graph is needed");
    if (options.until && !run.task().graph().schema().time_range) {
      throw Error(
          "--until cuts off the graph at a time, but this graph has no times; leave it out");
    }
    model.emplace(run);
  }

  SamplingOptions sampling(Time time) const {
    SamplingOptions result = run.options().training.sampling;
    const bool own_times = run.task().time_bound(result.time_bound) == TimeBound::seed;
    const TimeBound bound = time == kNoTime ? TimeBound::seed : TimeBound::split;
    result.time_bound = options.until || own_times ? bound : TimeBound::none;
    result.split_end = time;
    result.hidden.everywhere = run.task().left_out();
    return result;
  }

  const Run& run;
  NodeType type;
  RepresentationOptions options;
  uint32_t layer;
  std::optional<TrainedModel> model;
};

Representations::Representations(const Run& run, NodeType type,
                                 const RepresentationOptions& options)
    : state_(std::make_unique<State>(run, type, options)) {}
Representations::Representations(Representations&&) noexcept = default;
Representations::~Representations() = default;

uint64_t Representations::width() const {
  return static_cast<uint64_t>(state_->run.options().training.model.hidden);
}
uint32_t Representations::layer() const { return state_->layer; }
NodeType Representations::type() const { return state_->type; }
const HeteroGraph& Representations::graph() const { return state_->run.task().graph(); }

std::vector<float> Representations::at(Time time, std::span<const NodeId> nodes,
                                       const ProgressSink& progress) const {
  const HeteroGraph& graph = state_->run.task().graph();
  const uint64_t batches = (nodes.size() + kSeedsAtOnce - 1) / kSeedsAtOnce;
  const uint32_t samples = state_->options.samples;
  std::vector<float> sums(nodes.size() * width(), 0.0F);
  const torch::NoGradGuard no_gradient;
  ExampleStream stream(
      {.graph = graph,
       .sampling = state_->sampling(time),
       .encoder = state_->model->encoder(),
       .layers = state_->layer},
      [&](uint64_t i) {
        const uint64_t first = i / samples * kSeedsAtOnce;
        BatchPlan plan{.random_seed = hash(state_->run.options().training.seed, kTimesStream, i)};
        for (uint64_t k = first; k < std::min<uint64_t>(first + kSeedsAtOnce, nodes.size()); ++k) {
          plan.question.request.seeds.push_back(
              {.type = state_->type, .node = nodes[k], .time = time});
        }
        return plan;
      },
      {.count = batches * samples, .workers = state_->run.options().training.pipeline.workers});
  uint64_t i = 0;
  for (ReadyBatch batch; stream.next(batch); ++i) {
    const at::Tensor rows = state_->model->encoder()
                                ->forward_first(batch.graph)
                                .index_select(0, batch.graph.seed_rows)
                                .contiguous();
    float* to = sums.data() + i / samples * kSeedsAtOnce * width();
    const auto* from = rows.data_ptr<float>();
    for (int64_t k = 0; k < rows.numel(); ++k) to[k] += from[k] / static_cast<float>(samples);
    const uint64_t done = std::min<uint64_t>((i + 1) / samples * kSeedsAtOnce, nodes.size());
    const std::string when =
        time == kNoTime ? "" : " at " + format_time(time, graph.schema().time_unit);
    progress({.stage = fmt::format("vectors of {}{}", graph.schema().at(state_->type).name, when),
              .unit = "nodes",
              .count = done,
              .fraction = static_cast<double>(i + 1) / static_cast<double>(batches * samples),
              .finished = i + 1 == batches * samples});
  }
  return sums;
}

}  // namespace hgt
