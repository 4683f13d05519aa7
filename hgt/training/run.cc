#include "hgt/training/run.h"

#include <fmt/format.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/model/machine.h"
#include "hgt/training/evaluation.h"
#include "hgt/training/run_state.h"
#include "hgt/training/trainer.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "hgt run 1";

std::string read_text(const Path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw Error(fmt::format("{}: cannot be read; is this the folder of a run?", file.string()));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Written beside and renamed: a file that is there is whole.
void write_text(const Path& file, const std::string& text) {
  const Path partial = file.string() + ".partial";
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw Error(fmt::format("{}: cannot be written; is the disk full?", file.string()));
  fs::rename(partial, file);
}

std::string text_checksum(const std::string& text) {
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(text))));
}

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

// Two processes must not write one run.
File lock_folder(const Path& folder) {
  const Path path = folder / "lock";
  File lock = fs::exists(path) ? File::open_to_read(path) : File::create(path);
  if (::flock(lock.descriptor(), LOCK_EX | LOCK_NB) != 0) {
    throw Error(fmt::format("{}: another process is training this run", folder.string()));
  }
  return lock;
}

std::string environment_json(const RunOptions& options, const std::string& checksum) {
  const Machine here = machine();
  const nlohmann::ordered_json json = {
      {"format", kFormat},      {"graph", options.graph},  {"graph_checksum", checksum},
      {"hgt", HGT_VERSION},     {"commit", HGT_COMMIT},    {"libtorch", here.torch_version},
      {"blas", blas().name},    {"kernels", here.kernels}, {"cores", here.cores},
      {"threads", here.threads}};
  return json.dump(1) + '\n';
}

nlohmann::ordered_json metrics_json(const SeedResult& result) {
  nlohmann::ordered_json json = {
      {"seed", result.seed}, {"examples", result.examples}, {"loss", result.loss}};
  for (const auto& [name, value] : result.metrics) json[name] = value;
  json["seconds"] = result.seconds;
  return json;
}

