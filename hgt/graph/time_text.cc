#include "hgt/graph/time_text.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include "hgt/error.h"

namespace hgt {

namespace {

using std::chrono::days;
using std::chrono::seconds;
using std::chrono::sys_days;

constexpr int64_t kMinute = 60;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;

struct CivilTime {
  int64_t year = 0;
  unsigned month = 1;
  unsigned day = 1;
  int64_t second_of_day = 0;  // may leave the day when a zone moved it
};

std::optional<Time> in_range(int64_t value) {
  if (value <= kNoTime || value > std::numeric_limits<Time>::max()) return std::nullopt;
  return static_cast<Time>(value);
}

int64_t floor_divide(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

// Seconds since 1970 in one of the units that divide a day or are one.
int64_t unit_seconds(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::day:
      return kDay;
    case TimeUnit::hour:
      return kHour;
    case TimeUnit::minute:
      return kMinute;
    default:
      return 1;
  }
}

std::chrono::year_month_day to_date(int64_t day) {
  return std::chrono::year_month_day(sys_days(days(day)));
}

std::optional<Time> from_unix(int64_t second, TimeUnit unit) {
  if (unit != TimeUnit::year && unit != TimeUnit::month) {
    return in_range(floor_divide(second, unit_seconds(unit)));
  }
  const int64_t day = floor_divide(second, kDay);
  if (day < -12'000'000 || day > 11'000'000) return std::nullopt;  // what std::chrono::year holds
  const auto date = to_date(day);
  const auto year = static_cast<int>(date.year());
  if (unit == TimeUnit::year) return in_range(year);
  return in_range(int64_t{year} * 12 + static_cast<unsigned>(date.month()) - 1);
}

std::optional<Time> from_civil(const CivilTime& civil, TimeUnit unit) {
  const bool year_only = civil.month == 1 && civil.day == 1 && civil.second_of_day == 0;
  if (unit == TimeUnit::year && year_only) return in_range(civil.year);
  if (civil.year < -32767 || civil.year > 32767) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(civil.year)),
                                         std::chrono::month(civil.month),
                                         std::chrono::day(civil.day));
  if (!date.ok()) return std::nullopt;
  const int64_t day = sys_days(date).time_since_epoch().count();
  return from_unix(day * kDay + civil.second_of_day, unit);
}

// Reads a date and time from left to right; each step says whether it found what it wanted.
class DateParser {
 public:
  explicit DateParser(std::string_view text) : rest_(text) {}

  std::optional<CivilTime> parse() {
    CivilTime civil;
    const bool negative = take('-');
    if (!number(civil.year, 1, 9)) return std::nullopt;
    if (negative) civil.year = -civil.year;
    if (take('-') && !month_and_day(civil)) return std::nullopt;
    if (rest_.empty()) return civil;
    if ((!take('T') && !take(' ')) || !time_of_day(civil)) return std::nullopt;
    return zone(civil) && rest_.empty() ? std::optional(civil) : std::nullopt;
  }

 private:
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A number of `least` to `most` digits.
  template <typename Number>
  bool number(Number& into, size_t least, size_t most) {
    size_t digits = 0;
    while (digits < rest_.size() && digits < most && rest_[digits] >= '0' && rest_[digits] <= '9') {
      ++digits;
    }
    if (digits < least) return false;
    std::from_chars(rest_.data(), rest_.data() + digits, into);
    rest_.remove_prefix(digits);
    return true;
  }

  bool month_and_day(CivilTime& civil) {
    if (!number(civil.month, 1, 2) || civil.month < 1 || civil.month > 12) return false;
    if (!take('-')) return rest_.empty();
    return number(civil.day, 1, 2) && civil.day >= 1 && civil.day <= 31;
  }

  bool time_of_day(CivilTime& civil) {
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;
    if (!number(hour, 1, 2) || !take(':') || !number(minute, 2, 2)) return false;
    if (take(':') && !number(second, 2, 2)) return false;
    int64_t fraction = 0;
    if (take('.') && !number(fraction, 1, 9)) return false;
    if (hour > 24 || minute > 59 || second > 60) return false;
    if (hour == 24 && (minute > 0 || second > 0)) return false;
    civil.second_of_day = hour * kHour + minute * kMinute + second;
    return true;
  }

  bool zone(CivilTime& civil) {
    if (rest_.empty() || take('Z')) return true;
    const bool west = take('-');
    if (!west && !take('+')) return false;
    int64_t hour = 0;
    int64_t minute = 0;
    if (!number(hour, 2, 2)) return false;
    const bool colon = take(':');
    if ((colon || !rest_.empty()) && !number(minute, 2, 2)) return false;
    if (hour > 23 || minute > 59) return false;
    const int64_t ahead = hour * kHour + minute * kMinute;
    civil.second_of_day += west ? ahead : -ahead;
    return true;
  }

  std::string_view rest_;
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
  if (name == "number") return TimeFormat::number;
  throw Error(
      fmt::format("unknown time format '{}'; the time formats are date, unix and number", name));
}

std::optional<Time> parse_time(std::string_view text, TimeFormat format, TimeUnit unit) {
  if (format == TimeFormat::date) {
    const auto civil = DateParser(text).parse();
    return civil ? from_civil(*civil, unit) : std::nullopt;
  }
  if (const auto whole = whole_text<int64_t>(text)) {
    return format == TimeFormat::number ? in_range(*whole) : from_unix(*whole, unit);
  }
  if (format == TimeFormat::number) return std::nullopt;
  const auto real = whole_text<double>(text);
  if (!real || !(std::abs(*real) < 1e15)) return std::nullopt;
  return from_unix(static_cast<int64_t>(std::floor(*real)), unit);
}

std::string format_time(Time time, TimeUnit unit) {
  if (unit == TimeUnit::year) return std::to_string(time);
  if (unit == TimeUnit::month) {
    const int64_t year = floor_divide(time, 12);
    return fmt::format("{}-{:02}", year, time - year * 12 + 1);
  }
  const int64_t second = time * unit_seconds(unit);
  const int64_t day = floor_divide(second, kDay);
  if (day < -12'000'000 || day > 11'000'000) return fmt::format("{} {}", time, to_string(unit));
  const auto date = to_date(day);
  const auto text =
      fmt::format("{}-{:02}-{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (unit == TimeUnit::day) return text;
  const int64_t rest = second - day * kDay;
  const auto clock = fmt::format("{} {:02}:{:02}", text, rest / kHour, rest % kHour / kMinute);
  return unit == TimeUnit::second ? fmt::format("{}:{:02}", clock, rest % kMinute) : clock;
}

}  // namespace hgt
