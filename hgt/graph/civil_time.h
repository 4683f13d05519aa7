// Dates and clocks in text, read from left to right, and their count in a unit of time: what the
// formats of time_text.h and time_pattern.h share.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

constexpr int64_t kMinuteSeconds = 60;
constexpr int64_t kHourSeconds = 60 * kMinuteSeconds;
constexpr int64_t kDaySeconds = 24 * kHourSeconds;

struct CivilTime {
  int64_t year = 0;
  unsigned month = 1;
  unsigned day = 1;
  int64_t second_of_day = 0;  // may leave the day when a zone moved it
};

inline int64_t floor_divide(int64_t value, int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

// Seconds in one of the units that divide a day or are one.
int64_t unit_seconds(TimeUnit unit);

// No value: beyond the range of Time.
std::optional<Time> in_time_range(int64_t value);
// Seconds since 1970, cut off (floor) to the unit. No value: beyond the range of Time.
std::optional<Time> from_unix_seconds(int64_t second, TimeUnit unit);
// No value: not in the calendar, or beyond the range of Time.
std::optional<Time> from_civil(const CivilTime& civil, TimeUnit unit);

// Text that is still to be read; each step says whether it found what it wanted.
class TimeCursor {
 public:
  explicit TimeCursor(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
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
  // English letters, in upper or lower case.
  bool word(std::string_view lower_case);
  // Z, +hh, +hhmm or +hh:mm; how far it is ahead of universal time, in seconds.
  bool zone(int64_t& ahead);

 private:
  std::string_view rest_;
};

}  // namespace hgt
