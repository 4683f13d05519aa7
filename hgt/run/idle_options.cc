#include "hgt/run/idle_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "hgt/task/task_kinds.h"
#include "hgt/task/time_bound.h"

namespace hgt {

namespace {

struct Rule {
  std::string_view key;
  bool has_effect;
  std::string reason;  // why it has none
};
using Rules = std::vector<Rule>;

Rules loop_rules(const RunOptions& options, const Schema& schema) {
  const TrainOptions& training = options.training;
  const bool hgsampling = training.sampling.strategy == Strategy::hgsampling;
  const bool neighbors = training.sampling.strategy == Strategy::neighbors;
  const TimeBound bound = settled_time_bound(training.sampling.time_bound, options.task, schema);
  const bool shares = hgsampling && bound == TimeBound::seed;
  const char* shares_reason = "only --strategy hgsampling with --time-bound seed has it";
  return {{"width", hgsampling, "only --strategy hgsampling has a width"},
          {"neighbor-cap", hgsampling, "only --strategy hgsampling has a cap"},
          {"depth", !neighbors, "--strategy neighbors goes as many hops as --fanout has numbers"},
          {"fanout", neighbors, "only --strategy neighbors has fan-outs"},
          {"recent", neighbors, "only --strategy neighbors takes entries of lists"},
          {"seed-width", shares, shares_reason},
          {"seed-times", shares, shares_reason},
          {"epochs", training.batches == 0, "batches are counted instead"},
          {"validation-samples", !training.validation.full, "--validation-full does not sample"}};
}

std::string only_those(bool ModelRow::*capability, const char* what) {
  return fmt::format("only --model {} {}", fmt::join(model_names(capability), ", "), what);
}

Rules model_rules(const ModelOptions& model) {
  const ModelRow& row = row_of(model.kind);
  Rules rules = {{"meta-paths", row.follows_meta_paths,
                  only_those(&ModelRow::follows_meta_paths, "follows them")},
                 {"degree-weights", row.weighs_by_degree,
                  only_those(&ModelRow::weighs_by_degree, "weighs neighbors by degrees")}};
  for (const char* key : {"time-scale", "scaled-sinusoids", "paired-sinusoids"}) {
    rules.push_back(
        {key, row.has_variants && model.rte, "only Relative Temporal Encoding uses times"});
  }
  for (const char* key : {"matrix-per-head", "prior"}) {
    rules.push_back({key, !model.matrix_per_relation, "--matrix-per-relation stands for it"});
  }
  for (const char* key : {"heter", "rte", "norm", "gated-skip", "matrix-per-head",
                          "matrix-per-relation", "divide-by-head-width", "prior", "instructions"}) {
    rules.push_back({key, row.has_variants, only_those(&ModelRow::has_variants, "has it")});
  }
  return rules;
}

Rules task_rules(const RunOptions& options, const Schema& schema) {
  const TaskSpec& task = options.task;
  const SplitRule split = settled_split(task, schema);
  const bool by_time = split == SplitRule::time;
  const TaskRow& row = row_of(task.kind);
  const bool pairs = row.answers == Answers::pairs;
  const bool network = pairs && options.training.scorer == PairScorer::ntn;
  Rules rules = {{"train-end", by_time, "it applies only to a split by time"},
                 {"validation-end", by_time, "it applies only to a split by time"},
                 {"validation-share", !by_time, "a split by time has no shares"},
                 {"test-share", split == SplitRule::random, "it applies only to --split random"},
                 {"validation-draw", !by_time, "a split by time draws nothing"},
                 {"split-seed", !by_time || row.draws_negatives || task.max_candidates > 0,
                  "nothing is drawn"},
                 {"label-inputs", !pairs && row_of(options.training.model.kind).reads_neighbors,
                  "only tasks with classes and models that read neighbors have a use for labels"},
                 {"scorer", pairs, "only tasks on names and links score pairs"},
                 {"slices", network, "only the Neural Tensor Network of pairs has slices"},
                 {"time-bound", schema.time_range.has_value(), "the graph has no times"},
                 {"same-time", schema.time_range.has_value(), "the graph has no times"},
                 {"also-hide", task.guard, "--no-guard hides nothing"},
                 {"hide-links", task.guard, "--no-guard hides nothing"}};
  for (const TaskRow& other : task_rows()) {
    for (const std::string_view key : other.options) {
      rules.push_back({key, other.kind == task.kind, std::string(other.options_reason)});
    }
  }
  return rules;
}

}  // namespace

std::optional<IdleOption> find_idle_option(const RunOptions& options, const Schema& schema,
                                           const std::vector<std::string>& given) {
  for (const Rules& rules : {loop_rules(options, schema), model_rules(options.training.model),
                             task_rules(options, schema)}) {
    for (const Rule& rule : rules) {
      const bool is_given = std::find(given.begin(), given.end(), rule.key) != given.end();
      if (is_given && !rule.has_effect)
        return IdleOption{.key = std::string(rule.key), .reason = rule.reason};
    }
  }
  return std::nullopt;
}

}  // namespace hgt
