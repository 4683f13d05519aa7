#include "hgt/run/run_options.h"

#include <fmt/format.h>

#include "hgt/error.h"
#include "hgt/graph/feature_sets.h"
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
  table.begin_group("model");
  table
      .add("model", model.kind,
           fmt::format("Which model to train: {} (docs/baselines.md)", model_descriptions()))
      .everyday();
  table
      .add("hidden", model.hidden, {1, 65536},
           "Width d of the node vectors; must be a multiple of --heads")
      .everyday();
  table.add("heads", model.heads, {1, 256}, "Number of attention heads h").everyday();
  table.add("layers", model.layers, {1, 100}, "Number of layers L").everyday();
  table.add("dropout", model.dropout, kAnyShare,
            "Share of values set to zero during training (0 to 1)");
  table.add("heter", model.heter,
            "Separate weights for each node type and relation; --no-heter is the paper's -Heter");
  table.add("rte", model.rte, "Relative Temporal Encoding; --no-rte is the paper's -RTE");
  table.add("norm", model.norm, "Layer normalization for each node type after every layer");
  table.add("gated-skip", model.gated_skip,
            "Mix new and old vectors with a learned gate instead of adding them");
  table.add("tanh-adaptation", model.tanh_adaptation, "Apply tanh to the projected input features");
  table.add("matrix-per-head", model.matrix_per_head,
            "Separate matrices W_ATT and W_MSG for each head instead of shared ones");
  table.add("matrix-per-relation", model.matrix_per_relation,
            "One full matrix each for keys and messages of every meta relation instead of "
            "K-Linear, W_ATT, M-Linear and W_MSG: many more parameters (docs/model.md)");
  table.add("divide-by-head-width", model.divide_by_head_width,
            "Divide attention scores by sqrt(d / h) instead of sqrt(d)");
  table.add("scaled-sinusoids", model.scaled_sinusoids,
            "Divide the sinusoids of Relative Temporal Encoding by sqrt(d)");
  table.add(
      "paired-sinusoids", model.paired_sinusoids,
      "Give sine and cosine of a pair one exponent, 2i / d, instead of 2i / d and (2i + 1) / d");
  table.add("prior", model.prior, "What has its own learned importance mu");
  table.add("degree-weights", model.degree_weights,
            "What a neighbor counts in --model gcn: mean = 1 / degree(t), symmetric = 1 / "
            "sqrt(degree(s) degree(t)), with degrees in the sub-graph");
  table.add("time-scale", model.time_scale, {0, 1e12},
            "Divide time differences by this number (0 = count days where the graph's time unit is "
            "finer than a day, otherwise 1)");
  table.add("node-vectors", options.training.node_vectors, kAnyCount,
            "Learn one vector per node for node types that have no features and at most this many "
            "nodes");
  table.add("label-inputs", options.training.label_inputs,
            "Known classes of training examples are features of their nodes, except of those that "
            "a batch asks about (only tasks with classes)");
  table.add("scorer", options.training.scorer,
            "How pairs of nodes are scored: ntn = Neural Tensor Network, dot = dot product");
  table.add("slices", options.training.slices, {1, 1024},
            "Number of slices of the Neural Tensor Network");
}

void add_sampling_options(OptionTable& table, SamplingOptions& sampling) {
  table.begin_group("sampling");
  table
      .add("strategy", sampling.strategy,
           "How sub-graphs are sampled: hgsampling = the paper's algorithm, neighbors = a fixed "
           "number of neighbors per hop, full = all neighbors")
      .everyday();
  table
      .add("width", sampling.width, {0, 1e7},
           "Nodes sampled per node type and step (only with --strategy hgsampling)")
      .everyday();
  table
      .add("depth", sampling.depth, {0, 1000},
           "Sampling steps with --strategy hgsampling, hops with --strategy full")
      .everyday();
  table.add("neighbor-cap", sampling.neighbor_cap, {0, 1e9},
            "Look at no more than this many random neighbors in each list (0 = all; only with "
            "--strategy hgsampling)");
  table.add("seed-width", sampling.seed_width, {0, 1e7},
            "Nodes sampled per node type and step for the seeds of one time, at least (only with "
            "--time-bound seed and --strategy hgsampling)");
  table.add("fanout", sampling.fanout, {0, 1e7},
            "Neighbors drawn from each list, one number per hop, such as 10,5 (0 = all; only with "
            "--strategy neighbors)");
  table.add("recent", sampling.recent,
            "Take the latest neighbors of each list instead of random ones (only with --strategy "
            "neighbors)");
  table.add("same-time", sampling.same_time,
            "Nodes without a time of their own are read only by nodes of the time that they were "
            "drawn at, instead of by all their neighbors");
  table.add("time-bound", sampling.time_bound,
            "Latest time that a sub-graph may contain: split = the end of the split, where it is "
            "by time; seed = the time of each example; none = no limit; automatic = split where "
            "the split is by time and the task is not about labels of event nodes, else seed");
}

