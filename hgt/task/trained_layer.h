// What training on a task leaves untrained.
#pragma once

#include <cstdint>

#include "hgt/task/task.h"

namespace hgt {

// The last of `layers` layers whose outputs of that type were ever of use while the task was
// trained. Those of the last layer of all are for the task's own types only; what these read in it
// comes from the layer before, and so on; links that the task predicts are hidden from the seeds.
// 0: the input alone.
uint32_t trained_layer(const Task& task, uint32_t layers, NodeType type);

}  // namespace hgt
