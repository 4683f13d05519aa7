// Which time belongs to which split. Training, validation and test follow one another, so that a
// model is judged on what came after everything it learned from.
//
//   const TimeSplit split = default_time_split(schema.time_unit);
//   split.split_of(2015);           // Split::validation
//   split.last_time(Split::train);  // 2014: SamplingOptions::split_end while the model is trained
#pragma once

#include <optional>
#include <string_view>

#include "hgt/graph/graph_builder.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

struct TimeSplit {
  Time train_end = kNoTime;       // the last time of training
  Time validation_end = kNoTime;  // the last time of validation; everything later is for testing

  // Split::none: kNoTime.
  Split split_of(Time time) const;
  // Nothing later may be seen while the split is read. The largest Time, and so no bound, for test
  // and none.
  Time last_time(Split split) const;

  friend bool operator==(const TimeSplit&, const TimeSplit&) = default;
};

// The paper's: train before 2015, validation 2015 and 2016, test after 2016.
TimeSplit default_time_split(TimeUnit unit);

// Throws Error unless training ends before validation does.
void check_time_split(const TimeSplit& split, TimeUnit unit);

// The end of the period that a date names: "2014" in the unit day is 2014-12-31. (parse_time gives
// its beginning.) No value: not a date, or beyond the range of Time.
std::optional<Time> parse_end(std::string_view text, TimeUnit unit);

}  // namespace hgt
