#include "hgt/graph/time_text.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "hgt/error.h"
#include "hgt/random.h"

namespace hgt {
namespace {

using enum TimeUnit;

constexpr std::array<TimeUnit, 6> kUnits = {year, month, day, hour, minute, second};
constexpr Time kMaxTime = std::numeric_limits<Time>::max();

std::optional<Time> date(std::string_view text, TimeUnit unit) {
  return parse_time(text, TimeFormat::date, unit);
}
std::optional<Time> unix_time(std::string_view text, TimeUnit unit) {
  return parse_time(text, TimeFormat::unix_seconds, unit);
}

// Days since 1970 of a Gregorian date, counted year by year and month by month.
int64_t days_since_1970(int to_year, int to_month, int to_day) {
  const auto leap = [](int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; };
  constexpr std::array<int, 12> kLengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t days = 0;
  for (int y = 1970; y < to_year; ++y) days += leap(y) ? 366 : 365;
  for (int y = to_year; y < 1970; ++y) days -= leap(y) ? 366 : 365;
  for (int m = 1; m < to_month; ++m) {
    days += kLengths.at(static_cast<size_t>(m - 1)) + (m == 2 && leap(to_year) ? 1 : 0);
  }
  return days + to_day - 1;
}

TEST(TimeFormat, HasFourNames) {
  EXPECT_EQ(time_format("date"), TimeFormat::date);
  EXPECT_EQ(time_format("unix"), TimeFormat::unix_seconds);
  EXPECT_EQ(time_format("number"), TimeFormat::number);
  EXPECT_EQ(time_format("unix_ms"), TimeFormat::unix_milliseconds);
  EXPECT_THROW(time_format("Date"), Error);
  EXPECT_THROW(time_format(""), Error);
}

TEST(ParseTime, CountsADateInEveryUnit) {
  const std::string text = "2019-03-02 14:05:09";
  const int64_t days = days_since_1970(2019, 3, 2);
  EXPECT_EQ(date(text, year), 2019);
  EXPECT_EQ(date(text, month), 2019 * 12 + 2);
  EXPECT_EQ(date(text, day), days);
  EXPECT_EQ(date(text, hour), days * 24 + 14);
  EXPECT_EQ(date(text, minute), (days * 24 + 14) * 60 + 5);
  EXPECT_EQ(date(text, second), ((days * 24 + 14) * 60 + 5) * 60 + 9);
}

TEST(ParseTime, TakesMissingPartsAsTheFirst) {
  for (const TimeUnit unit : kUnits) {
    const auto expected = date("2019-01-01 00:00:00", unit);
    ASSERT_TRUE(expected);
    for (const char* text : {"2019", "2019-01", "2019-1", "2019-01-01", "2019-1-1",
                             "2019-01-01T00:00", "2019-01-01 0:00", "2019-01-01T00:00Z"}) {
      EXPECT_EQ(date(text, unit), expected) << text << " " << to_string(unit);
    }
  }
}

TEST(ParseTime, KnowsEveryDayOfTheCalendar) {
  constexpr std::array<unsigned, 12> kLengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (const int y : {1900, 1970, 1999, 2000, 2004, 2023, 2100, 2400, 1600, 4}) {
    for (unsigned m = 1; m <= 12; ++m) {
      const bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
      const unsigned length = kLengths.at(m - 1) + (m == 2 && leap ? 1 : 0);
      for (unsigned d = 1; d <= 31; ++d) {
        const std::string text =
            std::to_string(y) + "-" + std::to_string(m) + "-" + std::to_string(d);
        const auto expected =
            d <= length
                ? std::optional<Time>(days_since_1970(y, static_cast<int>(m), static_cast<int>(d)))
                : std::nullopt;
        ASSERT_EQ(date(text, day), expected) << text;
      }
    }
  }
}

TEST(ParseTime, RefusesADayThatIsNotInTheCalendarInEveryUnit) {
  for (const TimeUnit unit : kUnits) {
    EXPECT_EQ(date("2019-02-29", unit), std::nullopt) << to_string(unit);
    EXPECT_EQ(date("2019-04-31", unit), std::nullopt) << to_string(unit);
    EXPECT_EQ(date("2019-02-30 12:00", unit), std::nullopt) << to_string(unit);
  }
}

TEST(ParseTime, TakesYearsBeforeTheFirst) {
  EXPECT_EQ(date("0", year), 0);
  EXPECT_EQ(date("-44", year), -44);
  EXPECT_EQ(date("-44-03-15", year), -44);
  EXPECT_EQ(date("-44-03-15", month), -44 * 12 + 2);
  EXPECT_EQ(date("-44-03-15", day), days_since_1970(-44, 3, 15));
  EXPECT_EQ(date("-1-12-31 23:00", hour), days_since_1970(0, 1, 1) * 24 - 1);
}

TEST(ParseTime, CutsFinerPartsDownwardsAlsoBefore1970) {
  EXPECT_EQ(date("1969-12-31 23:59:59", second), -1);
  EXPECT_EQ(date("1969-12-31 23:59:59", minute), -1);
  EXPECT_EQ(date("1969-12-31 23:59:59", hour), -1);
  EXPECT_EQ(date("1969-12-31 23:59:59", day), -1);
  EXPECT_EQ(date("1969-12-31 23:59:59", month), 1969 * 12 + 11);
  EXPECT_EQ(date("1969-12-31 23:59:59", year), 1969);
  EXPECT_EQ(unix_time("-1", day), -1);
  EXPECT_EQ(unix_time("-86400", day), -1);
  EXPECT_EQ(unix_time("-86401", day), -2);
}

TEST(ParseTime, MovesZonesToUniversalTime) {
  EXPECT_EQ(date("1970-01-01T05:30+05:30", second), 0);
  EXPECT_EQ(date("1970-01-01T05:30+0530", second), 0);
  EXPECT_EQ(date("1970-01-01 05:00:07+05", second), 7);
  EXPECT_EQ(date("1969-12-31T16:00:00-08:00", second), 0);
  EXPECT_EQ(date("1970-01-01T00:00:00Z", second), 0);
  EXPECT_EQ(date("2020-01-01T00:00+01:00", year), 2019);
  EXPECT_EQ(date("2019-12-31T23:30-01:00", year), 2020);
  EXPECT_EQ(date("2020-01-01T00:00+01:00", month), 2019 * 12 + 11);
  EXPECT_EQ(date("2020-01-01T01:00+01:00", year), 2020);
}

TEST(ParseTime, CutsFractionsOfASecond) {
  EXPECT_EQ(date("1970-01-01T00:00:01.999", second), 1);
  EXPECT_EQ(date("1970-01-01 00:00:01.5Z", second), 1);
  EXPECT_EQ(date("1970-01-01T00:00:01.000000001+00:00", second), 1);
  EXPECT_EQ(unix_time("1.999", second), 1);
  EXPECT_EQ(unix_time("-0.5", second), -1);
  EXPECT_EQ(unix_time("1.5e3", minute), 25);
}

TEST(ParseTime, TakesTheEndOfTheDayAndALeapSecond) {
  EXPECT_EQ(date("1970-01-01T24:00", hour), 24);
  EXPECT_EQ(date("2016-12-31T23:59:60Z", second), date("2017-01-01", second));
  EXPECT_EQ(date("2019-12-31T24:00", year), 2020);
}

TEST(ParseTime, CountsUnixSecondsInEveryUnit) {
  const std::string text = "1551535509";  // 2019-03-02 14:05:09
  for (const TimeUnit unit : kUnits) {
    EXPECT_EQ(unix_time(text, unit), date("2019-03-02 14:05:09", unit)) << to_string(unit);
  }
  EXPECT_EQ(unix_time("951782400", day), days_since_1970(2000, 2, 29));
}

TEST(ParseTime, CountsUnixMillisecondsInEveryUnit) {
  for (const TimeUnit unit : kUnits) {
    EXPECT_EQ(parse_time("1551535509999", TimeFormat::unix_milliseconds, unit),
              date("2019-03-02 14:05:09", unit))
        << to_string(unit);
    EXPECT_EQ(parse_time("-0.5", TimeFormat::unix_milliseconds, unit),
              date("1969-12-31 23:59:59", unit));
  }
}

TEST(ParseTime, TakesNumbersAsTheyAre) {
  for (const TimeUnit unit : kUnits) {
    EXPECT_EQ(parse_time("0", TimeFormat::number, unit), 0);
    EXPECT_EQ(parse_time("-17", TimeFormat::number, unit), -17);
    EXPECT_EQ(parse_time("2147483647", TimeFormat::number, unit), kMaxTime);
    EXPECT_EQ(parse_time("-2147483647", TimeFormat::number, unit), kNoTime + 1);
    for (const char* bad : {"-2147483648", "2147483648", "9223372036854775808", "", "1.5", "x",
                            "+1", " 1", "1 ", "1e3", "--1"}) {
      EXPECT_EQ(parse_time(bad, TimeFormat::number, unit), std::nullopt) << bad;
    }
  }
}

TEST(ParseTime, RefusesWhatIsNoDate) {
  for (const char* text : {"",
                           "-",
                           "--5",
                           "x",
                           "2019-",
                           "2019-00",
                           "2019-13",
                           "2019-001",
                           "2019-01-",
                           "2019-01-00",
                           "2019-01-32",
                           "2019-01-01-",
                           "2019/01/01",
                           "2019-01-01T",
                           "2019-01-01 ",
                           "2019-01-01T10",
                           "2019-01-01T10:",
                           "2019-01-01T10:1",
                           "2019-01-01T10:60",
                           "2019-01-01T25:00",
                           "2019-01-01T10:00:61",
                           "2019-01-01T10:00:",
                           "2019-01-01T10:00:00.",
                           "2019-01-01T10:00x",
                           "2019-01-01T10:00+",
                           "2019-01-01T10:00+5",
                           "2019-01-01T10:00+05:3",
                           "2019-01-01T10:00ZZ",
                           "2019-01-01x10:00",
                           " 2019",
                           "2019 ",
                           "+2019",
                           "1234567890",
                           "2019-01 10:00",
                           "20 19"}) {
    for (const TimeUnit unit : kUnits) EXPECT_EQ(date(text, unit), std::nullopt) << text;
  }
  EXPECT_EQ(date(std::string_view("2019\0", 5), year), std::nullopt);
}

TEST(ParseTime, RefusesAZoneThatNoClockHas) {
  for (const char* text : {"2019-01-01T10:00+05:", "2019-01-01T10:00+99:99",
                           "2019-01-01T10:00-05:60", "2019-01-01T10:00+24:00"}) {
    EXPECT_EQ(date(text, second), std::nullopt) << text;
  }
}

TEST(ParseTime, RefusesATimeAfterTheEndOfTheDay) {
  EXPECT_EQ(date("2019-01-01T24:00:01", second), std::nullopt);
  EXPECT_EQ(date("2019-01-01T24:59", second), std::nullopt);
}

TEST(ParseTime, RefusesWhatIsNoUnixTime) {
  for (const char* text : {"", "x", "1,5", "nan", "inf", "-inf", "1e15", "-1e300", "1 ", " 1",
                           "0x10", "1.2.3", "99999999999999999999999", "+1"}) {
    for (const TimeUnit unit : kUnits) EXPECT_EQ(unix_time(text, unit), std::nullopt) << text;
  }
}

TEST(ParseTime, GivesNothingBeyondTheRangeOfTime) {
  EXPECT_EQ(date("2038-01-19 03:14:07", second), kMaxTime);
  EXPECT_EQ(date("2038-01-19 03:14:08", second), std::nullopt);
  EXPECT_EQ(date("1901-12-13 20:45:53", second), kNoTime + 1);
  EXPECT_EQ(date("1901-12-13 20:45:52", second), std::nullopt);  // would be kNoTime
  EXPECT_EQ(unix_time("2147483648", second), std::nullopt);
  EXPECT_EQ(unix_time("2147483648", minute), 35791394);
  EXPECT_EQ(unix_time("9223372036854775807", minute), std::nullopt);
  EXPECT_EQ(unix_time("-9223372036854775808", year), std::nullopt);
  EXPECT_EQ(date("6053", minute), days_since_1970(6053, 1, 1) * 24 * 60);
  EXPECT_EQ(date("6054", minute), std::nullopt);
  EXPECT_EQ(date("999999999", year), 999'999'999);
  EXPECT_EQ(date("999999999", day), std::nullopt);
}

TEST(FormatTime, HasThePrecisionOfItsUnit) {
  EXPECT_EQ(format_time(2019, year), "2019");
  EXPECT_EQ(format_time(-44, year), "-44");
  EXPECT_EQ(format_time(2019 * 12 + 2, month), "2019-03");
  EXPECT_EQ(format_time(-1, month), "-1-12");
  EXPECT_EQ(format_time(0, day), "1970-01-01");
  EXPECT_EQ(format_time(-1, day), "1969-12-31");
  EXPECT_EQ(format_time(17957, day), "2019-03-02");
  EXPECT_EQ(format_time(17957 * 24 + 14, hour), "2019-03-02 14:00");
  EXPECT_EQ(format_time((17957 * 24 + 14) * 60 + 5, minute), "2019-03-02 14:05");
  EXPECT_EQ(format_time(1551535509, second), "2019-03-02 14:05:09");
  EXPECT_EQ(format_time(-1, second), "1969-12-31 23:59:59");
}

TEST(FormatTime, IsUndoneByParseTime) {
  Draws draws(91);
  for (const TimeUnit unit : kUnits) {
    // Years that std::chrono can hold: 30000 of them on either side of zero.
    const int64_t units = unit == year ? 30'000 : unit == month ? 360'000 : 10'900'000;
    const bool all = unit == hour || unit == minute || unit == second;
    const auto reach = static_cast<uint64_t>(all ? (unit == hour ? 24 * units : kMaxTime) : units);
    for (int i = 0; i < 20'000; ++i) {
      const auto time = static_cast<Time>(static_cast<int64_t>(draws.below(2 * reach + 1)) -
                                          static_cast<int64_t>(reach));
      const std::string text = format_time(time, unit);
      ASSERT_EQ(date(text, unit), time) << text << " " << to_string(unit);
    }
  }
}

TEST(FormatTime, SaysSomethingForEveryTime) {
  for (const TimeUnit unit : kUnits) {
    for (const Time time : {kNoTime, kNoTime + 1, -1, 0, 1, kMaxTime}) {
      EXPECT_NE(format_time(time, unit), "");
    }
  }
}

}  // namespace
}  // namespace hgt
