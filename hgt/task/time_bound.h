// Which time bound is in force for a task, and what it means, in words and for single seeds.
#pragma once

#include <string>

#include "hgt/task/task.h"

namespace hgt {

// The bound that `asked` comes to: never automatic, and none in a graph without times. The end of a
// split that has none in time stays what it is; Task::time_bound() refuses it.
TimeBound settled_time_bound(TimeBound asked, const TaskSpec& spec, const Schema& schema);

// Nothing lies between a seed of the task's questions and the end of the graph: no bound, or that
// of a seed without a time. False in a graph without times, where nothing is late.
bool is_unbounded(const Task& task, TimeBound settled, const Seed& seed);

// For people: "seed: a sub-graph contains nothing later than its own example", and for which nodes
// there is no bound. Requires a bound that is settled.
std::string describe_time_bound(const Task& task, TimeBound settled);

}  // namespace hgt
