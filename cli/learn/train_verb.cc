// train: from a graph to a trained model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/learn/run_flags.h"
#include "cli/learn/show_warnings.h"
#include "cli/progress_bar.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/error.h"
#include "hgt/graph/verified_arrays.h"
#include "hgt/model/machine.h"
#include "hgt/task/audit.h"
#include "hgt/task/split_dates.h"
#include "hgt/task/time_bound.h"
#include "hgt/training/run.h"

namespace hgt::cli {

namespace {

struct TrainFlags {
  explicit TrainFlags(CLI::App& verb) : run(verb) {}

  RunFlags run;
  uint64_t audit = 0;
  bool quiet = false;
};

void print_run(const Run& run) {
  const Task& task = run.task();
  const TaskSpec& spec = task.spec();
  fmt::print("task {}: ", spec.name);
  for (const Split split : kSplits) {
    fmt::print("{} {}{}", with_commas(task.num_examples(split)), to_string(split),
               split == Split::test ? "" : ", ");
  }
  if (task.answers() == Answers::classes) {
    fmt::print(" examples; {} classes\n", with_commas(task.num_classes()));
  } else {
    fmt::print(" examples\n");
  }
  if (spec.split == SplitRule::time) fmt::print("split {}\n", describe_split(task));
  const TimeBound bound = task.time_bound(run.options().training.sampling.time_bound);
  if (task.graph().schema().time_range) {
    fmt::print("time bound {}\n", describe_time_bound(task, bound));
  }
  fmt::print("model {}: {} parameters, feature set '{}'\n",
             to_string(run.options().training.model.kind), with_commas(run.num_parameters()),
             run.options().features);
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

void run_audit(const RunOptions& options, uint64_t examples, const ProgressSink& progress) {
  const HeteroGraph graph = open_verified(options.graph, progress, options.features);
  const auto task = open_task(graph, options.task);
  const Audit found = audit(*task, options.training.sampling, examples);
  fmt::print("{}", audit_text(found));
  if (found.clean()) return;
  throw Error(fmt::format("{}: a model for task {} would see what it must not see", options.graph,
                          task->spec().name));
}

void run_train(TrainFlags& flags) {
  keep_tensor_memory();
  ProgressBar bar(flags.quiet);
  if (flags.run.resumes()) {
    Run run = Run::open(flags.run.folder(), bar.sink());
    run.set_pipeline(flags.run.resumed(run.options()).training.pipeline);
    print_run(run);
    print_reports(run, run.train(bar.sink()));
    return;
  }
  RunOptions options = flags.run.effective();
  if (flags.audit > 0) {
    run_audit(options, flags.audit, bar.sink());
    return;
  }
  Run run = Run::create(flags.run.folder(), std::move(options), bar.sink());
  print_run(run);
  show_warnings(find_warnings(run.task(), run.options().training));
  print_reports(run, run.train(bar.sink()));
}

}  // namespace

void add_train(CLI::App& verb) {
  auto flags = std::make_shared<TrainFlags>(verb);
  CLI::Option* audit =
      verb.add_option("--audit", flags->audit,
                      "Do not train; sample for N examples of each split and check that the model "
                      "sees nothing that it must predict")
          ->expected(0, 1)
          ->default_str("64")
          ->check(CLI::Range(1, 1'000'000))
          ->type_name("N");
  verb.get_option("--resume")->excludes(audit);
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] { run_train(*flags); });
}

}  // namespace hgt::cli
