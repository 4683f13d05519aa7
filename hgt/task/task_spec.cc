#include "hgt/task/task_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hgt/error.h"
#include "hgt/task/task_kinds.h"

namespace hgt {

namespace {

template <typename Value, size_t N>
using Words = std::array<std::pair<Value, std::string_view>, N>;

constexpr Words<SplitRule, 4> kSplitRules = {{{SplitRule::automatic, "automatic"},
                                              {SplitRule::time, "time"},
                                              {SplitRule::random, "random"},
                                              {SplitRule::given, "given"}}};
constexpr Words<Loss, 3> kLosses = {
    {{Loss::automatic, "automatic"}, {Loss::softmax, "softmax"}, {Loss::binary, "binary"}}};
constexpr Words<Hidden, 3> kHidden = {
    {{Hidden::automatic, "automatic"}, {Hidden::batch, "batch"}, {Hidden::split, "split"}}};

template <typename Value, size_t N>
std::string_view word_of(const Words<Value, N>& words, Value value) {
  return std::find_if(words.begin(), words.end(), [&](auto& word) { return word.first == value; })
      ->second;
}

template <typename Value, size_t N>
Value value_of(const Words<Value, N>& words, std::string_view what, std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& [value, word] : words) {
    if (word == name) return value;
    known.push_back(word);
  }
  throw Error(fmt::format("{} '{}' is unknown; known are {}", what, name, fmt::join(known, ", ")));
}

template <typename Value, size_t N>
std::vector<std::string> names_of(const Words<Value, N>& words) {
  std::vector<std::string> names;
  for (const auto& [value, word] : words) names.emplace_back(word);
  return names;
}

}  // namespace

std::string_view to_string(SplitRule rule) { return word_of(kSplitRules, rule); }
std::string_view to_string(Loss loss) { return word_of(kLosses, loss); }
std::string_view to_string(Hidden hidden) { return word_of(kHidden, hidden); }
SplitRule split_rule(std::string_view name) { return value_of(kSplitRules, "split", name); }
Loss loss(std::string_view name) { return value_of(kLosses, "loss", name); }
Hidden hidden(std::string_view name) { return value_of(kHidden, "hidden links", name); }

OptionTable task_table(TaskSpec& spec) {
  OptionTable table;
  table.add_word("split", spec.split, names_of(kSplitRules), split_rule,
                 "How examples are shared out; automatic: given by the label column, else by time");
  table.add("train-end", spec.train_end, "Last time of training; empty: 2014");
  table.add("validation-end", spec.validation_end,
            "Last time of validation, what is later is for testing; empty: 2016");
  table.add("validation-share", spec.validation_share,
            "random: of all examples; given: of the training examples");
  table.add("test-share", spec.test_share, "random: of all examples");
  table.add("split-seed", spec.split_seed, "Of random splits and drawn validation examples");
  table.add_word(
      "loss", spec.loss, names_of(kLosses), [](std::string_view name) { return loss(name); },
      "softmax: the classes compete; binary: yes or no for each; automatic: binary where a label "
      "column has several classes to a node");
  table.add("guard", spec.guard, "Hide what is predicted from the model; off: to see what leaks");
  table.add_word(
      "hide-links", spec.hidden, names_of(kHidden),
      [](std::string_view name) { return hidden(name); },
      "Predicted links hidden: those of the batch, or of the whole split");
  table.add("also-hide", spec.also_hide, "Further edge types hidden like the predicted ones");
  table.add("leave-out", spec.leave_out, "Edge types that the model never sees");
  table.add("meta-paths", spec.meta_paths,
            "han: such as paper-author-paper,paper-(cites)-paper; none: proposed from the schema");
  table.add("min-links", spec.min_links,
            "Same-named candidates with fewer training links are left out");
  table.add("negatives", spec.negatives, "Links: drawn for each training batch");
  table.add("test-negatives", spec.test_negatives, "Links: drawn for scoring");
  return table;
}

namespace {

// All keys of a task file. `says_what` becomes true when `predict` is set.
OptionTable file_table(TaskSpec& spec, bool& says_what) {
  OptionTable table = task_table(spec);
  table.add("name", spec.name, "");
  table.add_word(
      "predict", spec.kind, task_words(),
      [&says_what](std::string_view name) {
        says_what = true;
        return task_kind(name);
      },
      "");
  table.add("node", spec.node, "");
  table.add("other", spec.other, "");
  table.add("edges", spec.edges, "");
  table.add("label", spec.label, "");
  return table;
}

}  // namespace

TaskSpec read_task(const Path& file) {
  TaskSpec spec{.name = file.stem().string()};
  bool says_what = false;
  file_table(spec, says_what).read(file);
  if (says_what) return spec;
  throw Error(fmt::format("{}: lacks 'predict'; it is one of {}", file.string(),
                          fmt::join(task_words(), ", ")));
}

std::string to_toml(const TaskSpec& spec) {
  TaskSpec copy = spec;
  bool unused = false;
  return file_table(copy, unused).to_toml();
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
  throw Error(fmt::format(
      "'{}' is no task of this graph; its tasks are {} (an edge type's ending may follow, as in "
      "paper-field-L1), or a file that ends in .toml",
      name_or_file, fmt::join(task_names(schema), ", ")));
}

}  // namespace hgt
