#include "hgt/task/task_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "hgt/error.h"
#include "hgt/task/settings_file.h"

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

// --- files ---

template <typename Number>
Number number_of(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  throw Error(fmt::format("'{}' is no number that fits", text));
}

bool flag_of(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw Error(fmt::format("'{}' must be true or false", text));
}

using Values = std::vector<std::string>;
using Read = std::function<void(const Values&)>;

// How each key of a task file is read.
std::map<std::string, Read> readers(TaskSpec& spec) {
  const auto one = [](const Values& values) -> const std::string& {
    if (values.size() == 1) return values.front();
    throw Error("a single value is expected");
  };
  const auto text = [one](std::string& to) {
    return [one, &to](const Values& values) { to = one(values); };
  };
  const auto number = [one](auto& to) {
    return [one, &to](const Values& values) {
      to = number_of<std::remove_reference_t<decltype(to)>>(one(values));
    };
  };
  const auto texts = [](std::vector<std::string>& to) {
    return [&to](const Values& values) { to = values; };
  };
  return {
      {"name", text(spec.name)},
      {"predict",
       [&spec, one](const Values& values) { spec.kind = value_of(kKinds, "task", one(values)); }},
      {"node", text(spec.node)},
      {"other", text(spec.other)},
      {"edges", texts(spec.edges)},
      {"label", text(spec.label)},
      {"loss", [&spec, one](const Values& values) { spec.loss = loss(one(values)); }},
      {"split", [&spec, one](const Values& values) { spec.split = split_rule(one(values)); }},
      {"train-end", text(spec.train_end)},
      {"validation-end", text(spec.validation_end)},
      {"validation-share", number(spec.validation_share)},
      {"test-share", number(spec.test_share)},
      {"split-seed", number(spec.split_seed)},
      {"guard", [&spec, one](const Values& values) { spec.guard = flag_of(one(values)); }},
      {"hidden", [&spec, one](const Values& values) { spec.hidden = hidden(one(values)); }},
      {"also-hide", texts(spec.also_hide)},
      {"min-links", number(spec.min_links)},
      {"negatives", number(spec.negatives)},
      {"test-negatives", number(spec.test_negatives)},
  };
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

TaskSpec read_task(const Path& file) {
  TaskSpec spec{.name = file.stem().string()};
  const auto known = readers(spec);
  bool says_what = false;
  for (const Setting& setting : read_settings(file)) {
    const auto complain = [&](const std::string& what) {
      throw Error(fmt::format("{}:{}: {}", file.string(), setting.line, what));
    };
    const auto found = known.find(setting.key);
    if (found == known.end()) {
      std::vector<std::string> keys;
      for (const auto& [key, read] : known) keys.push_back(key);
      complain(fmt::format("unknown key '{}'; known are {}", setting.key, fmt::join(keys, ", ")));
    }
    try {
      found->second(setting.values);
    } catch (const Error& error) {
      complain(fmt::format("'{}': {}", setting.key, error.what()));
    }
    says_what = says_what || setting.key == "predict";
  }
  if (!says_what) {
    throw Error(
        fmt::format("{}: lacks 'predict'; it is one of edge, label, name, link", file.string()));
  }
  return spec;
}

std::string to_toml(const TaskSpec& spec) {
  std::string text = setting_line("name", spec.name);
  text += setting_line("predict", std::string(to_string(spec.kind)));
  text += setting_line("node", spec.node);
  if (spec.kind == TaskKind::label) {
    text += setting_line("label", spec.label);
  } else {
    text += setting_line("other", spec.other);
    text += setting_line("edges", spec.edges);
  }
  text += setting_line("loss", std::string(to_string(spec.loss)));
  text += setting_line("split", std::string(to_string(spec.split)));
  if (!spec.train_end.empty()) text += setting_line("train-end", spec.train_end);
  if (!spec.validation_end.empty()) text += setting_line("validation-end", spec.validation_end);
  text += setting_line("validation-share", spec.validation_share);
  text += setting_line("test-share", spec.test_share);
  text += setting_line("split-seed", spec.split_seed);
  text += setting_line("guard", spec.guard);
  text += setting_line("hidden", std::string(to_string(spec.hidden)));
  text += setting_line("also-hide", spec.also_hide);
  text += setting_line("min-links", uint64_t{spec.min_links});
  text += setting_line("negatives", uint64_t{spec.negatives});
  text += setting_line("test-negatives", uint64_t{spec.test_negatives});
  return text;
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
