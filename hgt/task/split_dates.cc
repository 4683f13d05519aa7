#include "hgt/task/split_dates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "hgt/graph/time_text.h"

namespace hgt {

namespace {

constexpr double kTrainingShare = 0.7;
constexpr double kValidationShare = 0.15;

// The time up to which about this share of `times` lies, with at least `after` different times
// behind it. `times` ascend. No value: there are too few.
std::optional<Time> cut(std::span<const Time> times, double share, size_t after) {
  std::vector<Time> different(times.begin(), times.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (different.size() <= after) return std::nullopt;
  const Time latest = different[different.size() - 1 - after];
  return std::min(latest,
                  times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))]);
}

}  // namespace

std::optional<TimeSplit> fitting_split(std::vector<Time> times, std::optional<Time> train_end,
                                       std::optional<Time> validation_end) {
  std::sort(times.begin(), times.end());
  const std::span<const Time> all = times;
  const auto number_until = [&](Time end) {
    return static_cast<size_t>(std::upper_bound(all.begin(), all.end(), end) - all.begin());
  };
  if (!train_end && validation_end) {
    train_end = cut(all.first(number_until(*validation_end)),
                    kTrainingShare / (kTrainingShare + kValidationShare), 1);
  } else if (!train_end) {
    train_end = cut(all, kTrainingShare, 2);
  }
  if (!train_end) return std::nullopt;
  if (!validation_end) {
    const double share = kValidationShare / (1 - kTrainingShare);
    validation_end = cut(all.subspan(number_until(*train_end)), share, 1);
  }
  if (!validation_end) return std::nullopt;
  const TimeSplit split{.train_end = *train_end, .validation_end = *validation_end};
  return fits(split, times) ? std::optional(split) : std::nullopt;
}

bool fits(const TimeSplit& split, const std::vector<Time>& times) {
  return std::all_of(kSplits.begin(), kSplits.end(), [&](Split wanted) {
    return std::any_of(times.begin(), times.end(),
                       [&](Time time) { return split.split_of(time) == wanted; });
  });
}

std::string describe_split(const Task& task) {
  const TimeUnit unit = task.graph().schema().time_unit;
  const TimeSplit& split = task.time_split();
  std::string description =
      fmt::format("by time: training until {}, validation until {}, then test",
                  format_time(split.train_end, unit), format_time(split.validation_end, unit));
  if (!task.chose_dates()) return description;
  const TimeSplit usual = default_time_split(unit);
  return description +
         fmt::format(
             " (quantiles of the examples' times: the usual {} and {} would leave a split without "
             "examples; --train-end and --validation-end set others)",
             format_time(usual.train_end, unit), format_time(usual.validation_end, unit));
}

}  // namespace hgt
