// train: from a graph to a trained model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/option_flags.h"
#include "cli/progress_bar.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/error.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/model/machine.h"
#include "hgt/task/audit.h"
#include "hgt/training/run.h"

namespace hgt::cli {

namespace {

constexpr double kAutomaticScale = 0;  // settle() finds it

struct TrainFlags {
  std::string graph;
  std::string task;
  std::string run;
  std::string preset = "release";
  std::string config;
  bool resume = false;
  uint64_t audit = 0;
  bool quiet = false;
  RunOptions options;
  std::unique_ptr<OptionFlags> training;
  std::unique_ptr<OptionFlags> task_flags;
};

// The order of authority: preset, config file, command line.
RunOptions effective_options(TrainFlags& flags) {
  const HeteroGraph graph = HeteroGraph::open(flags.graph);
  RunOptions& options = flags.options;
  options.graph = flags.graph;
  options.task = find_task(flags.task, graph.schema());
  options.training.model = preset(flags.preset);
  options.training.model.time_scale = kAutomaticScale;
  if (!flags.config.empty())
    read_config(flags.config, {flags.training.get(), flags.task_flags.get()});
  flags.training->apply();
  flags.task_flags->apply();
  return options;
}

void print_run(const Run& run) {
  const Task& task = run.task();
  const TaskSpec& spec = task.spec();
  fmt::print("task {}: ", spec.name);
  for (const Split split : kSplits) {
    fmt::print("{} {}{}", with_commas(task.num_examples(split)), to_string(split),
               split == Split::test ? "" : ", ");
  }
  if (task.num_classes() > 0) {
    fmt::print(" examples; {} classes\n", with_commas(task.num_classes()));
  } else {
    fmt::print(" examples\n");
  }
  fmt::print("model {}: {} parameters\n", to_string(run.options().training.model.kind),
             with_commas(run.num_parameters()));
}

void print_reports(const Run& run, const std::vector<SeedReport>& reports) {
  TextTable table({">seed", ">batches", ">best after", ">validation loss", ">seconds"});
  for (const SeedReport& report : reports) {
    table.add({std::to_string(report.seed), with_commas(report.batches),
               with_commas(report.best_batch), fmt::format("{:.4f}", report.validation_loss),
               fmt::format("{:.1f}", report.seconds)});
  }
  fmt::print("\n{}\nscore it with: hgt evaluate {}\n", table.text(), run.folder().string());
}

void run_train(TrainFlags& flags) {
  keep_tensor_memory();
  ProgressBar bar(flags.quiet);
  if (flags.resume) {
    if (flags.run.empty()) throw CLI::RequiredError("--run");
    Run run = Run::open(flags.run);
    flags.options = run.options();
    const char* reason = "a run that goes on keeps its options";
    flags.training->apply_only({"threads", "workers"}, reason);
    flags.task_flags->apply_only({}, reason);
    run.set_pipeline(flags.options.training.pipeline);
    print_run(run);
    print_reports(run, run.train(bar.sink()));
    return;
  }
  if (flags.graph.empty()) throw CLI::RequiredError("GRAPH");
  if (flags.task.empty()) throw CLI::RequiredError("--task");
  RunOptions options = effective_options(flags);
  if (flags.audit > 0) {
    const HeteroGraph graph = HeteroGraph::open(options.graph);
    const auto task = open_task(graph, options.task);
    fmt::print("{}", audit_text(audit(*task, options.training.sampling, flags.audit)));
    return;
  }
  if (flags.run.empty()) throw CLI::RequiredError("--run");
  Run run = Run::create(flags.run, std::move(options));
  print_run(run);
  print_reports(run, run.train(bar.sink()));
}

}  // namespace

void add_train(CLI::App& program) {
  auto flags = std::make_shared<TrainFlags>();
  flags->options.training.model.time_scale = kAutomaticScale;
  CLI::App* verb = program.add_subcommand("train", kTrainHelp);
  verb->add_option("graph", flags->graph, "Folder of the graph")->type_name("GRAPH");
  verb->add_option("--task", flags->task,
                   "What to predict: paper-venue, paper-field-L1, paper:LABEL, "
                   "author-disambiguation, link:EDGE, or a file (docs/training.md)")
      ->type_name("TASK");
  verb->add_option("--run", flags->run, "Folder for all that comes of it")->type_name("DIR");
  CLI::Option* resume =
      verb->add_flag("--resume", flags->resume, "Go on where the run was stopped");
  verb->add_option("--preset", flags->preset,
                   "paper: the printed equations; release: what the authors' code does")
      ->check(CLI::IsMember({"paper", "release"}))
      ->capture_default_str();
  verb->add_option("--config", flags->config,
                   "A TOML file with any of the options below; those of the command line win")
      ->type_name("FILE");
  verb->add_option("--audit", flags->audit,
                   "Do not train: sample for so many examples of each split and show that nothing "
                   "they must not see is in reach")
      ->expected(0, 1)
      ->default_str("64")
      ->type_name("N");
  verb->add_flag("--quiet", flags->quiet, "No progress");
  flags->training =
      std::make_unique<OptionFlags>(*verb, training_table(flags->options), "Model and training");
  flags->task_flags = std::make_unique<OptionFlags>(*verb, task_table(flags->options.task), "Task");
  for (const char* other : {"graph", "--task", "--preset", "--config", "--audit"}) {
    resume->excludes(verb->get_option(other));  // a run that goes on keeps its options
  }
  verb->callback([flags] { run_train(*flags); });
}

}  // namespace hgt::cli
