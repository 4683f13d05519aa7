// evaluate: how good a run is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/learn/show_warnings.h"
#include "cli/program.h"
#include "cli/progress_bar.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/model/machine.h"
#include "hgt/run/example_scores.h"
#include "hgt/run/warnings_json.h"
#include "hgt/training/run.h"

namespace hgt::cli {

namespace {

struct EvaluateFlags {
  std::string run;
  std::string split = "test";
  std::string against;
  std::string metric;
  std::optional<uint32_t> samples;
  std::optional<uint64_t> batch_size;
  bool full = false;
  uint64_t limit = 0;
  PipelineOptions pipeline;
  bool json = false;
  bool quiet = false;

  // As the run says, unless the command line says otherwise.
  EvaluationOptions scoring(const Run& opened) const {
    EvaluationOptions how = opened.scoring();
    how.batch_size = batch_size.value_or(how.batch_size);
    how.samples = samples.value_or(how.samples);
    how.full = full || (how.full && !samples);
    how.limit = limit;
    return how;
  }
};

std::string with_deviation(const Spread& value, size_t seeds) {
  return seeds > 1 ? fmt::format("{:.4f} ± {:.4f}", value.mean, value.deviation)
                   : fmt::format("{:.4f}", value.mean);
}

void print_table(const Run& run, const RunResult& result) {
  const size_t seeds = result.seeds.size();
  fmt::print("{}, {}: {} examples{}\n\n", run.task().spec().name, to_string(result.split),
             with_commas(result.seeds.front().examples),
             seeds > 1 ? fmt::format(", mean and deviation over {} seeds", seeds) : "");
  TextTable table({"metric", ">value"});
  for (const auto& [name, value] : result.metrics) {
    table.add({name, with_deviation(value, seeds)});
  }
  fmt::print("{}", table.text());
  const SeedResult& first = result.seeds.front();
  if (first.left_out > 0) {
    fmt::print("\nleft out: {} examples whose nodes are linked to all candidates that were drawn\n",
               with_commas(first.left_out));
  }
  if (!result.is_finished()) {
    fmt::print(
        "\ntraining was stopped before it finished; continue with: hgt train --run {} --resume\n",
        run.folder().string());
  }
}

nlohmann::ordered_json to_json(const RunResult& result) {
  nlohmann::ordered_json json = {{"split", to_string(result.split)},
                                 {"examples", result.seeds.front().examples},
                                 {"left_out", result.seeds.front().left_out},
                                 {"finished", result.is_finished()}};
  for (const auto& [name, value] : result.metrics) {
    json["metrics"][name] = {{"mean", value.mean}, {"deviation", value.deviation}};
  }
  for (const SeedResult& seed : result.seeds) {
    nlohmann::ordered_json entry = {{"seed", seed.seed}, {"loss", seed.loss}};
    for (const auto& [name, value] : seed.metrics) entry[name] = value;
    json["seeds"].push_back(entry);
  }
  json["warnings"] = warnings_json(result.warnings);
  return json;
}

void run_evaluate(const EvaluateFlags& flags) {
  keep_tensor_memory();
  ProgressBar bar(flags.quiet);
  Run run = Run::open(flags.run, bar.sink());
  run.set_pipeline(flags.pipeline);
  const auto split = from_word<Split>(flags.split);
  const RunResult result = run.evaluate(split, flags.scoring(run), bar.sink());
  show_warnings(result.warnings);
  nlohmann::ordered_json json = to_json(result);
  if (!flags.json) print_table(run, result);
  if (!flags.against.empty()) {
    const PairedTest test =
        compare_runs(run.files(), RunFolder(flags.against), split, flags.metric);
    json["against"] = {
        {"run", flags.against}, {"metric", flags.metric}, {"difference", test.difference},
        {"low", test.low},      {"high", test.high},      {"p_value", test.p_value}};
    if (!flags.json) {
      fmt::print("\nagainst {}: {} {:+.4f} (95 % interval {:+.4f} to {:+.4f}), p = {:.4f}\n",
                 flags.against, flags.metric, test.difference, test.low, test.high, test.p_value);
    }
  }
  if (flags.json) fmt::print("{}\n", json.dump(1));
}

}  // namespace

void add_evaluate(CLI::App& verb) {
  auto flags = std::make_shared<EvaluateFlags>();
  verb.add_option("run", flags->run, "Folder of the run")->required()->type_name("RUN");
  verb.add_option("--split", flags->split, "Split to score")
      ->check(CLI::IsMember(all_words<Split>()))
      ->capture_default_str();
  CLI::Option* samples =
      verb.add_option(
              "--samples", flags->samples,
              "Sub-graphs sampled per example, whose scores are averaged (default: the run's "
              "--validation-samples or --validation-full)")
          ->check(CLI::Range(1, 1000));
  verb.add_flag("--full", flags->full,
                "Use all neighbors, as many hops as the model has layers, instead of sampled "
                "sub-graphs")
      ->excludes(samples);
  verb.add_option("--batch-size", flags->batch_size,
                  "Examples scored together, which share a sub-graph (default: the run's "
                  "--validation-batch-size)")
      ->check(CLI::Range(1, 1 << 20))
      ->group(kAdvanced);
  verb.add_option("--limit", flags->limit,
                  "Score only this many randomly chosen examples (0 = all)")
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option(
          "--against", flags->against,
          "Test whether the difference from another run, scored on the same split, is due to "
          "chance (paired permutation test and bootstrap over the examples)")
      ->type_name("RUN");
  verb.add_option("--metric", flags->metric, "Metric that --against compares")
      ->check(CLI::IsMember({"ndcg", "mrr", "hits@1"}))
      ->default_val("ndcg");
  verb.add_option("--threads", flags->pipeline.threads, "Compute threads (0 = one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option("--workers", flags->pipeline.workers,
                  "Additional threads that sample ahead (0 = the compute threads sample between "
                  "steps)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_flag("--json", flags->json, "Print JSON instead of text");
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] { run_evaluate(*flags); });
}

}  // namespace hgt::cli
