#include "hgt/training/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "hgt/disk/checksum.h"
#include "hgt/disk/lock.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/verified_arrays.h"
#include "hgt/message/attention_kernels.h"
#include "hgt/model/machine.h"
#include "hgt/run/example_scores.h"
#include "hgt/run/saved_run.h"
#include "hgt/run/version.h"
#include "hgt/task/audit.h"
#include "hgt/task/known_labels.h"
#include "hgt/training/evaluation.h"
#include "hgt/training/trained_model.h"
#include "hgt/training/trainer.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

// Afterwards its name is on disk, and so are those of the folders around it that were missing: what
// is written into it survives a power cut.
void make_folder(const Path& folder) {
  std::error_code error;
  std::vector<Path> missing;
  for (Path at = folder; !fs::exists(at, error); at = folder_of(at)) missing.push_back(at);
  fs::create_directories(folder, error);
  if (error) {
    throw Error(
        fmt::format("{}: the folder cannot be created: {}", folder.string(), error.message()));
  }
  for (const Path& made : missing) sync_folder(folder_of(made));
}

void refuse_second_run(const RunFolder& folder) {
  if (!folder.holds_run()) return;
  throw Error(fmt::format(
      "{}: there is already a run here; continue with --resume, or choose another folder",
      folder.path().string()));
}

// Two processes must not write one run.
Lock lock_folder(const RunFolder& folder) {
  return {folder.lock_file(),
          fmt::format("{}: another process is training this run", folder.path().string())};
}

RunEnvironment environment_of(const HeteroGraph& graph) {
  const Machine here = machine();
  return {.graph = graph.folder().string(),
          .graph_checksum = graph_checksum(graph),
          .structure_checksum = structure_checksum(graph),
          .hgt = version(),
          .commit = commit(),
          .libtorch = here.torch_version,
          .blas = blas().name,
          .kernels = here.kernels,
          .cores = here.cores,
          .threads = static_cast<uint64_t>(here.threads)};
}

Instructions instructions_of(InstructionChoice choice) {
  switch (choice) {
    case InstructionChoice::portable:
      return Instructions::portable;
    case InstructionChoice::avx2:
      return Instructions::avx2;
    case InstructionChoice::avx512:
      return Instructions::avx512;
    case InstructionChoice::automatic:
      break;
  }
  return best_instructions();
}

// For the whole process.
void compute_with(const PipelineOptions& pipeline) {
  set_compute_threads(pipeline.threads);
  use_instructions(instructions_of(pipeline.instructions));
}

// The task, on the graph as the model reads it.
std::unique_ptr<const Task> open_task_of(const HeteroGraph& graph, const RunOptions& options) {
  auto task = open_task(graph, options.task);
  if (!options.training.label_inputs) return task;
  return open_task(with_training_labels(*task), options.task);
}

// The graph of a run, with the features that it was trained on.
HeteroGraph open_graph(const SavedRun& saved) {
  const RunEnvironment& before = saved.environment;
  const std::string& set = saved.options.features;
  const std::string run = saved.folder.path().string();
  if (set != kImportedSet && find_feature_set(read_schema(before.graph), set) == nullptr) {
    throw Error(
        fmt::format("{}: the feature set '{}' that the run {} was trained on is not there any "
                    "more; make it again in the same way, or train a new run",
                    before.graph, set, run));
  }
  HeteroGraph graph = HeteroGraph::open(before.graph, set);
  if (graph_checksum(graph) == before.graph_checksum) return graph;
  if (structure_checksum(graph) == before.structure_checksum) {
    throw Error(
        fmt::format("{}: the feature set '{}' has changed since the run {} was trained on it; "
                    "train a new run, or make the old set again",
                    before.graph, set, run));
  }
  throw Error(
      fmt::format("{}: the graph has changed since the run {} was trained on it; train a new run, "
                  "or restore the old graph",
                  before.graph, run));
}

// The most memory that this process has held so far.
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024;
  }
  return 0;
}

}  // namespace

struct Run::State {
  RunFolder folder;
  RunOptions options;
  RunEnvironment environment;
  std::string identity;  // of all seeds
  std::unique_ptr<const Task> task;
};

Run::Run(std::unique_ptr<State> state) : state_(std::move(state)) {
  compute_with(state_->options.training.pipeline);
}
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;
Run::~Run() = default;

// The options as a run of them keeps them, on an open graph.
std::unique_ptr<Run::State> Run::settled(const Path& folder, RunOptions options,
                                         const ProgressSink& progress) {
  options.graph = fs::absolute(options.graph).lexically_normal().string();
  const HeteroGraph graph = open_verified(options.graph, progress, options.features);
  options.features = graph.feature_set();
  settle(options, graph.schema());
  auto task = open_task_of(graph, options);
  task->time_bound(options.training.sampling.time_bound);  // throws: one that bounds nothing
  options.task = task->spec();
  compute_with(options.training.pipeline);  // the environment tells of it
  RunEnvironment environment = environment_of(graph);
  std::string identity = run_identity(options, environment.graph_checksum);
  return std::make_unique<State>(State{.folder = RunFolder(folder),
                                       .options = std::move(options),
                                       .environment = std::move(environment),
                                       .identity = std::move(identity),
                                       .task = std::move(task)});
}

Run Run::create(const Path& folder, RunOptions options, const ProgressSink& progress) {
  refuse_second_run(RunFolder(folder));
  Run run(settled(folder, std::move(options), progress));
  if (run.task().spec().guard) refuse_leaking_features(run.task());
  make_folder(folder);
  const Lock lock = lock_folder(run.files());
  refuse_second_run(run.files());  // another process may have made one meanwhile
  write_run(run.files(), run.options(), run.state_->environment);
  return run;
}

