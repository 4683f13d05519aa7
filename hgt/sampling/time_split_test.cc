#include "hgt/sampling/time_split.h"

#include <gtest/gtest.h>

#include <limits>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"

namespace hgt {
namespace {

constexpr Time kNoBound = std::numeric_limits<Time>::max();

TEST(TimeSplit, ByDefaultIsThePapersInEveryUnit) {
  for (const TimeUnit unit : {TimeUnit::year, TimeUnit::month, TimeUnit::day, TimeUnit::hour,
                              TimeUnit::minute, TimeUnit::second}) {
    const TimeSplit split = default_time_split(unit);
    const auto of = [&](const char* text) {
      return split.split_of(parse_time(text, TimeFormat::date, unit).value());
    };
    EXPECT_EQ(of("1990"), Split::train) << to_string(unit);
    EXPECT_EQ(of("2014-12-31 23:59:59"), Split::train) << to_string(unit);
    EXPECT_EQ(of("2015"), Split::validation) << to_string(unit);
    EXPECT_EQ(of("2016-12-31 23:59:59"), Split::validation) << to_string(unit);
    EXPECT_EQ(of("2017"), Split::test) << to_string(unit);
  }
}

TEST(TimeSplit, IncludesTheEndsAndNamesThemAsBounds) {
  const TimeSplit split{.train_end = -5, .validation_end = 3};
  EXPECT_EQ(split.split_of(std::numeric_limits<Time>::min() + 1), Split::train);
  EXPECT_EQ(split.split_of(-5), Split::train);
  EXPECT_EQ(split.split_of(-4), Split::validation);
  EXPECT_EQ(split.split_of(3), Split::validation);
  EXPECT_EQ(split.split_of(4), Split::test);
  EXPECT_EQ(split.last_time(Split::train), -5);
  EXPECT_EQ(split.last_time(Split::validation), 3);
  EXPECT_EQ(split.last_time(Split::test), kNoBound);
}

TEST(TimeSplit, PutsWhatHasNoTimeInNoSplitAndBoundsItByNothing) {
  const TimeSplit split = default_time_split(TimeUnit::year);
  EXPECT_EQ(split.split_of(kNoTime), Split::none);
  EXPECT_EQ(split.last_time(Split::none), kNoBound);
}

TEST(TimeSplit, MustAscend) {
  check_time_split({.train_end = 2010, .validation_end = 2011}, TimeUnit::year);
  EXPECT_THROW(check_time_split({.train_end = 2010, .validation_end = 2010}, TimeUnit::year),
               Error);
  EXPECT_THROW(check_time_split({.train_end = 2010, .validation_end = 2009}, TimeUnit::year),
               Error);
}

TEST(ParseEnd, IsTheLastTimeOfThePeriodThatTheDateNames) {
  const auto end = [](const char* text, TimeUnit unit) {
    const auto time = parse_end(text, unit);
    return time ? format_time(*time, unit) : "none";
  };
  EXPECT_EQ(end("2014", TimeUnit::year), "2014");
  EXPECT_EQ(end("2014-03-02", TimeUnit::year), "2014");
  EXPECT_EQ(end("2014", TimeUnit::month), "2014-12");
  EXPECT_EQ(end("2014", TimeUnit::day), "2014-12-31");
  EXPECT_EQ(end("-20", TimeUnit::year), "-20");
  EXPECT_EQ(end("2015-02", TimeUnit::day), "2015-02-28");
  EXPECT_EQ(end("2016-02", TimeUnit::day), "2016-02-29");
  EXPECT_EQ(end("2016-4", TimeUnit::day), "2016-04-30");
  EXPECT_EQ(end("2016-05", TimeUnit::day), "2016-05-31");
  EXPECT_EQ(end("2016-05-07", TimeUnit::day), "2016-05-07");
  EXPECT_EQ(end("2016-05-07", TimeUnit::second), "2016-05-07 23:59:59");
  EXPECT_EQ(end("2016-05-07 10:20", TimeUnit::second), "2016-05-07 10:20:59");
  EXPECT_EQ(end("2016-05-07 10:20:30", TimeUnit::second), "2016-05-07 10:20:30");
  EXPECT_EQ(end("99999", TimeUnit::year), "99999");
  EXPECT_EQ(end("2037", TimeUnit::second), "2037-12-31 23:59:59");
  EXPECT_EQ(end("2038", TimeUnit::second), "none") << "Time ends in its January";
  for (const char* wrong : {"", "soon", "2014-13", "2014-02-30", "2014x", "2014-"}) {
    EXPECT_EQ(end(wrong, TimeUnit::day), "none") << wrong;
  }
}

}  // namespace
}  // namespace hgt
