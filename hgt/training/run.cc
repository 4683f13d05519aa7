#include "hgt/training/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hgt/disk/checksum.h"
#include "hgt/disk/lock.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/model/machine.h"
#include "hgt/run/example_scores.h"
#include "hgt/run/version.h"
#include "hgt/task/audit.h"
#include "hgt/training/evaluation.h"
#include "hgt/training/run_state.h"
#include "hgt/training/trainer.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "hgt run 2";

// The schema file holds the checksums of all arrays.
std::string graph_checksum(const Path& graph) {
  return text_checksum(read_text(graph / "schema.json"));
}

void make_folder(const Path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(fmt::format("{}: the folder cannot be made: {}", folder.string(), error.message()));
  }
}

void refuse_second_run(const Path& folder) {
  if (!fs::exists(folder / "run.json")) return;
  throw Error(
      fmt::format("{}: there is a run already; go on with --resume, or choose another folder",
                  folder.string()));
}

// Two processes must not write one run.
Lock lock_folder(const Path& folder) {
  return {folder / "lock",
          fmt::format("{}: another process is training this run", folder.string())};
}

// What a run is made of, as it stands in its files.
struct RunTexts {
  std::string options;
  std::string task;
  friend bool operator==(const RunTexts&, const RunTexts&) = default;
};

RunTexts texts_of(const RunOptions& options) {
  RunOptions own = options;
  return {.options = training_table(own).to_toml(), .task = to_toml(own.task)};
}

std::string environment_json(const RunState& state, const RunTexts& texts) {
  const Machine here = machine();
  const nlohmann::ordered_json json = {{"format", kFormat},
                                       {"graph", state.options.graph},
                                       {"graph_checksum", state.graph_checksum},
                                       {"options_checksum", text_checksum(texts.options)},
                                       {"task_checksum", text_checksum(texts.task)},
                                       {"hgt", version()},
                                       {"commit", commit()},
                                       {"libtorch", here.torch_version},
                                       {"blas", blas().name},
                                       {"kernels", here.kernels},
                                       {"cores", here.cores},
                                       {"threads", here.threads}};
  return json.dump(1) + '\n';
}

void check_text(const Path& file, const std::string& expected) {
  if (text_checksum(read_text(file)) == expected) return;
  throw Error(
      fmt::format("{}: is not as hgt wrote it; bring the old file back, or train a new run "
                  "(it may be the --config or --task of that)",
                  file.string()));
}

nlohmann::ordered_json scoring_json(const EvaluationOptions& how) {
  return {{"batch_size", how.batch_size},
          {"samples", how.samples},
          {"full", how.full},
          {"limit", how.limit}};
}

nlohmann::ordered_json metrics_json(const SeedResult& result) {
  nlohmann::ordered_json json = {{"seed", result.seed},         {"best_batch", result.best_batch},
                                 {"finished", result.finished}, {"examples", result.examples},
                                 {"left_out", result.left_out}, {"loss", result.loss}};
  for (const auto& [name, value] : result.metrics) json[name] = value;
  json["seconds"] = result.seconds;
  return json;
}

nlohmann::ordered_json summary_json(const RunResult& result) {
  nlohmann::ordered_json json = {{"split", to_string(result.split)},
                                 {"scoring", scoring_json(result.scoring)}};
  for (const auto& [name, value] : result.metrics) {
    json["metrics"][name] = {{"mean", value.mean}, {"deviation", value.deviation}};
  }
  for (const SeedResult& seed : result.seeds) json["seeds"].push_back(metrics_json(seed));
  return json;
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

// That of an earlier session, when only a part was left to do in this one.
double saved_peak(const Path& file) {
  std::ifstream in(file);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  return json.is_object() ? json.value("peak_memory_mb", 0.0) : 0;
}

nlohmann::ordered_json training_json(const std::vector<SeedReport>& reports, uint64_t parameters,
                                     double peak) {
  nlohmann::ordered_json json = {{"parameters", parameters}, {"peak_memory_mb", peak}};
  for (const SeedReport& report : reports) {
    json["seeds"].push_back({{"seed", report.seed},
                             {"batches", report.batches},
                             {"best_batch", report.best_batch},
                             {"validation_loss", report.validation_loss},
                             {"seconds", report.seconds},
                             {"seconds_per_batch", report.seconds_per_batch}});
  }
  return json;
}

void summarize(RunResult& result) {
  for (const auto& [name, unused] : result.seeds.front().metrics) {
    std::vector<double> values;
    for (const SeedResult& seed : result.seeds) {
      for (const auto& [other, value] : seed.metrics) {
        if (other == name) values.push_back(value);
      }
    }
    result.metrics.emplace_back(name, spread(values));
  }
}

}  // namespace