Run Run::open(const Path& folder, const ProgressSink& progress) {
  SavedRun saved = read_run(RunFolder(folder));
  const HeteroGraph graph = open_graph(saved);
  verify_arrays(graph, progress);
  auto task = open_task_of(graph, saved.options);
  saved.options.task = task->spec();
  adopt_meta_paths(saved.options);
  std::string identity = run_identity(saved.options, saved.environment.graph_checksum);
  return Run(std::make_unique<State>(State{.folder = std::move(saved.folder),
                                           .options = std::move(saved.options),
                                           .environment = std::move(saved.environment),
                                           .identity = std::move(identity),
                                           .task = std::move(task)}));
}

const RunFolder& Run::files() const { return state_->folder; }
const RunOptions& Run::options() const { return state_->options; }
const Task& Run::task() const { return *state_->task; }

std::vector<uint64_t> Run::seeds() const {
  std::vector<uint64_t> all;
  for (uint64_t i = 0; i < options().repeats; ++i) all.push_back(options().training.seed + i);
  return all;
}

Trainer Run::trainer(uint64_t seed) const {
  TrainOptions training = options().training;
  training.seed = seed;
  return {task(), training, files().seed(seed), fmt::format("{} seed {}", state_->identity, seed)};
}

bool Run::is_made_of(const RunOptions& options) const {
  RunOptions same = options;
  if (same.features.empty()) same.features = state_->options.features;  // newer ones do not count
  return same_run(state_->options, settled(folder(), std::move(same), no_progress)->options);
}

EvaluationOptions Run::scoring() const {
  EvaluationOptions how = options().training.validation;
  how.limit = 0;
  return how;
}

bool Run::is_scored(Split split, const EvaluationOptions& how) const {
  if (!fs::exists(files().training_file())) return false;
  const auto result = read_result(files(), split);
  return result && result->scoring == how && result->seeds.size() == options().repeats &&
         result->is_finished();
}

uint64_t Run::num_parameters() const {
  const TaskModel model = make_model(*state_->task, state_->options.training);
  return static_cast<uint64_t>(hgt::num_parameters(*model));
}

void Run::set_pipeline(const PipelineOptions& pipeline) {
  const InstructionChoice own = state_->options.training.pipeline.instructions;
  state_->options.training.pipeline = pipeline;
  InstructionChoice& chosen = state_->options.training.pipeline.instructions;
  if (chosen == InstructionChoice::automatic) chosen = own;
  compute_with(state_->options.training.pipeline);
}

std::vector<SeedReport> Run::train_until(uint64_t batches, const ProgressSink& progress) {
  const Lock lock = lock_folder(files());
  std::vector<SeedReport> reports;
  for (const uint64_t seed : seeds()) {
    make_folder(files().seed(seed).path());
    Trainer trainer = this->trainer(seed);
    if (!trainer.is_finished()) files().remove_results(seed);
    try {
      const TrainState state = trainer.run(progress, batches);
      reports.push_back(
          {.seed = seed,
           .batches = state.step,
           .best_batch = state.best_step,
           .validation_loss = state.best_loss,
           .seconds = state.seconds,
           .seconds_per_batch =
               state.batch_seconds / static_cast<double>(std::max<uint64_t>(1, state.step)),
           .stopped_early = state.stopped_early});
    } catch (const Interrupted&) {
      throw Interrupted(fmt::format("stopped and saved; continue with: hgt train --run {} --resume",
                                    folder().string()));
    }
  }
  return reports;
}

std::vector<SeedReport> Run::train(const ProgressSink& progress) {
  TrainingSummary summary{.seeds = train_until(Trainer::kToTheEnd, progress)};
  const Lock lock = lock_folder(files());
  summary.parameters = num_parameters();
  summary.peak_megabytes = peak_megabytes();
  summary.warnings = find_warnings(task(), options().training);
  if (const auto before = read_training_summary(files())) {
    // An earlier session's, when only a part was left to do in this one.
    summary.peak_megabytes = std::max(summary.peak_megabytes, before->peak_megabytes);
  }
  write_training_summary(files(), summary);
  return summary.seeds;
}

SeedResult Run::evaluate_seed(uint64_t seed, Split split, const EvaluationOptions& how,
                              const ProgressSink& progress) const {
  TaskModel model = best_model(*this, seed);
  TrainOptions training = options().training;
  training.seed = seed;
  training.validation = how;
  const Trainer trained = trainer(seed);
  const TrainState best = trained.best_state();
  const bool finished = trained.is_finished();
  const Evaluation found = hgt::evaluate(model, task(), split, training, progress, best.threshold);
  SeedResult result{.seed = seed,
                    .best_batch = best.step,
                    .finished = finished,
                    .examples = found.examples,
                    .left_out = found.left_out,
                    .loss = found.loss,
                    .seconds = found.seconds,
                    .equal_scores = found.equal_scores,
                    .metrics = found.metrics};
  write_text(files().seed(seed).example_scores_file(split),
             example_scores(task(), split, found.numbers, found.rankings));
  write_result(files().seed(seed), split, result);
  return result;
}

RunResult Run::evaluate(Split split, const EvaluationOptions& options,
                        const ProgressSink& progress) {
  RunResult result{.split = split, .scoring = options};
  for (const uint64_t seed : seeds()) {
    result.seeds.push_back(evaluate_seed(seed, split, options, progress));
  }
  summarize(result);
  const auto tells_nothing = [](const SeedResult& seed) { return seed.equal_scores; };
  result.warnings = find_warnings(
      task(), this->options().training,
      ScoredSplit{
          .split = split,
          .examples = result.seeds.front().examples,
          .equal_scores = std::any_of(result.seeds.begin(), result.seeds.end(), tells_nothing)});
  write_result(files(), result);
  return result;
}

}  // namespace hgt
