// Times as people write them, to and from the integer of the schema's unit.
//
//   const auto time = parse_time("2014-06", TimeFormat::date, graph.schema().time_unit);
//   if (time) std::cout << format_time(*time, graph.schema().time_unit);
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

enum class TimeFormat {
  date,          // YYYY, YYYY-MM, YYYY-MM-DD, with or without a time of day and a zone
  unix_seconds,  // since 1970-01-01T00:00:00Z, whole or with a fraction ("unix" is a GNU macro)
  number,        // whole numbers in the schema's unit already
  unix_milliseconds,
};

TimeFormat time_format(std::string_view name);  // throws Error: unknown format

// The unit counts: year the year itself; month year * 12 + month - 1; day, hour, minute and second
// from 1970-01-01T00:00:00Z. Parts finer than the unit are cut off (floor), parts that the text
// does not give are the first (January, day 1, midnight). No value: not a time, or beyond the range
// of Time (for the unit second that is 1901 to 2038: take minute or day).
std::optional<Time> parse_time(std::string_view text, TimeFormat format, TimeUnit unit);

// Whether a date that was read may be meant: the years -9999 to 9999. 20190102 is not a year.
bool is_plausible(Time time, TimeUnit unit);

// As a date of the unit's precision: "2019", "2019-03", "2019-03-02", "2019-03-02 14:05:09".
std::string format_time(Time time, TimeUnit unit);

}  // namespace hgt
