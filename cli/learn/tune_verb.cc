// tune: good options for a model, found by validation scores.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/learn/run_flags.h"
#include "cli/learn/show_warnings.h"
#include "cli/progress_bar.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/model/machine.h"
#include "hgt/run/tune_report.h"
#include "hgt/training/tune.h"

namespace hgt::cli {

namespace {

struct TuneFlags {
  explicit TuneFlags(CLI::App& verb) : run(verb, {}, tune_table(how)) {}

  TuneOptions how;
  RunFlags run;
  bool quiet = false;
};

Tune opened(TuneFlags& flags, const ProgressSink& progress) {
  const TuneFolder folder{Path(flags.run.folder())};
  if (!flags.run.resumes()) {
    const RunOptions options = flags.run.effective();
    return Tune::create(folder, options, flags.how, flags.run.given(), progress);
  }
  Tune tune = Tune::open(folder, progress);
  tune.set_pipeline(flags.run.resumed(tune.base().options()).training.pipeline);
  if (!flags.how.budget.empty()) tune.set_budget(flags.how.budget);
  return tune;
}

void print_search(const Tune& tune) {
  const TuneOptions& how = tune.plan().options;
  std::vector<std::string> keys;
  for (const Dimension& dimension : tune.space().dimensions) keys.push_back(dimension.key);
  const Task& task = tune.base().task();
  fmt::print("task {}, model {}: {}{}{} of {}\n", task.spec().name,
             to_string(tune.base().options().training.model.kind),
             how.trials > 0 ? fmt::format("{} trials", how.trials) : "",
             how.trials > 0 && !how.budget.empty() ? ", at most " : "",
             how.budget.empty() ? "" : how.budget, fmt::join(keys, ", "));
  fmt::print("score: {} on {}; {} test examples are not looked at\n\n", how.metric,
             tune.plan().draws_reason, with_commas(task.num_examples(Split::test)));
}

void print_winner(const TuneFolder& folder, const RunResult& result) {
  const size_t seeds = result.seeds.size();
  fmt::print("\nwinner on {} test examples{}:\n\n", with_commas(result.seeds.front().examples),
             seeds > 1 ? fmt::format(", mean and deviation over {} seeds", seeds) : "");
  TextTable table({"metric", ">value"});
  for (const auto& [name, value] : result.metrics) {
    table.add({name, seeds > 1 ? fmt::format("{:.4f} ± {:.4f}", value.mean, value.deviation)
                               : fmt::format("{:.4f}", value.mean)});
  }
  fmt::print("{}\nits options: {}, its run: {}\nalso in {}: trials.md, trials.svg, tune.jsonl\n",
             table.text(), folder.best_file().string(), folder.winner().path().string(),
             folder.path().string());
}

void run_tune(TuneFlags& flags) {
  keep_tensor_memory();
  ProgressBar bar(flags.quiet);
  Tune tune = opened(flags, bar.sink());
  print_search(tune);
  tune.search(bar.sink());
  tune.winner();  // throws: there is none
  fmt::print("{}", to_markdown(read_tune(tune.folder())));
  const RunResult result = tune.score_winner(bar.sink());
  show_warnings(result.warnings);
  print_winner(tune.folder(), result);
}

}  // namespace

void add_tune(CLI::App& verb) {
  auto flags = std::make_shared<TuneFlags>(verb);
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] { run_tune(*flags); });
}

}  // namespace hgt::cli