// What the weights depend on; not how fast they are computed.
void RunState::settle_identity() {
  RunOptions own = options;
  own.repeats = 1;
  own.training.seed = 0;
  own.training.pipeline = {};
  own.training.checkpoint_every = 0;
  const RunTexts texts = texts_of(own);
  identity = text_checksum(texts.options + texts.task + graph_checksum);
}

std::vector<uint64_t> RunState::seeds() const {
  std::vector<uint64_t> all;
  for (uint64_t i = 0; i < options.repeats; ++i) all.push_back(options.training.seed + i);
  return all;
}

Path RunState::seed_folder(uint64_t seed) const { return folder / fmt::format("seed-{}", seed); }

Trainer RunState::trainer(uint64_t seed) const {
  TrainOptions training = options.training;
  training.seed = seed;
  return {*task, training, seed_folder(seed), fmt::format("{} seed {}", identity, seed)};
}

TaskModel RunState::best_model(uint64_t seed) const {
  if (!fs::exists(Trainer::best_file(seed_folder(seed)))) {
    throw Error(fmt::format(
        "{}: seed {} has no trained weights yet; train it with: hgt train --run {} --resume",
        folder.string(), seed, folder.string()));
  }
  return trainer(seed).best_model();
}

SeedResult RunState::evaluate(uint64_t seed, Split split, const EvaluationOptions& how,
                              const ProgressSink& progress) const {
  TaskModel model = best_model(seed);
  TrainOptions training = options.training;
  training.seed = seed;
  training.validation = how;
  const Trainer trained = trainer(seed);
  const uint64_t best_batch = trained.best_batch();
  const bool finished = trained.is_finished();
  const Evaluation found = hgt::evaluate(model, *task, split, training, progress);
  SeedResult result{.seed = seed,
                    .best_batch = best_batch,
                    .finished = finished,
                    .examples = found.examples,
                    .left_out = found.left_out,
                    .loss = found.loss,
                    .seconds = found.seconds,
                    .metrics = found.metrics};
  const std::string name(to_string(split));
  write_text(seed_folder(seed) / (name + ".tsv"),
             example_scores(*task, split, found.numbers, found.rankings));
  write_text(seed_folder(seed) / (name + ".json"), metrics_json(result).dump(1) + '\n');
  return result;
}

// They are of weights that training leaves behind.
void RunState::remove_scores(uint64_t seed) const {
  for (const Split split : kSplits) {
    const std::string name(to_string(split));
    fs::remove(folder / (name + ".json"));
    for (const char* kind : {".json", ".tsv"}) fs::remove(seed_folder(seed) / (name + kind));
  }
}

Run::Run(std::unique_ptr<RunState> state) : state_(std::move(state)) {
  set_compute_threads(state_->options.training.pipeline.threads);
}
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;
Run::~Run() = default;

namespace {

// The options as a run of them keeps them, on an open graph.
std::unique_ptr<RunState> settled(const Path& folder, RunOptions options) {
  options.graph = fs::absolute(options.graph).lexically_normal().string();
  const HeteroGraph graph = HeteroGraph::open(options.graph);
  settle(options, graph.schema());
  auto state = std::make_unique<RunState>();
  state->folder = folder;
  state->options = std::move(options);
  state->task = open_task(graph, state->options.task);
  state->options.task = state->task->spec();
  state->graph_checksum = graph_checksum(graph.folder());
  state->settle_identity();
  return state;
}

}  // namespace

Run Run::create(const Path& folder, RunOptions options) {
  refuse_second_run(folder);
  Run run(settled(folder, std::move(options)));
  if (run.task().spec().guard) refuse_leaking_features(run.task());
  make_folder(folder);
  const Lock lock = lock_folder(folder);
  refuse_second_run(folder);  // another process may have made one meanwhile
  const RunTexts texts = texts_of(run.options());
  write_text(folder / "options.toml", texts.options);
  write_text(folder / "task.toml", texts.task);
  // The last: now it is a run.
  write_text(folder / "run.json", environment_json(run.state(), texts));
  return run;
}

