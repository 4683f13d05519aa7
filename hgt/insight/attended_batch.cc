#include "hgt/insight/attended_batch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/task/trained_layer.h"

namespace hgt {

namespace {

constexpr uint32_t kUsualPath = 2;

std::vector<double> mean_over_heads(const at::Tensor& weights) {
  const at::Tensor mean = weights.to(at::kDouble).mean(1).contiguous();
  const auto* first = mean.data_ptr<double>();
  return {first, first + mean.numel()};
}

}  // namespace

uint32_t explained_layers(const Run& run, NodeType type) {
  const auto layers = static_cast<uint32_t>(run.options().training.model.layers);
  const uint32_t trained = trained_layer(run.task(), layers, type);
  if (trained > 0) return trained;
  throw Error(fmt::format(
      "in a model with {} {}, task {} makes no use of what nodes of type {} read from their "
      "neighbors, so their attention was never trained; train with more layers or on another task",
      layers, layers == 1 ? "layer" : "layers", run.task().spec().name,
      run.task().graph().schema().at(type).name));
}

uint32_t path_length(const Run& run, const ExplainOptions& options, NodeType type) {
  const uint32_t layers = explained_layers(run, type);
  if (options.layers == 0) return std::min(kUsualPath, layers);
  if (options.layers <= layers) return options.layers;
  throw Error(
      fmt::format("--layers {}: the model of {} has {} {} that {} trained for {}, and paths can be "
                  "at most that long",
                  options.layers, run.folder().string(), layers, layers == 1 ? "layer" : "layers",
                  layers == 1 ? "was" : "were", run.task().graph().schema().at(type).name));
}

void require_attention(const Run& run) {
  const ModelRow& row = row_of(run.options().training.model.kind);
  if (row.pays_attention) return;
  throw Error(fmt::format("{}: the model {} {}; {} can be explained: train one of them",
                          run.folder().string(), row.name,
                          row.follows_meta_paths
                              ? "attends along meta paths, not along edges of the graph"
                              : "has no attention over neighbors",
                          fmt::join(model_names(&ModelRow::pays_attention), " and ")));
}

SamplingOptions explained_sampling(const Run& run, Split split, Hiding hiding) {
  SamplingOptions sampling = run.task().sampling(run.options().training.sampling, split);
  if (hiding == Hiding::left_out) sampling.hidden = {.everywhere = run.task().left_out()};
  return sampling;
}

Time last_visible_time(const Task& task, Split split) {
  const auto& range = task.graph().schema().time_range;
  if (!range) return kNoTime;
  const bool by_time = task.spec().split == SplitRule::time;
  return by_time ? std::min(task.time_split().last_time(split), range->second) : range->second;
}

Seed visible_seed(const HeteroGraph& graph, NodeType type, NodeId node, Time last) {
  const bool dated = graph.time(type, node) != kNoTime;
  return {.type = type, .node = node, .time = dated ? kNoTime : last};
}

AttendedBatch::AttendedBatch(const TaskModel& model, const GraphBatch& batch)
    : graphs_(batch.layers) {
  const torch::NoGradGuard no_gradient;
  AttentionTrace trace;
  model->encoder()->forward_first(batch, &trace);
  for (const LayerAttention& layer : trace) attention_.push_back(mean_over_heads(layer.weights));
  const auto* rows = batch.seed_rows.data_ptr<int64_t>();
  seed_rows_.assign(rows, rows + batch.seed_rows.numel());
}

std::vector<LayerFlow> AttendedBatch::layers() const {
  std::vector<LayerFlow> flows;
  for (size_t i = 0; i < graphs_.size(); ++i) {
    flows.push_back({.graph = graphs_[i].get(), .attention = attention_[i]});
  }
  return flows;
}

}  // namespace hgt
