#include "hgt/task/task_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace {

template <typename Value, size_t N>
using Words = std::array<std::pair<Value, std::string_view>, N>;

constexpr Words<TaskKind, 4> kKinds = {{{TaskKind::edge, "edge"},
                                        {TaskKind::label, "label"},
                                        {TaskKind::name, "name"},
                                        {TaskKind::link, "link"}}};
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

// --- names ---

bool is_declared(const RelationSpec& relation) { return !relation.reverse; }

// The edge types that lead from one type to the other, for people's ears: of a pair of directions
// the declared one.
std::vector<std::string> edges_between(const Schema& schema, NodeType node, NodeType other,
                                       std::string_view suffix) {
  std::vector<std::string> edges;
  for (const RelationSpec& relation : schema.relations()) {
    const bool joins = (relation.source == node && relation.target == other) ||
                       (relation.source == other && relation.target == node);
    if (!joins || !is_declared(relation) || !relation.edge.ends_with(suffix)) continue;
    edges.push_back(relation.edge);
  }
  return edges;
}

std::optional<NodeType> find_type(const Schema& schema, std::string_view name) {
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    if (schema.node_types()[i].name == name) return NodeType(i);
  }
  return std::nullopt;
}

// Calls use(node type, rest) for every type whose name, followed by the separator, begins the text.
template <typename Use>
void for_leading_types(const Schema& schema, const std::string& text, char separator, Use use) {
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    const std::string prefix = schema.node_types()[i].name + separator;
    if (text.starts_with(prefix)) use(NodeType(i), text.substr(prefix.size()));
  }
}

// NODE-OTHER or NODE-OTHER-SUFFIX.
std::optional<TaskSpec> edge_task(const Schema& schema, const std::string& name) {
  std::optional<TaskSpec> found;
  for_leading_types(schema, name, '-', [&](NodeType node, const std::string& rest) {
    for (size_t i = 0; i < schema.node_types().size(); ++i) {
      const std::string& other = schema.node_types()[i].name;
      if (!rest.starts_with(other)) continue;
      std::string suffix = rest.substr(other.size());
      if (!suffix.empty() && suffix.front() != '-') continue;
      if (!suffix.empty()) suffix.front() = '_';
      const auto edges = edges_between(schema, node, NodeType(i), suffix);
      if (edges.empty() || index(node) == i) continue;
      if (found && !suffix.empty()) continue;  // a type of that very name comes first
      found = TaskSpec{.name = name,
                       .kind = TaskKind::edge,
                       .node = schema.at(node).name,
                       .other = other,
                       .edges = edges};
    }
  });
  return found;
}

std::optional<TaskSpec> label_task(const Schema& schema, const std::string& name) {
  std::optional<TaskSpec> found;
  for_leading_types(schema, name, ':', [&](NodeType node, const std::string& label) {
    for (const LabelSpec& spec : schema.at(node).labels) {
      if (spec.name != label) continue;
      found = TaskSpec{
          .name = name, .kind = TaskKind::label, .node = schema.at(node).name, .label = label};
    }
  });
  return found;
}

// NODE-disambiguation: links of same-named nodes with the event type that they share most edge
// types with; for authors that is the paper.
std::optional<TaskSpec> name_task(const Schema& schema, const std::string& name) {
  constexpr std::string_view kEnding = "-disambiguation";
  if (!name.ends_with(kEnding)) return std::nullopt;
  const auto other = find_type(schema, name.substr(0, name.size() - kEnding.size()));
  if (!other || !schema.at(*other).names) return std::nullopt;
  std::optional<TaskSpec> found;
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    if (schema.node_types()[i].kind != NodeKind::event || i == index(*other)) continue;
    const auto edges = edges_between(schema, NodeType(i), *other, "");
    if (edges.empty() || (found && found->edges.size() >= edges.size())) continue;
    found = TaskSpec{.name = name,
                     .kind = TaskKind::name,
                     .node = schema.node_types()[i].name,
                     .other = schema.at(*other).name,
                     .edges = edges};
  }
  return found;
}

std::optional<TaskSpec> link_task(const Schema& schema, const std::string& name) {
  constexpr std::string_view kBeginning = "link:";
  if (!name.starts_with(kBeginning)) return std::nullopt;
  const std::string edge = name.substr(kBeginning.size());
  for (const RelationSpec& relation : schema.relations()) {
    if (relation.edge != edge) continue;
    return TaskSpec{.name = name,
                    .kind = TaskKind::link,
                    .node = schema.at(relation.source).name,
                    .other = schema.at(relation.target).name,
                    .edges = {edge}};
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(TaskKind kind) { return word_of(kKinds, kind); }
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
      "predict", spec.kind, names_of(kKinds),
      [&says_what](std::string_view name) {
        says_what = true;
        return value_of(kKinds, "task", name);
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
  throw Error(
      fmt::format("{}: lacks 'predict'; it is one of edge, label, name, link", file.string()));
}

std::string to_toml(const TaskSpec& spec) {
  TaskSpec copy = spec;
  bool unused = false;
  return file_table(copy, unused).to_toml();
}

SplitRule settled_split(const TaskSpec& spec, const Schema& schema) {
  if (spec.split != SplitRule::automatic) return spec.split;
  const auto type = find_type(schema, spec.node);
  if (spec.kind != TaskKind::label || !type) return SplitRule::time;
  for (const LabelSpec& label : schema.at(*type).labels) {
    if (label.name == spec.label && label.split) return SplitRule::given;
  }
  return SplitRule::time;
}

std::vector<std::string> task_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const NodeTypeSpec& type : schema.node_types()) {
    for (const LabelSpec& label : type.labels) names.push_back(type.name + ":" + label.name);
  }
  for (const NodeTypeSpec& type : schema.node_types()) {
    for (const NodeTypeSpec& other : schema.node_types()) {
      const std::string name = type.name + "-" + other.name;
      if (edge_task(schema, name)) names.push_back(name);
    }
    const std::string name = type.name + "-disambiguation";
    if (name_task(schema, name)) names.push_back(name);
  }
  for (const RelationSpec& relation : schema.relations()) {
    const std::string name = "link:" + relation.edge;
    const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
    if (is_declared(relation) && is_new) names.push_back(name);
  }
  return names;
}

TaskSpec find_task(const std::string& name_or_file, const Schema& schema) {
  if (name_or_file.ends_with(".toml")) return read_task(name_or_file);
  for (const auto& find : {edge_task, label_task, name_task, link_task}) {
    if (const auto found = find(schema, name_or_file)) return *found;
  }
  throw Error(fmt::format(
      "'{}' is no task of this graph; its tasks are {} (an edge type's ending may follow, as in "
      "paper-field-L1), or a file that ends in .toml",
      name_or_file, fmt::join(task_names(schema), ", ")));
}

}  // namespace hgt
