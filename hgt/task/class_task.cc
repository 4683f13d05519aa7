#include "hgt/task/class_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/sampling/page_requests.h"
#include "hgt/task/name_parts.h"
#include "hgt/task/table_cell.h"

namespace hgt {

void ClassTask::collect_examples() {
  struct Labeled {
    NodeId node;
    bool several;
  };
  std::vector<Labeled> all;
  std::vector<uint32_t> classes;
  std::vector<Time> times;
  const auto count = static_cast<NodeId>(graph_.num_nodes(node_));
  for (NodeId node = 0; node < count; ++node) {
    classes.clear();
    append_classes(node, classes);
    if (classes.empty()) continue;
    all.push_back({.node = node, .several = classes.size() > 1});
    times.push_back(graph_.time(node_, node));
  }
  if (all.empty()) {
    throw Error(fmt::format("task {}: no node of type {} has a class to learn from", spec_.name,
                            spec_.node));
  }
  settle_dates(times);
  for (size_t i = 0; i < all.size(); ++i) {
    const Split split = split_of(times[i], all[i].node, given_split(all[i].node));
    if (split == Split::none) continue;
    nodes_[static_cast<size_t>(split)].push_back(all[i].node);
    several_ = several_ || all[i].several;
  }
  check_examples(times);
  if (spec_.loss == Loss::automatic) spec_.loss = usual_loss();
}

std::vector<std::string> ClassTask::metrics() const {
  if (!several_) {
    return {"ndcg", "mrr", "accuracy", "micro_f1", "macro_f1", "hits@3", "hits@10", "ndcg_release"};
  }
  std::vector<std::string> names;
  if (spec_.loss == Loss::binary) names = {"micro_f1", "macro_f1"};
  for (const char* name : {"ndcg", "mrr", "hits@1", "hits@3", "hits@10", "ndcg_release"}) {
    names.emplace_back(name);
  }
  return names;
}

std::string ClassTask::answer_columns() const {
  return fmt::format("{}\trank\t{}\tname\tprobability", spec_.node, class_type());
}

Question ClassTask::question(Split split, std::span<const uint32_t> examples,
                             uint64_t /*random_seed*/) const {
  std::vector<Seed> seeds;
  seeds.reserve(examples.size());
  for (const uint32_t example : examples) {
    seeds.push_back({.type = node_, .node = nodes(split)[example]});
  }
  return question_about(seeds);
}

Question ClassTask::question_about(std::span<const Seed> seeds) const {
  Question question;
  question.request.seeds.assign(seeds.begin(), seeds.end());
  question.answer_offsets.push_back(0);
  ask_for_lists(graph_, seeds);
  for (const Seed& seed : seeds) {
    append_classes(seed.node, question.answers);
    question.answer_offsets.push_back(static_cast<uint32_t>(question.answers.size()));
  }
  return question;
}

std::string ClassTask::describe_example(Split split, uint32_t example) const {
  return table_cell(graph_.id(node_, nodes(split)[example]));
}

void ClassTask::append_links(Split split, std::vector<HiddenEdge>& links) const {
  for (const Relation relation : hidden_relations_) {
    for (const NodeId node : nodes(split)) {
      const auto others = graph_.incoming(relation, node).sources;
      for (const NodeId other : others) links.push_back({relation, other, node});
    }
  }
}

// --- the other end of an edge type ---

namespace {

// Of "field-L1" after the type "field": "_L1", how the names of its edge types end. Nothing: "". No
// value: the text does not begin with the type.
std::optional<std::string> edge_ending(const std::string& text, const std::string& type) {
  if (!text.starts_with(type)) return std::nullopt;
  std::string ending = text.substr(type.size());
  if (!ending.empty() && ending.front() != '-') return std::nullopt;
  if (!ending.empty()) ending.front() = '_';
  return ending;
}

}  // namespace

std::optional<TaskSpec> EdgeTask::find(const Schema& schema, const std::string& name) {
  std::optional<TaskSpec> found;
  for (const auto& [node, rest] : leading_types(schema, name, '-')) {
    for (size_t i = 0; i < schema.node_types().size(); ++i) {
      const std::string& other = schema.node_types()[i].name;
      const std::optional<std::string> ending = edge_ending(rest, other);
      if (!ending || index(node) == i) continue;
      const auto edges = edges_between(schema, node, NodeType(i), *ending);
      if (edges.empty()) continue;
      if (found && !ending->empty()) continue;  // a type of that very name comes first
      found = TaskSpec{.name = name,
                       .kind = TaskKind::edge,
                       .node = schema.at(node).name,
                       .other = other,
                       .edges = edges};
    }
  }
  return found;
}

void EdgeTask::append_names(const Schema& schema, std::vector<std::string>& names) {
  for (const NodeTypeSpec& type : schema.node_types()) {
    for (const NodeTypeSpec& other : schema.node_types()) {
      const std::string name = type.name + "-" + other.name;
      if (find(schema, name)) names.push_back(name);
    }
  }
}

EdgeTask::EdgeTask(const HeteroGraph& graph, const TaskSpec& spec) : ClassTask(graph, spec) {
  const auto count = static_cast<NodeId>(graph.num_nodes(other_));
  class_of_.resize(count);
  for (NodeId node = 0; node < count; ++node) {
    class_of_[node] = static_cast<uint32_t>(classes_.size());
    if (has_link(node)) classes_.push_back(node);
  }
  collect_examples();
}

void EdgeTask::append_classes(NodeId node, std::vector<uint32_t>& classes) const {
  const auto first = static_cast<ptrdiff_t>(classes.size());
  for (const Relation relation : predicted_) {
    for (const NodeId other : graph_.incoming(relation, node).sources) {
      classes.push_back(class_of_[other]);
    }
  }
  std::sort(classes.begin() + first, classes.end());
  classes.erase(std::unique(classes.begin() + first, classes.end()), classes.end());
}

std::string EdgeTask::class_id(uint32_t number) const {
  return graph_.id(other_, classes_[number]);
}

std::string EdgeTask::class_name(uint32_t number) const {
  return std::string(graph_.name(other_, classes_[number]));
}

// --- a label column ---

std::optional<TaskSpec> LabelTask::find(const Schema& schema, const std::string& name) {
  std::optional<TaskSpec> found;
  for (const auto& [node, label] : leading_types(schema, name, ':')) {
    for (const LabelSpec& spec : schema.at(node).labels) {
      if (spec.name != label) continue;
      found = TaskSpec{
          .name = name, .kind = TaskKind::label, .node = schema.at(node).name, .label = label};
    }
  }
  return found;
}

void LabelTask::append_names(const Schema& schema, std::vector<std::string>& names) {
  for (const NodeTypeSpec& type : schema.node_types()) {
    for (const LabelSpec& label : type.labels) names.push_back(type.name + ":" + label.name);
  }
}

bool LabelTask::has_given_split(const Schema& schema, const TaskSpec& spec) {
  const auto type = find_type(schema, spec.node);
  if (!type) return false;
  const auto& labels = schema.at(*type).labels;
  return std::any_of(labels.begin(), labels.end(), [&](const LabelSpec& label) {
    return label.name == spec.label && label.split;
  });
}

namespace {

uint32_t label_column(const HeteroGraph& graph, NodeType type, const TaskSpec& spec) {
  if (const auto found = graph.find_label(type, spec.label)) return *found;
  std::vector<std::string> known;
  for (const LabelSpec& column : graph.schema().at(type).labels) known.push_back(column.name);
  throw Error(fmt::format("nodes of type {} have no label '{}'; they have {}", spec.node,
                          spec.label,
                          known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

}  // namespace

LabelTask::LabelTask(const HeteroGraph& graph, const TaskSpec& spec)
    : ClassTask(graph, spec), label_(label_column(graph, node_, spec)) {
  const auto count = static_cast<NodeId>(graph.num_nodes(node_));
  for (NodeId node = 0; column().split && node < count && !given_validation_; ++node) {
    given_validation_ = given_split(node) == Split::validation;
  }
  collect_examples();
}

const LabelSpec& LabelTask::column() const { return graph_.schema().at(node_).labels[label_]; }

Loss LabelTask::usual_loss() const { return has_several_answers() ? Loss::binary : Loss::softmax; }

uint32_t LabelTask::num_classes() const { return static_cast<uint32_t>(column().classes.size()); }

std::string LabelTask::class_id(uint32_t number) const { return column().classes[number]; }

std::string LabelTask::class_name(uint32_t number) const {
  return column().class_names.empty() ? "" : column().class_names[number];
}

void LabelTask::append_classes(NodeId node, std::vector<uint32_t>& classes) const {
  const auto found = graph_.label_classes(node_, label_, node);
  classes.insert(classes.end(), found.begin(), found.end());
}

Split LabelTask::given_split(NodeId node) const {
  return column().split ? graph_.split(node_, label_, node) : Split::none;
}

}  // namespace hgt
