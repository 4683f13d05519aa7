#include "hgt/task/time_bound.h"

#include <fmt/format.h>

#include <algorithm>

#include "hgt/graph/time_text.h"
#include "hgt/task/task_kinds.h"

namespace hgt {

namespace {

bool has_split_by_time(const Task& task) { return task.spec().split == SplitRule::time; }

uint64_t count_undated(const HeteroGraph& graph, NodeType type) {
  const auto times = graph.times(type);
  if (times.empty()) return graph.num_nodes(type);
  return static_cast<uint64_t>(std::count(times.begin(), times.end(), kNoTime));
}

// With TimeBound::seed: for whom there is none. Empty: for nobody.
std::string unbounded_nodes(const Task& task) {
  const HeteroGraph& graph = task.graph();
  std::string text;
  const auto tell = [&](NodeType type) {
    const uint64_t undated = count_undated(graph, type);
    if (undated == 0) return;
    const uint64_t all = graph.num_nodes(type);
    const std::string& name = graph.schema().at(type).name;
    text +=
        undated == all
            ? fmt::format("; nodes of type {} have no time, so there is no bound for them", name)
            : fmt::format(
                  "; {} of {} nodes of type {} have no time, so there is no bound for "
                  "them",
                  undated, all, name);
  };
  // Candidates of a name are asked about at the time of the mention; ends of a link at the end of
  // the split, which is one in time or the end of the graph.
  const bool links = task.draws_negatives();
  if (links && has_split_by_time(task)) return text;
  tell(task.node_type());
  if (links && task.other_type() != task.node_type()) tell(task.other_type());
  return text;
}

}  // namespace

TimeBound settled_time_bound(TimeBound asked, const TaskSpec& spec, const Schema& schema) {
  if (!schema.time_range) return TimeBound::none;
  if (asked != TimeBound::automatic) return asked;
  // What happens to an event after its time may follow from its label, wherever the split ends.
  const bool labels_events = !row_of(spec.kind).predicts_edges &&
                             schema.at(schema.node_type(spec.node)).kind == NodeKind::event;
  const bool by_time = settled_split(spec, schema) == SplitRule::time;
  return by_time && !labels_events ? TimeBound::split : TimeBound::seed;
}

bool is_unbounded(const Task& task, TimeBound settled, const Seed& seed) {
  if (!task.graph().schema().time_range || settled == TimeBound::split) return false;
  if (settled == TimeBound::none) return true;
  if (task.graph().time(seed.type, seed.node) != kNoTime) return false;
  return seed.time == kNoTime || (task.draws_negatives() && !has_split_by_time(task));
}

std::string describe_time_bound(const Task& task, TimeBound settled) {
  const Schema& schema = task.graph().schema();
  if (!schema.time_range) return "none: the graph has no times, so there is nothing to bound";
  if (settled == TimeBound::none) {
    return "none: a sub-graph may contain what is later than its example";
  }
  if (settled == TimeBound::seed) {
    return "seed: a sub-graph contains nothing later than its own example" + unbounded_nodes(task);
  }
  const auto end = [&](Split split) {
    return format_time(task.time_split().last_time(split), schema.time_unit);
  };
  return fmt::format(
      "split: a sub-graph contains nothing later than {} in training and {} in validation; in "
      "testing there is no end",
      end(Split::train), end(Split::validation));
}

}  // namespace hgt
