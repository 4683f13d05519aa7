#include "hgt/task/task_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "hgt/task/class_task.h"
#include "hgt/task/link_task.h"
#include "hgt/task/name_task.h"

namespace hgt {

namespace {

template <typename OwnTask>
std::unique_ptr<const Task> open_as(const HeteroGraph& graph, const TaskSpec& spec) {
  return std::make_unique<OwnTask>(graph, spec);
}

constexpr std::array<std::string_view, 2> kOptionsOfNames = {"min-links", "max-candidates"};
constexpr std::array<std::string_view, 2> kOptionsOfLinks = {"negatives", "test-negatives"};

constexpr auto kTaskRows =
    std::to_array<TaskRow>({{.kind = TaskKind::edge,
                             .names = "paper-venue, paper-field-L1",
                             .answers = Answers::classes,
                             .find = EdgeTask::find,
                             .append_names = EdgeTask::append_names,
                             .open = open_as<EdgeTask>},
                            {.kind = TaskKind::label,
                             .names = "paper:LABEL",
                             .answers = Answers::classes,
                             .predicts_edges = false,
                             .find = LabelTask::find,
                             .append_names = LabelTask::append_names,
                             .open = open_as<LabelTask>,
                             .has_given_split = LabelTask::has_given_split},
                            {.kind = TaskKind::name,
                             .names = "author-disambiguation",
                             .answers = Answers::pairs,
                             .options = kOptionsOfNames,
                             .options_reason = "only names have candidates",
                             .find = NameTask::find,
                             .append_names = NameTask::append_names,
                             .open = open_as<NameTask>},
                            {.kind = TaskKind::link,
                             .names = "link:EDGE",
                             .answers = Answers::pairs,
                             .draws_negatives = true,
                             .hide_links = Hidden::split,
                             .options = kOptionsOfLinks,
                             .options_reason = "only link prediction draws nodes",
                             .find = LinkTask::find,
                             .append_names = LinkTask::append_names,
                             .open = open_as<LinkTask>}});

// So that a kind finds its own.
constexpr bool are_in_the_order_of_kinds() {
  for (size_t i = 0; i < kTaskRows.size(); ++i) {
    if (static_cast<size_t>(kTaskRows[i].kind) != i) return false;
  }
  return true;
}
static_assert(are_in_the_order_of_kinds());

}  // namespace

std::span<const TaskRow> task_rows() { return kTaskRows; }

const TaskRow& row_of(TaskKind kind) { return kTaskRows.at(static_cast<size_t>(kind)); }

std::string task_name_examples() {
  std::vector<std::string_view> names;
  for (const TaskRow& row : kTaskRows) names.push_back(row.names);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool has_given_split(const Schema& schema, const TaskSpec& spec) {
  const TaskRow& row = row_of(spec.kind);
  return row.has_given_split != nullptr && row.has_given_split(schema, spec);
}

}  // namespace hgt
