#include "hgt/graph/time_text.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>

#include "hgt/error.h"
#include "hgt/graph/civil_time.h"

namespace hgt {

namespace {

// Reads a date and time from left to right; each step says whether it found what it wanted.
class DateParser {
 public:
  explicit DateParser(std::string_view text) : text_(text) {}

  std::optional<CivilTime> parse() {
    CivilTime civil;
    const bool negative = text_.take('-');
    if (!text_.number(civil.year, 1, 9)) return std::nullopt;
    if (negative) civil.year = -civil.year;
    if (text_.take('-') && !month_and_day(civil)) return std::nullopt;
    if (text_.at_end()) return civil;
    if ((!text_.take('T') && !text_.take(' ')) || !time_of_day(civil)) return std::nullopt;
    return zone(civil) && text_.at_end() ? std::optional(civil) : std::nullopt;
  }

 private:
  bool month_and_day(CivilTime& civil) {
    if (!text_.number(civil.month, 1, 2) || civil.month < 1 || civil.month > 12) return false;
    if (!text_.take('-')) return text_.at_end();
    return text_.number(civil.day, 1, 2) && civil.day >= 1 && civil.day <= 31;
  }

  bool time_of_day(CivilTime& civil) {
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;
    if (!text_.number(hour, 1, 2) || !text_.take(':') || !text_.number(minute, 2, 2)) return false;
    if (text_.take(':') && !text_.number(second, 2, 2)) return false;
    int64_t fraction = 0;
    if (text_.take('.') && !text_.number(fraction, 1, 9)) return false;
    if (hour > 24 || minute > 59 || second > 60) return false;
    if (hour == 24 && (minute > 0 || second > 0)) return false;
    civil.second_of_day = hour * kHourSeconds + minute * kMinuteSeconds + second;
    return true;
  }

  bool zone(CivilTime& civil) {
    if (text_.at_end()) return true;
    int64_t ahead = 0;
    if (!text_.zone(ahead)) return false;
    civil.second_of_day -= ahead;
    return true;
  }

  TimeCursor text_;
};

template <typename Number>
std::optional<Number> whole_text(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

TimeFormat time_format(std::string_view name) {
  if (name == "date") return TimeFormat::date;
  if (name == "unix") return TimeFormat::unix_seconds;
  if (name == "unix_ms") return TimeFormat::unix_milliseconds;
  if (name == "number") return TimeFormat::number;
  throw Error(fmt::format(
      "unknown time format '{}'; the time formats are date, unix, unix_ms and number", name));
}

std::optional<Time> parse_time(std::string_view text, TimeFormat format, TimeUnit unit) {
  if (format == TimeFormat::date) {
    const auto civil = DateParser(text).parse();
    return civil ? from_civil(*civil, unit) : std::nullopt;
  }
  const int64_t per_second = format == TimeFormat::unix_milliseconds ? 1000 : 1;
  if (const auto whole = whole_text<int64_t>(text)) {
    if (format == TimeFormat::number) return in_time_range(*whole);
    return from_unix_seconds(floor_divide(*whole, per_second), unit);
  }
  if (format == TimeFormat::number) return std::nullopt;
  const auto real = whole_text<double>(text);
  if (!real || !(std::abs(*real) < 1e15)) return std::nullopt;
  return from_unix_seconds(floor_divide(static_cast<int64_t>(std::floor(*real)), per_second), unit);
}

bool is_plausible(Time time, TimeUnit unit) {
  constexpr int64_t kFurthestYear = 9999;
  int64_t year = time;
  if (unit == TimeUnit::month) year = floor_divide(time, 12);
  if (unit >= TimeUnit::day) {
    year = from_unix_seconds(time * unit_seconds(unit), TimeUnit::year).value_or(kFurthestYear + 1);
  }
  return year >= -kFurthestYear && year <= kFurthestYear;
}

std::string format_time(Time time, TimeUnit unit) {
  if (unit == TimeUnit::year) return std::to_string(time);
  if (unit == TimeUnit::month) {
    const int64_t year = floor_divide(time, 12);
    return fmt::format("{}-{:02}", year, time - year * 12 + 1);
  }
  const int64_t second = time * unit_seconds(unit);
  const int64_t day = floor_divide(second, kDaySeconds);
  if (day < -12'000'000 || day > 11'000'000) return fmt::format("{} {}", time, to_string(unit));
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days(day)}};
  const auto text =
      fmt::format("{}-{:02}-{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (unit == TimeUnit::day) return text;
  const int64_t rest = second - day * kDaySeconds;
  const auto clock = fmt::format("{} {:02}:{:02}", text, rest / kHourSeconds,
                                 rest % kHourSeconds / kMinuteSeconds);
  return unit == TimeUnit::second ? fmt::format("{}:{:02}", clock, rest % kMinuteSeconds) : clock;
}

}  // namespace hgt