nlohmann::ordered_json summary_json(const RunResult& result) {
  nlohmann::ordered_json json = {{"split", to_string(result.split)}};
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

// What is worth comparing example by example.
constexpr const char* kExampleHeader = "ndcg\tmrr\thits@1";

std::string examples_table(const Task& task, const Evaluation& result) {
  const bool pairs = task.num_classes() == 0;
  std::string text =
      pairs ? fmt::format("{}\t{}\t{}\n", task.spec().node, task.spec().other, kExampleHeader)
            : fmt::format("{}\t{}\n", task.spec().node, kExampleHeader);
  for (size_t i = 0; i < result.rankings.size(); ++i) {
    const Ranking& ranking = result.rankings[i];
    text += fmt::format("{}\t{:.6g}\t{:.6g}\t{:.6g}\n",
                        task.describe_example(result.split, result.numbers[i]), ranking.ndcg,
                        ranking.reciprocal_rank, ranking.hits_1);
  }
  return text;
}

void summarise(RunResult& result) {
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
void RunState::settle_identity(const std::string& checksum) {
  RunOptions own = options;
  own.repeats = 1;
  own.training.seed = 0;
  own.training.pipeline = {};
  own.training.checkpoint_every = 0;
  identity = text_checksum(training_table(own).to_toml() + to_toml(own.task) + checksum);
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
  const Evaluation found = hgt::evaluate(model, *task, split, training, progress);
  SeedResult result{.seed = seed,
                    .examples = found.examples,
                    .loss = found.loss,
                    .seconds = found.seconds,
                    .metrics = found.metrics};
  const std::string name(to_string(split));
  write_text(seed_folder(seed) / (name + ".tsv"), examples_table(*task, found));
  write_text(seed_folder(seed) / (name + ".json"), metrics_json(result).dump(1) + '\n');
  return result;
}

Run::Run(std::unique_ptr<RunState> state) : state_(std::move(state)) {
  set_compute_threads(state_->options.training.pipeline.threads);
}
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;
Run::~Run() = default;

Run Run::create(const Path& folder, RunOptions options) {
  if (fs::exists(folder / "run.json")) {
    throw Error(
        fmt::format("{}: there is a run already; go on with --resume, or choose another "
                    "folder",
                    folder.string()));
  }
  options.graph = fs::absolute(options.graph).lexically_normal().string();
  const HeteroGraph graph = HeteroGraph::open(options.graph);
  settle(options, graph.schema());
  auto state = std::make_unique<RunState>();
  state->folder = folder;
  state->options = std::move(options);
  state->task = open_task(graph, state->options.task);
  state->options.task = state->task->spec();
  const std::string checksum = graph_checksum(graph.folder());
  state->settle_identity(checksum);
  Run run(std::move(state));
  make_folder(folder);
  RunOptions& own = run.state_->options;
  write_text(folder / "options.toml", training_table(own).to_toml());
  write_text(folder / "task.toml", to_toml(own.task));
  write_text(folder / "run.json", environment_json(own, checksum));  // the last: now it is a run
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
  training_table(state->options).read(folder / "options.toml");
  state->options.task = read_task(folder / "task.toml");
  state->options.graph = entry("graph");
  const HeteroGraph graph = HeteroGraph::open(state->options.graph);
  const std::string checksum = graph_checksum(graph.folder());
  if (checksum != entry("graph_checksum")) {
    throw Error(
        fmt::format("{}: has changed since the run {} was made of it; train a new run, or "
                    "bring the old graph back",
                    graph.folder().string(), folder.string()));
  }
  state->task = open_task(graph, state->options.task);
  state->options.task = state->task->spec();
  adopt_meta_paths(state->options);
  state->settle_identity(checksum);
  return Run(std::move(state));
}

const Path& Run::folder() const { return state_->folder; }
const RunOptions& Run::options() const { return state_->options; }
const Task& Run::task() const { return *state_->task; }

uint64_t Run::num_parameters() const {
  const TaskModel model = make_model(*state_->task, state_->options.training);
  return static_cast<uint64_t>(hgt::num_parameters(*model));
}

void Run::set_pipeline(const PipelineOptions& pipeline) {
  state_->options.training.pipeline = pipeline;
  set_compute_threads(pipeline.threads);
}

std::vector<SeedReport> Run::train(const ProgressSink& progress) {
  const File lock = lock_folder(state_->folder);
  std::vector<SeedReport> reports;
  for (const uint64_t seed : state_->seeds()) {
    make_folder(state_->seed_folder(seed));
    try {
      const TrainState state = state_->trainer(seed).run(progress);
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
  RunResult result{.split = split};
  for (const uint64_t seed : state_->seeds()) {
    result.seeds.push_back(state_->evaluate(seed, split, options, progress));
  }
  summarise(result);
  write_text(state_->folder / fmt::format("{}.json", to_string(split)),
             summary_json(result).dump(1) + '\n');
  return result;
}

namespace {

// The metric of each example, by the ids that stand before it.
using ExampleValues = std::map<std::string, double>;

void add_examples(const Path& file, const std::string& metric, ExampleValues& sums) {
  std::istringstream in(read_text(file));
  std::string line;
  std::getline(in, line);
  const auto split = [](const std::string& text) {
    std::vector<std::string> cells;
    std::istringstream cells_in(text);
    for (std::string cell; std::getline(cells_in, cell, '\t');) cells.push_back(cell);
    return cells;
  };
  const std::vector<std::string> titles = split(line);
  const auto found = std::find(titles.begin(), titles.end(), metric);
  if (found == titles.end()) {
    throw Error(fmt::format("{}: it has no column '{}'; choose ndcg, mrr or hits@1", file.string(),
                            metric));
  }
  const auto column = static_cast<size_t>(found - titles.begin());
  constexpr size_t kMetrics = 3;
  const size_t keys = titles.size() - kMetrics;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split(line);
    if (cells.size() != titles.size()) throw Error(fmt::format("{}: is damaged", file.string()));
    std::string key;
    for (size_t i = 0; i < keys; ++i) key += cells[i] + '\t';
    try {
      sums[key] += std::stod(cells[column]);
    } catch (const std::logic_error&) {
      throw Error(fmt::format("{}: '{}' is no number", file.string(), cells[column]));
    }
  }
}

ExampleValues example_values(const Path& run, Split split, const std::string& metric) {
  ExampleValues sums;
  double seeds = 0;
  if (!fs::is_directory(run)) throw Error(fmt::format("{}: is no run", run.string()));
  for (const auto& entry : fs::directory_iterator(run)) {
    const Path file = entry.path() / fmt::format("{}.tsv", to_string(split));
    if (!entry.path().filename().string().starts_with("seed-") || !fs::exists(file)) continue;
    add_examples(file, metric, sums);
    ++seeds;
  }
  if (seeds == 0) {
    throw Error(fmt::format("{}: has not been scored on {}; run: hgt evaluate {} --split {}",
                            run.string(), to_string(split), run.string(), to_string(split)));
  }
  for (auto& [key, value] : sums) value /= seeds;
  return sums;
}

}  // namespace

PairedTest compare_runs(const Path& a, const Path& b, Split split, const std::string& metric) {
  const ExampleValues in_a = example_values(a, split, metric);
  const ExampleValues in_b = example_values(b, split, metric);
  std::vector<double> values_a;
  std::vector<double> values_b;
  for (const auto& [key, value] : in_a) {
    const auto found = in_b.find(key);
    if (found == in_b.end() || in_a.size() != in_b.size()) {
      throw Error(
          fmt::format("{} and {} were scored on different examples", a.string(), b.string()));
    }
    values_a.push_back(value);
    values_b.push_back(found->second);
  }
  return paired_test(values_a, values_b);
}

}  // namespace hgt
