// What the time bound that is in force for a task means, in words and for single seeds. Which one
// that is, Task::time_bound() says.
#pragma once

#include <string>

#include "hgt/task/task.h"

namespace hgt {

// Nothing lies between a seed of the task's questions and the end of the graph: no bound, or that
// of a seed without a time. False in a graph without times, where nothing is late.
bool is_unbounded(const Task& task, TimeBound settled, const Seed& seed);

// For people: "seed: a sub-graph contains nothing later than its own example", and for which nodes
// there is no bound. Requires a bound that is settled.
std::string describe_time_bound(const Task& task, TimeBound settled);

}  // namespace hgt
