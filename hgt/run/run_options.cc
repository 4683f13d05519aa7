#include "hgt/run/run_options.h"

#include <fmt/format.h>

#include "hgt/error.h"
#include "hgt/message/meta_path.h"
#include "hgt/message/model_schema.h"

namespace hgt {

namespace {

double default_time_scale(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::hour:
      return 24;
    case TimeUnit::minute:
      return 24 * 60;
    case TimeUnit::second:
      return 24 * 60 * 60;
    default:
      return 1;
  }
}

void add_model_options(OptionTable& table, RunOptions& options) {
  ModelOptions& model = options.training.model;
  table.add("hidden", model.hidden, "Width d of the node vectors; a multiple of heads");
  table.add("heads", model.heads, "Attention heads h");
  table.add("layers", model.layers, "Layers L");
  table.add("dropout", model.dropout, "Share of numbers dropped while training");
  table.add("heter", model.heterogeneous, "Weights for each type and relation; without: -Heter");
  table.add("rte", model.temporal, "Relative Temporal Encoding; without: -RTE");
  table.add("norm", model.norm, "Layer norm per node type");
  table.add("gated-skip", model.gated_skip, "A learned gate mixes new and old vectors");
  table.add("tanh-adaptation", model.tanh_adaptation, "tanh after the adaptation layer");
  table.add("matrix-per-head", model.matrix_per_head, "W_ATT and W_MSG for each head");
  table.add("divide-by-head-width", model.divide_by_head_width,
            "Scores over sqrt(d / h), otherwise over sqrt(d)");
  table.add_word(
      "prior", model.prior, {"meta_relation", "meta_relation_and_head", "edge_type_and_head"},
      [](const std::string& name) { return prior(name); }, "What has a mu of its own");
  table.add("time-scale", model.time_scale,
            "Gaps of time are divided by this; 0: days where the graph's unit is finer, else 1");
  table.add("node-vectors", options.training.node_vectors,
            "Types without features and of at most so many nodes have a learned vector for each");
  table.add_word(
      "scorer", options.training.scorer, {"ntn", "dot"},
      [](const std::string& name) { return pair_scorer(name); },
      "Pairs: Neural Tensor Network or dot product");
  table.add("slices", options.training.slices, "Pairs: of the Neural Tensor Network");
}

void add_sampling_options(OptionTable& table, SamplingOptions& sampling) {
  table.add_word(
      "strategy", sampling.strategy, {"hgsampling", "neighbors", "full"},
      [](const std::string& name) { return strategy(name); },
      "hgsampling: the paper's; neighbors: a fan-out per hop; full: all neighbors");
  table.add("width", sampling.width, "hgsampling: instances drawn per type and step");
  table.add("depth", sampling.depth, "hgsampling: steps; full: hops");
  table.add("neighbor-cap", sampling.neighbor_cap,
            "hgsampling: so many entries of a longer list are looked at; 0: all");
  table.add("fanout", sampling.fanouts, "neighbors: entries drawn of each list, one per hop");
  table.add_word(
      "time-bound", sampling.time_bound, {"split", "seed", "none"},
      [](const std::string& name) { return time_bound(name); },
      "Nothing later than the end of the split, or each seed's own time");
}

void add_loop_options(OptionTable& table, TrainOptions& training) {
  table.add("batch-size", training.batch_size, "Examples per batch");
  table.add("epochs", training.epochs, "Passes over the training examples");
  table.add("batches", training.batches, "So many batches in all, instead of epochs");
  table.add("learning-rate", training.learning_rate, "At its height; it falls along a cosine");
  table.add("final-learning-rate", training.final_learning_rate, "At the end of the run");
  table.add("warmup", training.warmup, "Batches over which the learning rate rises");
  table.add("weight-decay", training.weight_decay, "Of AdamW");
  table.add("clip", training.clip, "Norm of all gradients, at most; 0: any");
  table.add("validate-every", training.validate_every,
            "Batches between validations; 0: at the end of each pass");
  table.add("patience", training.patience,
            "Stop after so many validations without a lower loss; 0: never");
  table.add("validation-limit", training.validation.limit,
            "Examples scored while training, drawn once; 0: all");
  table.add("checkpoint-every", training.checkpoint_every, "Seconds between checkpoints");
}

}  // namespace

OptionTable training_table(RunOptions& options) {
  OptionTable table;
  TrainOptions& training = options.training;
  table.add_word(
      "model", training.model.kind, model_names(),
      [](const std::string& name) { return model_kind(name); },
      fmt::format("What is trained: {}; docs/baselines.md has the formulas", model_descriptions()));
  table.add("seed", training.seed, "Of everything random");
  table.add("repeats", options.repeats, "Runs with the seeds SEED, SEED + 1, ...");
  add_model_options(table, options);
  add_sampling_options(table, training.sampling);
  add_loop_options(table, training);
  table.add("test-batch-size", training.validation.batch_size, "Examples scored at once");
  table.add("samples", training.validation.samples,
            "Sub-graphs per scored example, whose scores are averaged");
  table.add("full", training.validation.full,
            "Score with all neighbors, as many hops as layers, instead of samples");
  table.add("threads", training.pipeline.threads, "That compute; 0: one for each core");
  table.add("workers", training.pipeline.workers,
            "Threads that sample ahead; 0: those that compute do, between steps");
  return table;
}

void adopt_meta_paths(RunOptions& options) {
  const bool follows = row_of(options.training.model.kind).follows_meta_paths;
  options.training.model.meta_paths =
      follows ? options.task.meta_paths : std::vector<std::string>{};
}

void settle(RunOptions& options, const Schema& schema) {
  double& scale = options.training.model.time_scale;
  if (scale == 0) scale = default_time_scale(schema.time_unit);
  const ModelSchema model = model_schema(schema);
  std::vector<std::string>& paths = options.task.meta_paths;
  if (row_of(options.training.model.kind).follows_meta_paths && paths.empty()) {
    paths = propose_meta_paths(model);
  }
  meta_paths(paths, model);  // throws: a path that the graph does not have
  adopt_meta_paths(options);
  check(options.training);
  if (options.repeats == 0) throw Error("repeats is 0; it must be at least 1");
}

}  // namespace hgt
