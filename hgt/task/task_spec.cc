#include "hgt/task/task_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "hgt/error.h"
#include "hgt/options/settings_file.h"

namespace hgt {

namespace {

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

OptionTable task_table(TaskSpec& spec) {
  OptionTable table;
  table.begin_group("task");
  table.add("split", spec.split,
            "How examples are divided into training, validation and test: automatic = as the label "
            "column says, otherwise by time");
  table.add("train-end", spec.train_end,
            "Last time that belongs to training, such as 2014-06 (empty = 2014)");
  table.add("validation-end", spec.validation_end,
            "Last time that belongs to validation; later examples are for testing (empty = 2016)");
  table.add("validation-share", spec.validation_share,
            "Share of examples for validation: of all examples with --split random, of the "
            "training examples with --split given");
  table.add("test-share", spec.test_share,
            "Share of all examples for testing (only with --split random)");
  table.add("split-seed", spec.split_seed, "Seed of random splits and drawn validation examples");
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
  table.add("min-links", spec.min_links,
            "Leave out candidates of the same name with fewer training links than this");
  table.add("negatives", spec.negatives,
            "Nodes drawn for each training example of a link prediction task");
  table.add("test-negatives", spec.test_negatives,
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
  throw Error(fmt::format("{}: lacks '{}'; it is one of {}", file.string(), kPredict,
                          fmt::join(all_words<TaskKind>(), ", ")));
}

std::string to_toml(const TaskSpec& spec) {
  TaskSpec copy = spec;
  return file_table(copy).to_toml();
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
