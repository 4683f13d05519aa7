// features: input vectors for the nodes of a graph.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
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
#include "hgt/graph/hetero_graph.h"
#include "hgt/model/machine.h"

namespace hgt::cli {

namespace {

struct FeatureFlags {
  explicit FeatureFlags(CLI::App& verb) : options(verb, step_table(step)) {}

  std::string graph;
  std::string recipe;
  bool again = false;
  bool quiet = false;
  FeatureStep step;
  OptionFlags options;
};

// What stands in a recipe cannot be said beside it, but for what may hold for all of its steps:
// that goes before the file, as with config files.
std::vector<FeatureStep> steps_of_recipe(FeatureFlags& flags) {
  std::vector<FeatureStep> steps = read_recipe(flags.recipe);
  for (FeatureStep& step : steps) {
    flags.step = step;
    flags.options.apply_only({"task", "until", "seed", "threads", "precision"},
                             "belongs to a step; write it into the recipe");
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
  return default_recipe(HeteroGraph::open(flags.graph), flags.step);
}

void print_made(const std::vector<MadeFeatures>& made) {
  if (made.empty()) return;
  TextTable table({"node type", ">width", "stored as", "from", ">nodes without", ""});
  for (const MadeFeatures& one : made) {
    table.add({one.type, std::to_string(one.spec.width), std::string(to_string(one.spec.type)),
               one.spec.origin, with_commas(one.spec.missing), one.already ? "as before" : ""});
  }
  fmt::print("{}", table.text());
}

// What the user did not ask for by name may come to nothing.
std::vector<MadeFeatures> make_some(const FeatureLock& lock, const FeatureStep& step,
                                    const FeatureFlags& flags, const ProgressSink& progress) {
  std::vector<MadeFeatures> made;
  try {
    made = make_features(lock, step, flags.again, progress);
  } catch (const NoFeatures& nothing) {
    if (!flags.recipe.empty() || !flags.step.types.empty()) throw;
    tell(fmt::format("hgt: left out: {}\n", nothing.what()));
  }
  for (const MadeFeatures& one : made) {
    if (!one.left_out.empty()) tell(fmt::format("hgt: left out: {}\n", one.left_out));
  }
  std::erase_if(made, [](const MadeFeatures& one) { return !one.left_out.empty(); });
  return made;
}

void warn_of_outdated_means(const Schema& schema) {
  for (const std::string& type : outdated_means(schema)) {
    const Path source = schema.at(schema.node_type(type)).features->mean_of;
    tell(fmt::format(
        "hgt: features of {0} are the mean of features of {1} that have been replaced; make "
        "them again with --type {0} --mean-of {1}\n",
        type, source.parent_path().string()));
  }
}

void run_features(FeatureFlags& flags) {
  keep_tensor_memory();
  set_compute_threads(0);  // XLNet's
  ProgressBar bar(flags.quiet);
  const std::vector<FeatureStep> steps = steps_of(flags);
  const FeatureLock lock(flags.graph);
  check_steps(steps, HeteroGraph::open(flags.graph));
  std::vector<MadeFeatures> made;
  try {
    for (const FeatureStep& step : steps) {
      const auto some = make_some(lock, step, flags, bar.sink());
      made.insert(made.end(), some.begin(), some.end());
    }
  } catch (const Interrupted&) {
    throw Interrupted("stopped and saved; run the same command again to continue");
  }
  print_made(made);
  warn_of_outdated_means(HeteroGraph::open(flags.graph).schema());
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
  verb.add_flag("--again", flags->again, "Compute features again even if they exist already");
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] { run_features(*flags); });
}

}  // namespace hgt::cli
