#include "hgt/graph/civil_time.h"

#include <chrono>
#include <limits>

namespace hgt {

namespace {

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::optional<Time> in_time_range(int64_t value) {
  if (value <= kNoTime || value > std::numeric_limits<Time>::max()) return std::nullopt;
  return static_cast<Time>(value);
}

int64_t unit_seconds(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::day:
      return kDaySeconds;
    case TimeUnit::hour:
      return kHourSeconds;
    case TimeUnit::minute:
      return kMinuteSeconds;
    default:
      return 1;
  }
}

std::optional<Time> from_unix_seconds(int64_t second, TimeUnit unit) {
  if (unit != TimeUnit::year && unit != TimeUnit::month) {
    return in_time_range(floor_divide(second, unit_seconds(unit)));
  }
  const int64_t day = floor_divide(second, kDaySeconds);
  if (day < -12'000'000 || day > 11'000'000) return std::nullopt;  // what std::chrono::year holds
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days(day)}};
  const auto year = static_cast<int>(date.year());
  if (unit == TimeUnit::year) return in_time_range(year);
  return in_time_range(int64_t{year} * 12 + static_cast<unsigned>(date.month()) - 1);
}

std::optional<Time> from_civil(const CivilTime& civil, TimeUnit unit) {
  const bool year_only = civil.month == 1 && civil.day == 1 && civil.second_of_day == 0;
  if (unit == TimeUnit::year && year_only) return in_time_range(civil.year);
  if (civil.year < -32767 || civil.year > 32767) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(civil.year)),
                                         std::chrono::month(civil.month),
                                         std::chrono::day(civil.day));
  if (!date.ok()) return std::nullopt;
  const int64_t day = std::chrono::sys_days(date).time_since_epoch().count();
  return from_unix_seconds(day * kDaySeconds + civil.second_of_day, unit);
}

bool TimeCursor::word(std::string_view lower_case) {
  if (rest_.size() < lower_case.size()) return false;
  for (size_t i = 0; i < lower_case.size(); ++i) {
    if (lower_letter(rest_[i]) != lower_case[i]) return false;
  }
  rest_.remove_prefix(lower_case.size());
  return true;
}

bool TimeCursor::zone(int64_t& ahead) {
  ahead = 0;
  if (take('Z')) return true;
  const bool west = take('-');
  if (!west && !take('+')) return false;
  int64_t hour = 0;
  int64_t minute = 0;
  if (!number(hour, 2, 2)) return false;
  const bool colon = take(':');
  const bool more = colon || (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9');
  if (more && !number(minute, 2, 2)) return false;
  if (hour > 23 || minute > 59) return false;
  ahead = (west ? -1 : 1) * (hour * kHourSeconds + minute * kMinuteSeconds);
  return true;
}

}  // namespace hgt
