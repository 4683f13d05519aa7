#include "hgt/run/saved_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hgt/disk/checksum.h"
#include "hgt/disk/json_text.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/graph/feature_sets.h"

namespace hgt {

namespace {

constexpr const char* kFormat = "hgt run 3";

// What stands in the files of the options and the task.
struct RunTexts {
  std::string options;
  std::string task;
  friend bool operator==(const RunTexts&, const RunTexts&) = default;
};

RunTexts texts_of(RunOptions options) {
  return {.options = training_table(options).to_toml(), .task = to_toml(options.task)};
}

// What runs did before these options existed. Their files lack them.
void set_later_options(TrainOptions& training) {
  training.sampling.seed_width = 0;
  training.sampling.recent = false;
  training.seed_times = 0;
  training.model.degree_weights = DegreeWeights::mean;
  training.model.matrix_per_relation = false;
  training.label_inputs = false;
  training.sampling.same_time = false;
  training.model.scaled_sinusoids = false;
  training.model.paired_sinusoids = false;
}

// Of these options, those that are as they were before they existed. They are no part of the
// identity, so that it is that of earlier runs.
std::vector<std::string> unchanged_options(const TrainOptions& training) {
  std::vector<std::string> keys;
  if (training.sampling.seed_width == 0) keys.emplace_back("seed-width");
  if (!training.sampling.recent) keys.emplace_back("recent");
  if (training.seed_times == 0) keys.emplace_back("seed-times");
  if (training.model.degree_weights == DegreeWeights::mean) keys.emplace_back("degree-weights");
  if (!training.model.matrix_per_relation) keys.emplace_back("matrix-per-relation");
  if (!training.label_inputs) keys.emplace_back("label-inputs");
  if (!training.sampling.same_time) keys.emplace_back("same-time");
  if (!training.model.scaled_sinusoids) keys.emplace_back("scaled-sinusoids");
  if (!training.model.paired_sinusoids) keys.emplace_back("paired-sinusoids");
  return keys;
}

void check_text(const Path& file, const std::string& expected) {
  if (text_checksum(read_text(file)) == expected) return;
  throw Error(fmt::format(
      "{}: the file has changed since hgt wrote it; restore it, or train a new run (the file "
      "can serve as its --config or --task)",
      file.string()));
}

nlohmann::ordered_json to_json(const RunEnvironment& environment) {
  return {{"format", kFormat},
          {"graph", environment.graph},
          {"graph_checksum", environment.graph_checksum},
          {"structure_checksum", environment.structure_checksum},
          {"options_checksum", environment.options_checksum},
          {"task_checksum", environment.task_checksum},
          {"hgt", environment.hgt},
          {"commit", environment.commit},
          {"libtorch", environment.libtorch},
          {"blas", environment.blas},
          {"kernels", environment.kernels},
          {"cores", environment.cores},
          {"threads", environment.threads}};
}

RunEnvironment read_environment(const Path& file) {
  const auto json = parse_json(read_text(file), false);
  const auto text = [&](const char* key) {
    const bool known = json.is_object() && json.contains(key) && json.at(key).is_string();
    return known ? json.at(key).get<std::string>() : "";
  };
  const auto count = [&](const char* key) {
    const bool known = json.contains(key) && json.at(key).is_number_unsigned();
    return known ? json.at(key).get<uint64_t>() : 0;
  };
  if (text("format") != kFormat || text("graph").empty()) {
    throw Error(
        fmt::format("{}: the file is damaged or was written by another version of hgt; train a "
                    "new run",
                    file.string()));
  }
  return {.graph = text("graph"),
          .graph_checksum = text("graph_checksum"),
          .structure_checksum = text("structure_checksum"),
          .options_checksum = text("options_checksum"),
          .task_checksum = text("task_checksum"),
          .hgt = text("hgt"),
          .commit = text("commit"),
          .libtorch = text("libtorch"),
          .blas = text("blas"),
          .kernels = text("kernels"),
          .cores = count("cores"),
          .threads = count("threads")};
}

}  // namespace

std::string graph_checksum(const HeteroGraph& graph) {
  return text_checksum(graph.schema().to_json());
}

std::string structure_checksum(const HeteroGraph& graph) {
  return text_checksum(without_features(graph.schema()).to_json());
}

void write_run(const RunFolder& folder, const RunOptions& options, RunEnvironment environment) {
  const RunTexts texts = texts_of(options);
  environment.options_checksum = text_checksum(texts.options);
  environment.task_checksum = text_checksum(texts.task);
  write_text(folder.options_file(), texts.options);
  write_text(folder.task_file(), texts.task);
  write_text(folder.environment_file(), to_json(environment).dump(1) + '\n');
}

SavedRun read_run(const RunFolder& folder) {
  if (!folder.holds_run()) {
    throw Error(fmt::format("{}: not a run (there is no run.json in it); make one with 'hgt train'",
                            folder.path().string()));
  }
  SavedRun run{.folder = folder, .environment = read_environment(folder.environment_file())};
  check_text(folder.options_file(), run.environment.options_checksum);
  check_text(folder.task_file(), run.environment.task_checksum);
  set_later_options(run.options.training);
  training_table(run.options).read(folder.options_file());
  run.options.task = read_task(folder.task_file());
  run.options.graph = run.environment.graph;
  // Runs made before graphs had several sets do not name theirs.
  if (run.options.features.empty()) run.options.features = kImportedSet;
  return run;
}

bool same_run(const RunOptions& a, const RunOptions& b) {
  return a.graph == b.graph && texts_of(a) == texts_of(b);
}

std::string run_identity(const RunOptions& options, const std::string& graph_checksum) {
  RunOptions own = options;
  own.repeats = 1;
  own.training.seed = 0;
  own.training.pipeline = {};
  own.training.checkpoint_every = 0;
  // The graph's checksum covers the features, whatever the set is called. The pipeline is no part
  // of the identity; `instructions` is the one option of it that earlier runs lack.
  std::vector<std::string> left_out = unchanged_options(own.training);
  left_out.insert(left_out.end(), {"features", "instructions"});
  const OptionTable table = training_table(own).without(left_out);
  return text_checksum(table.to_toml() + to_toml(own.task) + graph_checksum);
}

}  // namespace hgt
