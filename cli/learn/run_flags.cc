#include "cli/learn/run_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "hgt/error.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/run/idle_options.h"
#include "hgt/task/task_kinds.h"

namespace hgt::cli {

namespace {

constexpr double kAutomaticScale = 0;  // settle() finds it
constexpr const char* kMetaPaths = "meta-paths";
// Of some models only: in a comparison they are for these.
constexpr std::array<std::string_view, 2> kOfSomeModels = {kMetaPaths, "degree-weights"};
constexpr const char* kKeepsOptions = "a run that is continued keeps its options";

RunOptions& with_automatic_scale(RunOptions& options) {
  options.training.model.time_scale = kAutomaticScale;
  return options;
}

OptionTable general_table(std::string& task, std::string& run, std::string& preset) {
  OptionTable table;
  table
      .add("task", task,
           fmt::format("What to predict: {}, or a task file (docs/training.md)",
                       task_name_examples()))
      .everyday();
  table.add("run", run, "Folder that the run is written to").everyday();
  table
      .add("preset", preset,
           "Model options to start from: paper = the printed equations, release = what the "
           "authors' code does")
      .everyday();
  return table;
}

}  // namespace

RunFlags::RunFlags(CLI::App& verb, const std::vector<std::string>& without, const OptionTable& more)
    : general_(verb, general_table(task_, run_, preset_).with(more)),
      training_(add_own(verb), training_table(with_automatic_scale(options_)).without(without)),
      task_flags_(verb, task_table(options_.task)) {}

CLI::App& RunFlags::add_own(CLI::App& verb) {
  verb.add_option("graph", graph_, "Folder of the graph")->type_name("GRAPH");
  verb.add_option("--config", config_,
                  "TOML file with any of these options; the command line takes precedence")
      ->type_name("FILE");
  CLI::Option* resume = verb.add_flag("--resume", resume_, "Continue a run that was stopped");
  for (const char* other : {"graph", "--config"}) resume->excludes(verb.get_option(other));
  return verb;
}

void RunFlags::read_general() {
  if (!config_.empty()) read_config(config_, {&general_, &training_, &task_flags_});
  general_.apply();
}

RunOptions RunFlags::effective() {
  read_general();  // what to start from
  if (graph_.empty()) throw CLI::RequiredError("GRAPH");
  if (task_.empty()) throw CLI::RequiredError("--task");
  const Schema schema = read_schema(graph_);
  options_.graph = graph_;
  options_.task = find_task(task_, schema);
  options_.training.model = preset(preset_);
  with_automatic_scale(options_);
  read_general();
  training_.apply();
  task_flags_.apply();
  refuse_idle_options(schema);
  return options_;
}

// Config files may hold all options: those that a run wrote do.
void RunFlags::refuse_idle_options(const Schema& schema) const {
  std::vector<std::string> given = training_.given();
  for (const std::string& key : task_flags_.given()) given.push_back(key);
  const bool one_model = training_.table().find("model") != nullptr;
  if (!one_model) {
    std::erase_if(given, [](const std::string& key) {
      return std::find(kOfSomeModels.begin(), kOfSomeModels.end(), key) != kOfSomeModels.end();
    });
  }
  const auto idle = find_idle_option(options_, schema, given);
  if (idle) throw CLI::ValidationError("--" + idle->key, idle->reason);
}

bool RunFlags::names_meta_paths() const {
  const std::vector<std::string> given = task_flags_.given();
  return std::find(given.begin(), given.end(), kMetaPaths) != given.end();
}

RunOptions RunFlags::resumed(const RunOptions& saved) {
  options_ = saved;
  general_.apply_only({"run", "budget"}, kKeepsOptions);
  training_.apply_only({"threads", "workers"}, kKeepsOptions);
  task_flags_.apply_only({}, kKeepsOptions);
  return options_;
}

const std::string& RunFlags::folder() {
  read_general();
  if (run_.empty()) throw CLI::RequiredError("--run");
  return run_;
}

}  // namespace hgt::cli
