#include "hgt/graph/time_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hgt/error.h"
#include "hgt/graph/civil_time.h"
#include "hgt/graph/time_text.h"

namespace hgt {

namespace {

constexpr std::string_view kNumeric = "YymdHIMSf";
constexpr std::string_view kKnown = "YymbBdaAHIMSfpz";
constexpr std::string_view kKnownText =
    "%Y (four digits) or %y (two: 1969 to 2068), %m or %b (month; number or English name), %d, "
    "%a (day of the week), %H or %I with %p (AM, PM), %M, %S, %f (fraction of a second), %z (Z or "
    "+hh:mm), %%";

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};
constexpr std::array<std::string_view, 7> kWeekdays = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

// The number, from 1, of a name in full or of its first three letters; 0: none of them.
template <size_t Count>
unsigned named(TimeCursor& text, const std::array<std::string_view, Count>& names) {
  for (unsigned i = 0; i < Count; ++i) {
    if (text.word(names[i]) || text.word(names[i].substr(0, 3))) return i + 1;
  }
  return 0;
}

// What the directives of one text have said so far.
class PatternParts {
 public:
  bool read(TimeCursor& text, char directive, bool full_width) {
    const size_t least = full_width ? 2 : 1;
    switch (directive) {
      case 'Y':
        return text.number(civil_.year, 4, 4);
      case 'y':
        if (!text.number(civil_.year, 2, 2)) return false;
        civil_.year += civil_.year < 69 ? 2000 : 1900;
        return true;
      case 'm':
        return text.number(civil_.month, least, 2) && civil_.month >= 1 && civil_.month <= 12;
      case 'b':
        civil_.month = named(text, kMonths);
        return civil_.month > 0;
      case 'd':
        return text.number(civil_.day, least, 2) && civil_.day >= 1 && civil_.day <= 31;
      case 'a':
        return named(text, kWeekdays) > 0;
      default:
        return read_clock(text, directive, least);
    }
  }

  std::optional<Time> time(TimeUnit unit) const {
    if (hour_ == 24 && (minute_ > 0 || second_ > 0)) return std::nullopt;
    const int64_t hour = half_ < 0 ? hour_ : hour_ % 12 + int64_t{12} * half_;
    CivilTime civil = civil_;
    civil.second_of_day = hour * kHourSeconds + minute_ * kMinuteSeconds + second_ - ahead_;
    return from_civil(civil, unit);
  }

 private:
  bool read_clock(TimeCursor& text, char directive, size_t least) {
    int64_t fraction = 0;
    switch (directive) {
      case 'H':
        return text.number(hour_, least, 2) && hour_ <= 24;
      case 'I':
        return text.number(hour_, least, 2) && hour_ >= 1 && hour_ <= 12;
      case 'M':
        return text.number(minute_, 2, 2) && minute_ <= 59;
      case 'S':
        return text.number(second_, 2, 2) && second_ <= 60;
      case 'f':
        return text.number(fraction, 1, 9);
      case 'p':
        half_ = text.word("am") ? 0 : text.word("pm") ? 1 : -1;
        return half_ >= 0;
      default:
        return text.zone(ahead_);
    }
  }

  CivilTime civil_;
  int64_t hour_ = 0;
  int64_t minute_ = 0;
  int64_t second_ = 0;
  int64_t ahead_ = 0;
  int half_ = -1;  // 1: after noon; -1: not told
};

// %b and %B, %a and %A read the same names.
char canonical(char directive) {
  return directive == 'B' ? 'b' : directive == 'A' ? 'a' : directive;
}

constexpr std::array<std::string_view, 19> kUsualPatterns = {"%Y%m%d",
                                                             "%Y%m%d%H%M%S",
                                                             "%d.%m.%Y",
                                                             "%d.%m.%Y %H:%M",
                                                             "%d.%m.%Y %H:%M:%S",
                                                             "%d.%m.%y",
                                                             "%d/%m/%Y",
                                                             "%m/%d/%Y",
                                                             "%d/%m/%Y %H:%M",
                                                             "%m/%d/%Y %H:%M",
                                                             "%m/%d/%Y %I:%M:%S %p",
                                                             "%Y/%m/%d",
                                                             "%Y/%m/%d %H:%M:%S",
                                                             "%d-%m-%Y",
                                                             "%d %b %Y",
                                                             "%d-%b-%y",
                                                             "%b %d, %Y",
                                                             "%b %d, %Y %I:%M %p",
                                                             "%a %b %d %H:%M:%S %z %Y"};

}  // namespace

