// The classes of a task's training examples as input features (label reuse; Wang and Leskovec,
// 2020): what neighbors are known to be often tells what a node is.
//
// Nobody reads its own: copy_visible_features() leaves out those of a sub-graph's seeds, in
// training as in scoring, so a model cannot learn to copy them. Labels for validation and test are
// not among them.
#pragma once

#include <cstdint>

#include "hgt/graph/hetero_graph.h"
#include "hgt/task/task.h"

namespace hgt {

constexpr uint32_t kMostKnownClasses = 1000;  // a column each, at every node of the type

// The task's graph with them. Throws Error: a task that compares pairs, or has too many classes.
HeteroGraph with_training_labels(const Task& task);

}  // namespace hgt
