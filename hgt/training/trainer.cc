#include "hgt/training/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "hgt/error.h"
#include "hgt/random.h"
#include "hgt/run/training_log.h"
#include "hgt/task/batch_plan.h"
#include "hgt/training/evaluation.h"
#include "hgt/training/example_stream.h"

namespace hgt {

namespace {

using Clock = std::chrono::steady_clock;

// Tell the draws of different purposes from one another.
constexpr uint64_t kWeightStream = 0x1417;
constexpr uint64_t kDropoutStream = 0xd409;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Only HGSampling shares what it draws among the times in a batch.
TrainingPlan training_plan(const Task& task, const TrainOptions& options) {
  const SamplingOptions sampling = task.sampling(options.sampling, Split::train);
  const bool shares =
      sampling.strategy == Strategy::hgsampling && sampling.time_bound == TimeBound::seed;
  return {task, options.batch_size, options.seed, shares ? options.seed_times : 0};
}

}  // namespace

TaskModel make_model(const Task& task, const TrainOptions& options) {
  torch::manual_seed(hash(options.seed, kWeightStream));
  return TaskModel(options, model_schema(task.graph().schema(), options.node_vectors),
                   task.num_classes());
}

// What one call of run() works with.
struct Trainer::Loop {
  Loop(Trainer& trainer, const ProgressSink& sink)
      : own(trainer),
        progress(sink),
        model(make_model(trainer.task_, trainer.options_)),
        optimizer(model->parameters(), {.weight_decay = trainer.options_.weight_decay}),
        average(model->parameters(), trainer.options_.average_weights),
        plan(training_plan(trainer.task_, trainer.options_)),
        log(trainer.folder_.log_file()) {
    const Path file = own.folder_.checkpoint_file();
    if (std::filesystem::exists(file)) {
      state = load_checkpoint(file, learner(), own.identity_);
    }
    // Later entries belong to steps that are done again, or to a validation that is.
    log.keep_until(state.validation_due ? state.step - 1 : state.step);
    model->train();
    started = checkpointed = Clock::now();
    seconds_before = state.seconds;
    batch_seconds_before = state.batch_seconds;
  }

  // One batch: forward, backward, AdamW.
  void step(const ReadyBatch& batch) {
    torch::manual_seed(hash(own.options_.seed, kDropoutStream, state.step));
    const at::Tensor loss = task_loss(model->scores(batch.graph, batch.question), batch.question,
                                      own.task_.spec().loss);
    const auto value = loss.item<double>();
    if (!std::isfinite(value)) report_not_finite("the loss", value);
    loss.backward();
    const double norm =
        optimizer.step(learning_rate(own.options_, state.step, own.steps_), own.options_.clip);
    if (!std::isfinite(norm)) report_not_finite("the norm of the gradients", norm);
    ++state.step;
    average.update(state.step);
    state.loss_sum += value;
    ++state.loss_count;
    last_loss = value;
    edges += batch.subgraph.num_edges();
    state.validation_due = is_time_to_validate();
  }

  [[noreturn]] void report_not_finite(const char* what, double value) const {
    throw Diverged(fmt::format(
        "{} is {} in batch {} of pass {} (batch {} of the run); training stops before the weights "
        "are damaged: lower --learning-rate or --clip, or look for huge features (hgt inspect)",
        what, value, state.step % own.steps_per_epoch_ + 1, state.step / own.steps_per_epoch_ + 1,
        state.step + 1));
  }

  bool is_time_to_validate() const {
    const uint64_t every =
        own.options_.validate_every > 0 ? own.options_.validate_every : own.steps_per_epoch_;
    return state.step % every == 0 || state.step == own.steps_;
  }

  void validate(double waited) {
    const auto as_part = [this](Progress part) {
      part.finished = false;  // of training: no line of its own
      progress(part);
    };
    const Evaluation result = score_and_keep(as_part);
    write_log(result, waited);
    last_metric =
        fmt::format("{} {:.4f}", result.metrics.front().first, result.metrics.front().second);
    state.loss_sum = 0;
    state.loss_count = 0;
    state.validation_due = false;
    state.stopped_early =
        own.options_.patience > 0 && state.without_progress >= own.options_.patience;
    checkpoint();
  }

  // The weights go to the file of the best ones if they are.
  Evaluation score_and_keep(const ProgressSink& sink) {
    const WeightAverage::Shown shown(average);
    Evaluation result =
        evaluate(model, own.task_, Split::validation, own.options_, sink, /*threshold=*/{});
    state.seconds = seconds_before + seconds_since(started);
    ++state.without_progress;
    if (!(result.loss < state.best_loss)) return result;  // nor is NaN
    state.best_loss = result.loss;
    state.best_step = state.step;
    state.threshold = result.threshold;
    state.without_progress = 0;
    save_model(own.folder_.best_file(), *model, state, own.identity_);
    return result;
  }