void add_schedule(OptionTable& table, TrainOptions& training) {
  table.begin_group("training");
  table.add("batch-size", training.batch_size, {1, 1e7}, "Training examples per batch").everyday();
  table.add("seed-times", training.seed_times, {0, 1e7},
            "Put examples of the same time into one batch, so that it has about this many times (0 "
            "= do not; only with --time-bound seed and --strategy hgsampling)");
  table.add("epochs", training.epochs, {0, 1e7}, "Passes over the training examples").everyday();
  table
      .add("batches", training.batches, kAnyCount,
           "Total number of training batches, instead of --epochs (0 = use --epochs)")
      .everyday();
  table
      .add("learning-rate", training.learning_rate, {0, 1000},
           "Highest learning rate; it falls along a cosine to --final-learning-rate")
      .everyday();
  table.add("final-learning-rate", training.final_learning_rate, {0, 1000},
            "Learning rate at the end of training");
  table.add("warmup", training.warmup, kAnyCount,
            "Batches over which the learning rate rises to its highest value");
  table.add("weight-decay", training.weight_decay, {0, 1000}, "Weight decay of AdamW");
  table.add("clip", training.clip, {0, 1e12}, "Largest norm of the gradients (0 = unlimited)");
  table.add("average-weights", training.average_weights, {0, 1},
            "Score and keep a moving average of the weights, in which the past counts so much at "
            "each batch, such as 0.98 (0 = the weights themselves)");
  table.add("validate-every", training.validate_every, kAnyCount,
            "Batches between validations (0 = validate after each epoch)");
  table.add("patience", training.patience, kAnyCount,
            "Stop after this many validations without a lower loss (0 = never stop early)");
  table.add("checkpoint-every", training.checkpoint_every, {0, 1e9}, "Seconds between checkpoints");
}

void add_validation_options(OptionTable& table, EvaluationOptions& validation) {
  table.begin_group("validation");
  table.add("validation-limit", validation.limit, kAnyCount,
            "Score only this many randomly chosen examples during training (0 = all)");
  table.add("validation-batch-size", validation.batch_size, {1, 1e7},
            "Examples scored together; also the default of hgt evaluate");
  table.add("validation-samples", validation.samples, {1, 1e6},
            "Sub-graphs sampled per scored example, whose scores are averaged; also the default of "
            "hgt evaluate");
  table.add("validation-full", validation.full,
            "Score with all neighbors, as many hops as the model has layers, instead of sampled "
            "sub-graphs; also the default of hgt evaluate");
}

void add_pipeline_options(OptionTable& table, PipelineOptions& pipeline) {
  table.begin_group("training");
  table.add("threads", pipeline.threads, kThreads, "Compute threads (0 = one per core)").everyday();
  table.add("workers", pipeline.workers, kThreads,
            "Additional threads that sample ahead (0 = the compute threads sample between steps)");
  table.add("instructions", pipeline.instructions,
            "Vector instructions of the attention kernels, which decide the last bits of results "
            "(auto = the best that the processor has)");
}

}  // namespace

OptionTable training_table(RunOptions& options) {
  OptionTable table;
  TrainOptions& training = options.training;
  table.begin_group("training");
  table
      .add("features", options.features,
           "Feature set that the model reads, as hgt inspect lists them (empty = the newest one)")
      .everyday();
  add_model_options(table, options);
  add_sampling_options(table, training.sampling);
  add_schedule(table, training);
  add_validation_options(table, training.validation);
  table.begin_group("training");
  table.add("seed", training.seed, kAnySeed, "Seed of all random numbers").everyday();
  table
      .add("repeats", options.repeats, {1, 10000},
           "Number of runs, with the seeds SEED, SEED + 1, and so on")
      .everyday();
  add_pipeline_options(table, training.pipeline);
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
  if (is_unfinished(options.features)) {
    throw Error(
        fmt::format("the feature set '{}' is unfinished; finish it with the command that began it",
                    options.features));
  }
  if (options.repeats == 0) throw Error("repeats is 0; it must be at least 1");
}

}  // namespace hgt