Run Run::open(const Path& folder) {
  const Path file = folder / "run.json";
  if (!fs::exists(file)) {
    throw Error(fmt::format("{}: is no run (it has no run.json); make one with 'hgt train'",
                            folder.string()));
  }
  const auto json = nlohmann::json::parse(read_text(file), nullptr, false);
  const auto entry = [&](const char* key) {
    const bool known = json.is_object() && json.contains(key) && json.at(key).is_string();
    return known ? json.at(key).get<std::string>() : "";
  };
  if (entry("format") != kFormat || entry("graph").empty()) {
    throw Error(fmt::format("{}: is damaged or of another version of hgt", file.string()));
  }
  auto state = std::make_unique<RunState>();
  state->folder = folder;
  check_text(folder / "options.toml", entry("options_checksum"));
  check_text(folder / "task.toml", entry("task_checksum"));
  training_table(state->options).read(folder / "options.toml");
  state->options.task = read_task(folder / "task.toml");
  state->options.graph = entry("graph");
  const HeteroGraph graph = HeteroGraph::open(state->options.graph);
  state->graph_checksum = graph_checksum(graph.folder());
  if (state->graph_checksum != entry("graph_checksum")) {
    throw Error(
        fmt::format("{}: has changed since the run {} was made of it; train a new run, or "
                    "bring the old graph back",
                    graph.folder().string(), folder.string()));
  }
  state->task = open_task(graph, state->options.task);
  state->options.task = state->task->spec();
  adopt_meta_paths(state->options);
  state->settle_identity();
  return Run(std::move(state));
}

const Path& Run::folder() const { return state_->folder; }
const RunOptions& Run::options() const { return state_->options; }
const Task& Run::task() const { return *state_->task; }

bool Run::is_made_of(const RunOptions& options) const {
  const std::unique_ptr<RunState> other = settled(folder(), options);
  return texts_of(state_->options) == texts_of(other->options) &&
         state_->options.graph == other->options.graph;
}

EvaluationOptions Run::scoring() const {
  EvaluationOptions how = state_->options.training.validation;
  how.limit = 0;
  return how;
}

bool Run::is_scored(Split split, const EvaluationOptions& how) const {
  const Path file = folder() / fmt::format("{}.json", to_string(split));
  if (!fs::exists(file) || !fs::exists(folder() / "training.json")) return false;
  const auto json = nlohmann::json::parse(read_text(file), nullptr, false);
  if (!json.is_object() || json.value("scoring", nlohmann::json()) != scoring_json(how)) {
    return false;
  }
  const nlohmann::json seeds = json.value("seeds", nlohmann::json::array());
  return seeds.size() == state_->options.repeats &&
         std::all_of(seeds.begin(), seeds.end(), [](const nlohmann::json& seed) {
           return seed.is_object() && seed.value("finished", false);
         });
}

uint64_t Run::num_parameters() const {
  const TaskModel model = make_model(*state_->task, state_->options.training);
  return static_cast<uint64_t>(hgt::num_parameters(*model));
}

void Run::set_pipeline(const PipelineOptions& pipeline) {
  state_->options.training.pipeline = pipeline;
  set_compute_threads(pipeline.threads);
}

std::vector<SeedReport> Run::train(const ProgressSink& progress) {
  const Lock lock = lock_folder(state_->folder);
  std::vector<SeedReport> reports;
  for (const uint64_t seed : state_->seeds()) {
    make_folder(state_->seed_folder(seed));
    Trainer trainer = state_->trainer(seed);
    if (!trainer.is_finished()) state_->remove_scores(seed);
    try {
      const TrainState state = trainer.run(progress);
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
      throw Interrupted(fmt::format("stopped and saved; go on with: hgt train --run {} --resume",
                                    state_->folder.string()));
    }
  }
  const Path file = state_->folder / "training.json";
  const double peak = std::max(peak_megabytes(), saved_peak(file));
  write_text(file, training_json(reports, num_parameters(), peak).dump(1) + '\n');
  return reports;
}

RunResult Run::evaluate(Split split, const EvaluationOptions& options,
                        const ProgressSink& progress) {
  RunResult result{.split = split, .scoring = options};
  for (const uint64_t seed : state_->seeds()) {
    result.seeds.push_back(state_->evaluate(seed, split, options, progress));
  }
  summarize(result);
  write_text(state_->folder / fmt::format("{}.json", to_string(split)),
             summary_json(result).dump(1) + '\n');
  return result;
}

}  // namespace hgt
