#include "hgt/sampling/time_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"

namespace hgt {

namespace {

// What a date lacks to be that of the last second of its period: the first that makes a date of it.
std::vector<const char*> missing_parts(std::string_view date) {
  if (date.find(':') != std::string_view::npos) return {":59", ""};
  const auto dashes = std::count(date.begin() + 1, date.end(), '-');  // no minus of the year
  if (dashes == 0) return {"-12-31 23:59:59"};
  if (dashes > 1) return {" 23:59:59"};
  return {"-31 23:59:59", "-30 23:59:59", "-29 23:59:59", "-28 23:59:59"};
}

}  // namespace

Split TimeSplit::split_of(Time time) const {
  if (time == kNoTime) return Split::none;
  if (time <= train_end) return Split::train;
  return time <= validation_end ? Split::validation : Split::test;
}

Time TimeSplit::last_time(Split split) const {
  if (split == Split::train) return train_end;
  if (split == Split::validation) return validation_end;
  return std::numeric_limits<Time>::max();
}

TimeSplit default_time_split(TimeUnit unit) {
  return {.train_end = parse_end("2014", unit).value(),
          .validation_end = parse_end("2016", unit).value()};
}

void check_time_split(const TimeSplit& split, TimeUnit unit) {
  if (split.train_end < split.validation_end) return;
  throw Error(fmt::format(
      "training ends with {} and validation with {}; validation must end later than training",
      format_time(split.train_end, unit), format_time(split.validation_end, unit)));
}

std::optional<Time> parse_end(std::string_view text, TimeUnit unit) {
  const auto beginning = parse_time(text, TimeFormat::date, unit);
  if (!beginning || unit == TimeUnit::year) return beginning;
  for (const char* rest : missing_parts(text)) {
    if (const auto end = parse_time(std::string(text) + rest, TimeFormat::date, unit)) return end;
  }
  return std::nullopt;
}

}  // namespace hgt