  void write_log(const Evaluation& result, double waited) const {
    log.append(
        {.step = state.step,
         .epoch = static_cast<double>(state.step) / static_cast<double>(own.steps_per_epoch_),
         .train_loss =
             state.loss_sum / static_cast<double>(std::max<uint64_t>(1, state.loss_count)),
         .validation_loss = result.loss,
         .metrics = result.metrics,
         .learning_rate = learning_rate(own.options_, state.step, own.steps_),
         .seconds = state.seconds,
         .edges_per_second = static_cast<double>(edges) / batch_seconds(),
         .waiting = waited / batch_seconds()});
  }

  void go_on(uint64_t until) {
    const uint64_t end = std::min(until, own.steps_);
    if (state.step >= end || state.stopped_early) return;
    ExampleStream stream(
        {.graph = own.task_.graph(),
         .sampling = own.task_.sampling(own.options_.sampling, Split::train),
         .encoder = model->encoder()},
        plan,
        {.first = state.step, .count = end - state.step, .workers = own.options_.pipeline.workers});
    auto begun = Clock::now();
    for (ReadyBatch batch; !state.stopped_early && stream.next(batch); begun = Clock::now()) {
      step(batch);
      state.batch_seconds += seconds_since(begun);
      if (state.validation_due) {
        validate(stream.seconds_waited());
      } else if (seconds_since(checkpointed) > own.options_.checkpoint_every) {
        checkpoint();
      }
      report(stream.seconds_waited());
    }
    if (end < own.steps_) checkpoint();
  }

  void checkpoint() {
    state.seconds = seconds_before + seconds_since(started);
    save_checkpoint(own.folder_.checkpoint_file(), learner(), state, own.identity_);
    checkpointed = Clock::now();
  }

  void report(double waited) const {
    progress({.stage = fmt::format("training, seed {}", own.options_.seed),
              .unit = "batches",
              .count = state.step,
              .fraction = static_cast<double>(state.step) / static_cast<double>(own.steps_),
              .finished = state.step == own.steps_ || state.stopped_early,
              .detail = fmt::format("loss {:.4f}{}{}, {:.0f}k edges/s, {:.0f}% waiting", last_loss,
                                    last_metric.empty() ? "" : ", ", last_metric,
                                    static_cast<double>(edges) / batch_seconds() / 1000,
                                    100 * waited / batch_seconds())});
  }

  // Of this session, without validation and checkpoints.
  double batch_seconds() const {
    constexpr double kLeast = 1e-9;  // a run that begins with a validation has done none
    return std::max(kLeast, state.batch_seconds - batch_seconds_before);
  }

  Learner learner() { return {.model = *model, .optimizer = optimizer, .average = average}; }

  Trainer& own;
  const ProgressSink& progress;
  TaskModel model;
  AdamW optimizer;
  WeightAverage average;
  TrainingPlan plan;
  TrainingLog log;
  TrainState state;
  Clock::time_point started;
  Clock::time_point checkpointed;
  double seconds_before = 0;
  double batch_seconds_before = 0;
  uint64_t edges = 0;
  double last_loss = 0;
  std::string last_metric;
};

Trainer::Trainer(const Task& task, TrainOptions options, SeedFolder folder, std::string identity)
    : task_(task),
      options_(std::move(options)),
      folder_(std::move(folder)),
      identity_(std::move(identity)) {
  check(options_);
  const uint64_t size = options_.batch_size;
  steps_per_epoch_ = (task.num_examples(Split::train) + size - 1) / size;
  steps_ = options_.batches > 0 ? options_.batches : options_.epochs * steps_per_epoch_;
}

TrainState Trainer::run(const ProgressSink& progress, uint64_t until) {
  Loop loop(*this, progress);
  try {
    if (loop.state.validation_due) loop.validate(0);
    loop.go_on(until);
  } catch (const Interrupted&) {
    loop.checkpoint();
    throw;
  }
  return loop.state;
}

bool Trainer::is_finished() const {
  const Path file = folder_.checkpoint_file();
  if (!std::filesystem::exists(file)) return false;
  const TrainState state = load_state(file, identity_);
  return !state.validation_due && (state.step >= steps_ || state.stopped_early);
}

TrainState Trainer::best_state() const { return load_state(folder_.best_file(), identity_); }

TaskModel Trainer::best_model() {
  TaskModel model = make_model(task_, options_);
  load_model(folder_.best_file(), *model, identity_);
  return model;
}

}  // namespace hgt
