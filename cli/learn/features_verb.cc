// features: input vectors for the nodes of a graph.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/learn/option_flags.h"
#include "cli/progress_bar.h"
#include "cli/streams.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/error.h"
#include "hgt/features/make_features.h"
#include "hgt/features/recipe.h"
#include "hgt/graph/feature_set_writer.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/model/machine.h"
#include "hgt/run/train_options.h"

namespace hgt::cli {

namespace {

struct FeatureFlags {
  explicit FeatureFlags(CLI::App& verb) : options(verb, step_table(step)) {}

  std::string graph;
  std::string recipe;
  std::string remove;
  bool dry_run = false;
  bool quiet = false;
  FeatureSetOptions set;
  FeatureStep step;
  OptionFlags options;
};

// What stands in a recipe cannot be said beside it, but for what may hold for all of its steps:
// that goes before the file, as with config files.
std::vector<FeatureStep> steps_of_recipe(FeatureFlags& flags) {
  std::vector<FeatureStep> steps = read_recipe(flags.recipe);
  std::vector<std::string> of_all = {"seed", "threads", "precision"};
  for (const std::string& key : options_of_reach()) of_all.push_back(key);
  for (FeatureStep& step : steps) {
    flags.step = step;
    flags.options.apply_only(of_all, "belongs to a step; write it into the recipe");
    step = flags.step;
  }
  return steps;
}

std::vector<FeatureStep> steps_of(FeatureFlags& flags) {
  if (!flags.recipe.empty()) return steps_of_recipe(flags);
  flags.options.apply();
  if (flags.step.types.empty() && flags.step.kind() != StepKind::text) {
    throw CLI::ValidationError("--type", "give the node type that gets the features");
  }
  refuse_idle_options(flags.step);
  if (!flags.step.types.empty()) return {flags.step};
  flags.set.lenient = true;
  return default_recipe(HeteroGraph::open(flags.graph, flags.set.base), flags.step);
}

void print_made(const std::vector<MadeFeatures>& made) {
  TextTable table({"node type", ">width", "stored as", "from", ">nodes without", ""});
  for (const MadeFeatures& one : made) {
    if (!one.left_out.empty()) continue;
    table.add({one.type, std::to_string(one.spec.width), std::string(to_string(one.spec.type)),
               one.spec.origin, with_commas(one.spec.missing), one.already ? "as before" : ""});
  }
  fmt::print("{}", table.text());
  for (const MadeFeatures& one : made) {
    if (!one.left_out.empty()) tell(fmt::format("hgt: left out: {}\n", one.left_out));
  }
}

void print_plan(const FeatureFlags& flags, const FeatureSetPlan& plan) {
  const std::string name = fmt::format("{}: feature set '{}'", flags.graph, flags.set.name);
  if (plan.exists) {
    fmt::print("{} is there already, made in this way\n\n", name);
    return;
  }
  TextTable table({"node type", ">nodes", "from", ">about"});
  double seconds = 0;
  for (const PlannedFeatures& one : plan.types) {
    table.add({one.type, with_commas(one.nodes), one.origin,
               one.already ? "as before" : short_duration(one.seconds)});
    seconds += one.seconds;
  }
  fmt::print("{}, with all else from '{}'\n\n{}about {} in all\n\n", name, flags.set.base,
             table.text(), short_duration(seconds));
  std::fflush(stdout);  // before the work
}

void warn_of_outdated_means(const FeatureFlags& flags) {
  const Schema schema = HeteroGraph::open(flags.graph, flags.set.name).schema();
  for (const std::string& type : outdated_means(schema)) {
    const Path source = schema.at(schema.node_type(type)).features->mean_of;
    tell(fmt::format(
        "hgt: features of {0} are the mean of features of {1} that the set '{2}' does not have; "
        "make a set where they fit with --base {2} --type {0} --mean-of {1}\n",
        type, source.parent_path().string(), flags.set.name));
  }
}

// A model gives each of them a vector of its own, or one to all if they are too many.
void warn_of_types_without(const FeatureFlags& flags) {
  const Schema schema = HeteroGraph::open(flags.graph, flags.set.name).schema();
  const uint64_t most = TrainOptions().node_vectors;
  for (const NodeTypeSpec& type : schema.node_types()) {
    if (type.features || type.nodes <= most) continue;
    tell(fmt::format(
        "hgt: warning: the set '{0}' has no features for the {1} nodes of type {2}, which will all "
        "share one input vector in training (more than --node-vectors {3}); make some with --base "
        "{0} --type {2} --mean-of TYPE or --metapath2vec\n",
        flags.set.name, with_commas(type.nodes), type.name, with_commas(most)));
  }
}

void run_remove(const FeatureFlags& flags) {
  for (const std::string& key : flags.options.given()) {
    throw CLI::ValidationError("--" + key, "has no effect with --remove");
  }
  const FeatureLock lock(flags.graph);
  remove_feature_set(lock, flags.remove);
  std::vector<std::string> left;
  for (const FeatureSet& set : all_feature_sets(read_schema(flags.graph))) left.push_back(set.name);
  fmt::print("{}: removed the feature set '{}'; what is left: {}\n", flags.graph, flags.remove,
             fmt::join(left, ", "));
}

void run_features(FeatureFlags& flags) {
  if (!flags.remove.empty()) {
    run_remove(flags);
    return;
  }
  keep_tensor_memory();
  set_compute_threads(0);  // XLNet's and BERT's
  const std::vector<FeatureStep> steps = steps_of(flags);
  const FeatureSetPlan plan = plan_feature_set(flags.graph, steps, flags.set);
  if (flags.dry_run || !flags.quiet) print_plan(flags, plan);
  if (flags.dry_run) return;
  const FeatureLock lock(flags.graph);
  ProgressBar bar(flags.quiet);
  try {
    print_made(make_feature_set(lock, steps, flags.set, bar.sink()));
  } catch (const Interrupted&) {
    throw Interrupted("stopped and saved; run the same command again to continue");
  }
  warn_of_outdated_means(flags);
  warn_of_types_without(flags);
}

}  // namespace

void add_features(CLI::App& verb) {
  auto flags = std::make_shared<FeatureFlags>(verb);
  verb.add_option("graph", flags->graph, "Folder of the graph")->required()->type_name("GRAPH");
  verb.add_option(
          "--recipe", flags->recipe,
          "File with one step per node type. Without it and without --type, nodes with titles get "
          "text features, their neighbors the mean of these, and all others metapath2vec")
      ->type_name("FILE");
  verb.get_option("--type")->excludes("--types");
  verb.add_option("--set", flags->set.name, "Name of the feature set that is made")
      ->capture_default_str()
      ->type_name("NAME");
  verb.add_option("--base", flags->set.base,
                  "Feature set that the new one starts from: node types that get no features now "
                  "have those of this set")
      ->capture_default_str()
      ->type_name("NAME");
  verb.add_flag("--replace", flags->set.replace,
                "Replace the feature set of this name; runs trained on it can no longer be used");
  verb.add_flag("--again", flags->set.again,
                "Compute also features that a set of the graph has already, made in the same way");
  CLI::Option* dry = verb.add_flag("--dry-run", flags->dry_run,
                                   "Show what would be made and about how long it takes");
  CLI::Option* remove =
      verb.add_option("--remove", flags->remove, "Remove this feature set instead of making one")
          ->type_name("NAME");
  for (const char* other : {"--recipe", "--set", "--base", "--replace", "--again"}) {
    remove->excludes(other);
  }
  remove->excludes(dry);
  verb.add_flag("--quiet", flags->quiet, "Show neither the plan nor progress");
  verb.callback([flags] { run_features(*flags); });
}

}  // namespace hgt::cli
