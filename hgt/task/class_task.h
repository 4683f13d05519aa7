// Tasks that give each node of a type one or several of a fixed number of classes: the nodes at the
// other end of an edge type, or the values of a label column.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hgt/task/task.h"

namespace hgt {

class ClassTask : public Task {
 public:
  uint64_t num_examples(Split split) const override { return nodes(split).size(); }
  Time example_time(Split split, uint32_t example) const override {
    return graph_.time(node_, nodes(split)[example]);
  }
  Question question(Split split, std::span<const uint32_t> examples,
                    uint64_t random_seed) const override;
  Question question_about(std::span<const Seed> seeds) const override;
  std::string describe_example(Split split, uint32_t example) const override;
  // With several classes to a node, F1 first; none where the loss only ranks: then nothing says how
  // many classes an example has.
  std::vector<std::string> metrics() const override;
  std::string answer_columns() const override;
  bool has_several_answers() const override { return several_; }
  std::span<const NodeId> nodes(Split split) const { return nodes_[static_cast<size_t>(split)]; }

 protected:
  using Task::Task;
  void collect_examples();  // once the classes are known
  void append_links(Split split, std::vector<HiddenEdge>& links) const override;
  virtual void append_classes(NodeId node, std::vector<uint32_t>& classes) const = 0;
  virtual Split given_split(NodeId /*node*/) const { return Split::none; }
  virtual Loss usual_loss() const { return Loss::softmax; }  // what Loss::automatic means
  virtual const std::string& class_type() const = 0;         // the title of a column of classes

 private:
  std::array<std::vector<NodeId>, 4> nodes_;  // by split
  bool several_ = false;
};

// The classes are all nodes of the other type that have a predicted edge.
class EdgeTask : public ClassTask {
 public:
  EdgeTask(const HeteroGraph& graph, const TaskSpec& spec);
  // NODE-OTHER or NODE-OTHER-SUFFIX.
  static std::optional<TaskSpec> find(const Schema& schema, const std::string& name);
  static void append_names(const Schema& schema, std::vector<std::string>& names);
  uint32_t num_classes() const override { return static_cast<uint32_t>(classes_.size()); }
  std::string class_id(uint32_t number) const override;
  std::string class_name(uint32_t number) const override;

 protected:
  void append_classes(NodeId node, std::vector<uint32_t>& classes) const override;
  const std::string& class_type() const override { return spec_.other; }

 private:
  std::vector<NodeId> classes_;     // nodes of the other type
  std::vector<uint32_t> class_of_;  // by node of the other type
};

class LabelTask : public ClassTask {
 public:
  LabelTask(const HeteroGraph& graph, const TaskSpec& spec);
  // NODE:LABEL.
  static std::optional<TaskSpec> find(const Schema& schema, const std::string& name);
  static void append_names(const Schema& schema, std::vector<std::string>& names);
  static bool has_given_split(const Schema& schema, const TaskSpec& spec);
  uint32_t num_classes() const override;
  std::string class_id(uint32_t number) const override;
  std::string class_name(uint32_t number) const override;

 protected:
  void append_classes(NodeId node, std::vector<uint32_t>& classes) const override;
  Split given_split(NodeId node) const override;
  Loss usual_loss() const override;
  const std::string& class_type() const override { return spec_.label; }

 private:
  const LabelSpec& column() const;
  uint32_t label_ = 0;
};

}  // namespace hgt
