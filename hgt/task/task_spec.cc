#include "hgt/task/task_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/options/settings_file.h"
#include "hgt/task/task_kinds.h"

namespace hgt {

OptionTable task_table(TaskSpec& spec) {
  OptionTable table;
  table.begin_group("task");
  table.add("split", spec.split,
            "How examples are divided into training, validation and test: automatic = as the label "
            "column says, otherwise by time");
  table.add("train-end", spec.train_end,
            "Last time that belongs to training, such as 2014-06 (empty = 2014, or a quantile of "
            "the examples' times where the usual dates leave a split without examples)");
  table.add("validation-end", spec.validation_end,
            "Last time that belongs to validation; later examples are for testing (empty = 2016, "
            "or a quantile likewise)");
  table.add("validation-share", spec.validation_share, kAnyShare,
            "Share of examples for validation: of all examples with --split random, of the "
            "training examples with --split given");
  table.add("test-share", spec.test_share, kAnyShare,
            "Share of all examples for testing (only with --split random)");
  table.add("validation-draw", spec.validation_draw, {0, 1e6},
            "Draw of the validation examples, out of all that are not for testing: 0, 1, ... have "
            "none in common, and the same test set (not with --split time)");
  table.add("split-seed", spec.split_seed, kAnySeed,
            "Seed of random splits, drawn validation examples and drawn candidates");
  table.add("loss", spec.loss,
            "softmax = classes compete, binary = yes or no for each class, automatic = binary for "
            "label columns with several classes per node, otherwise softmax");
  table.add("guard", spec.guard,
            "Hide what is to be predicted from the model; --no-guard shows what leakage does");
  table.add("hide-links", spec.hide_links,
            "Which predicted links are hidden: batch = those of the batch, split = also those of "
            "the whole split, automatic = split for link prediction, otherwise batch");
  table.add("also-hide", spec.also_hide,
            "Other edge types to hide in the same way as the predicted ones, separated by commas");
  table.add("leave-out", spec.leave_out,
            "Edge types that the model never sees, separated by commas");
  table.add("meta-paths", spec.meta_paths,
            "Meta paths of --model han, such as paper-author-paper,paper-(cites)-paper (empty = "
            "proposed from the schema)");
  table.add("min-links", spec.min_links, {0, 1e9},
            "Leave out candidates of the same name with fewer training links than this");
  table.add("max-candidates", spec.max_candidates, {0, 1e9},
            "Compare at most this many candidates of the same name, the right one and others drawn "
            "by --split-seed (0 = all)");
  table.add("negatives", spec.negatives, {0, 1e6},
            "Nodes drawn for each training example of a link prediction task");
  table.add("test-negatives", spec.test_negatives, {0, 1e7},
            "Nodes drawn for each scored example of a link prediction task");
  return table;
}

namespace {

constexpr const char* kPredict = "predict";

// All keys of a task file.
OptionTable file_table(TaskSpec& spec) {
  OptionTable table = task_table(spec);
  table.add("name", spec.name, "");
  table.add(kPredict, spec.kind, "");
  table.add("node", spec.node, "");
  table.add("other", spec.other, "");
  table.add("edges", spec.edges, "");
  table.add("label", spec.label, "");
  return table;
}

}  // namespace

TaskSpec read_task(const Path& file) {
  TaskSpec spec{.name = file.stem().string()};
  file_table(spec).read(file);
  const std::vector<Setting> settings = read_settings(file);
  const bool says_what = std::any_of(settings.begin(), settings.end(),
                                     [](const Setting& each) { return each.key == kPredict; });
  if (says_what) return spec;
  throw Error(fmt::format("{}: '{}' is missing; give one of {}", file.string(), kPredict,
                          fmt::join(all_words<TaskKind>(), ", ")));
}

std::string to_toml(const TaskSpec& spec) {
  TaskSpec copy = spec;
  return file_table(copy).to_toml();
}

SplitRule settled_split(const TaskSpec& spec, const Schema& schema) {
  if (spec.split != SplitRule::automatic) return spec.split;
  return has_given_split(schema, spec) ? SplitRule::given : SplitRule::time;
}

std::vector<std::string> task_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const TaskRow& row : task_rows()) row.append_names(schema, names);
  return names;
}

TaskSpec find_task(const std::string& name_or_file, const Schema& schema) {
  if (name_or_file.ends_with(".toml")) return read_task(name_or_file);
  for (const TaskRow& row : task_rows()) {
    if (auto found = row.find(schema, name_or_file)) return *found;
  }
  throw Error(
      fmt::format("there is no task named '{}' for this graph; its tasks are {} (the ending of an "
                  "edge type may follow, as in paper-field-L1), or give a file that ends in .toml",
                  name_or_file, fmt::join(task_names(schema), ", ")));
}

}  // namespace hgt
