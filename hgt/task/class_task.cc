#include "hgt/task/class_task.h"

#include <fmt/format.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/task/table_cell.h"

namespace hgt {

void ClassTask::collect_examples() {
  std::vector<uint32_t> classes;
  std::vector<Time> times;
  const auto count = static_cast<NodeId>(graph_.num_nodes(node_));
  for (NodeId node = 0; node < count; ++node) {
    classes.clear();
    append_classes(node, classes);
    if (classes.empty()) continue;
    const Time time = graph_.time(node_, node);
    const Split split = split_of(time, node, given_split(node));
    times.push_back(time);
    if (split == Split::none) continue;
    nodes_[static_cast<size_t>(split)].push_back(node);
    several_ = several_ || classes.size() > 1;
  }
  if (times.empty()) {
    throw Error(fmt::format("task {}: no node of type {} has an answer to learn from", spec_.name,
                            spec_.node));
  }
  check_examples(times);
  if (spec_.loss == Loss::automatic) {
    spec_.loss = spec_.kind == TaskKind::label && several_ ? Loss::binary : Loss::softmax;
  }
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

LabelTask::LabelTask(const HeteroGraph& graph, const TaskSpec& spec)
    : ClassTask(graph, spec), label_(graph.find_label(node_, spec.label).value()) {
  const auto count = static_cast<NodeId>(graph.num_nodes(node_));
  for (NodeId node = 0; column().split && node < count && !given_validation_; ++node) {
    given_validation_ = given_split(node) == Split::validation;
  }
  collect_examples();
}

const LabelSpec& LabelTask::column() const { return graph_.schema().at(node_).labels[label_]; }

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
