// Where training and validation end, if nobody says: with the paper's dates, or, where these would
// leave a split without examples, at quantiles of the examples' times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hgt/sampling/time_split.h"
#include "hgt/task/task.h"

namespace hgt {

// The ends that are given, and for the others those with which training has about 70 % of the
// examples and validation half of the rest, but at least one time each. (Validation end alone
// given: 70 of the 85 % before it.) No value: no such ends leave something for each split.
std::optional<TimeSplit> fitting_split(std::vector<Time> times, std::optional<Time> train_end,
                                       std::optional<Time> validation_end);

// Is there an example for each split?
bool fits(const TimeSplit& split, const std::vector<Time>& times);

// For people: "by time: training until 2014, validation until 2016, then test", and why with these
// dates, if the task chose them. Requires a split by time.
std::string describe_split(const Task& task);

}  // namespace hgt
