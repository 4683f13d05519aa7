// The kinds of tasks, a row each: what the rest of the program asks before it treats one of them
// differently. A new kind is an enumerator (task_spec.h), a row in task_kinds.cc, and a file of its
// own with a class that derives from Task.
//
//   if (row_of(spec.kind).draws_negatives) ...
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/task/task.h"

namespace hgt {

struct TaskRow {
  TaskKind kind;
  std::string_view names;  // that name such a task, as examples for --help
  Answers answers;
  bool predicts_edges = true;    // of the type to another one; otherwise what a node has itself
  bool draws_negatives = false;  // any node of the other type may be the answer; some are drawn
  Hidden hide_links = Hidden::batch;  // what Hidden::automatic means
  // Options of task_table() that no other kind reads, and why they do not.
  std::span<const std::string_view> options = {};
  std::string_view options_reason = "";

  // The task with this name; no value: the name is not one of this kind.
  std::optional<TaskSpec> (*find)(const Schema& schema, const std::string& name);
  void (*append_names)(const Schema& schema, std::vector<std::string>& names);
  std::unique_ptr<const Task> (*open)(const HeteroGraph& graph, const TaskSpec& spec);
  // Does the graph say which nodes are for training and testing? nullptr: it never does.
  bool (*has_given_split)(const Schema& schema, const TaskSpec& spec) = nullptr;
};

std::span<const TaskRow> task_rows();  // in the order in which names are looked for
const TaskRow& row_of(TaskKind kind);
std::string task_name_examples();  // of all kinds, for --help

bool has_given_split(const Schema& schema, const TaskSpec& spec);

}  // namespace hgt