TimePattern::TimePattern(std::string pattern) : pattern_(std::move(pattern)) {
  const auto fail = [&](const std::string& what) {
    throw Error(
        fmt::format("the time pattern '{}' {}; it may contain {}", pattern_, what, kKnownText));
  };
  for (size_t i = 0; i < pattern_.size(); ++i) {
    if (pattern_[i] != '%') {
      steps_.push_back({.literal = pattern_[i]});
      continue;
    }
    if (++i == pattern_.size()) fail("ends with a single %");
    if (pattern_[i] == '%') {
      steps_.push_back({.literal = '%'});
    } else if (kKnown.find(pattern_[i]) == std::string_view::npos) {
      fail(fmt::format("contains the unknown %{}", pattern_[i]));
    } else {
      const char directive = canonical(pattern_[i]);
      if (has(std::string_view(&directive, 1))) fail(fmt::format("contains %{} twice", directive));
      steps_.push_back({.directive = directive});
    }
  }
  check_parts();
  find_neighbors();
}

bool TimePattern::has(std::string_view directives) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    return step.directive != '\0' && directives.find(step.directive) != std::string_view::npos;
  });
}

void TimePattern::check_parts() const {
  const std::array<std::pair<bool, std::string_view>, 8> wrong = {{
      {!has("Yy"), "has no year"},
      {has("Y") && has("y"), "has two years"},
      {has("m") && has("b"), "has two months"},
      {has("d") && !has("mb"), "has a day, but no month"},
      {has("HI") && !has("d"), "has an hour, but no day"},
      {has("I") != has("p") || (has("I") && has("H")), "needs %I and %p together, or %H"},
      {has("M") && !has("HI"), "has a minute, but no hour"},
      {(has("S") && !has("M")) || (has("f") && !has("S")), "has a second without a minute"},
  }};
  for (const auto& [is_wrong, what] : wrong) {
    if (!is_wrong) continue;
    throw Error(
        fmt::format("the time pattern '{}' {}; it may contain {}", pattern_, what, kKnownText));
  }
}

void TimePattern::find_neighbors() {
  const auto numeric = [](const Step& step) {
    return step.directive != '\0' && kNumeric.find(step.directive) != std::string_view::npos;
  };
  for (size_t i = 0; i + 1 < steps_.size(); ++i) {
    if (!numeric(steps_[i]) || !numeric(steps_[i + 1])) continue;
    steps_[i].full_width = true;
    steps_[i + 1].full_width = true;
  }
}

std::optional<Time> TimePattern::parse(std::string_view text, TimeUnit unit) const {
  TimeCursor rest(text);
  PatternParts parts;
  for (const Step& step : steps_) {
    const bool found = step.directive == '\0' ? rest.take(step.literal)
                                              : parts.read(rest, step.directive, step.full_width);
    if (!found) return std::nullopt;
  }
  return rest.at_end() ? parts.time(unit) : std::nullopt;
}

std::string time_formats_text() {
  return "\"date\" (2019, 2019-03, 2019-03-02, 2019-03-02T14:05:09+01:00), \"unix\" (seconds since "
         "1970), \"unix_ms\" (milliseconds), \"number\" (whole numbers of the unit), or a pattern "
         "such as \"%d.%m.%Y %H:%M\"";
}

std::vector<std::string> likely_time_formats(std::string_view text, TimeUnit unit) {
  std::vector<std::string> likely;
  const auto fits = [&](std::optional<Time> time) { return time && is_plausible(*time, unit); };
  static const std::vector<TimePattern> patterns = [] {
    std::vector<TimePattern> all;
    for (const std::string_view pattern : kUsualPatterns) all.emplace_back(std::string(pattern));
    return all;
  }();
  for (const TimePattern& pattern : patterns) {
    if (fits(pattern.parse(text, unit))) likely.push_back(pattern.text());
  }
  if (!likely.empty()) return likely;
  for (const char* name : {"date", "unix", "unix_ms"}) {
    if (fits(parse_time(text, time_format(name), unit))) return {name};
  }
  if (parse_time(text, TimeFormat::number, unit)) likely.emplace_back("number");
  return likely;
}

}  // namespace hgt
