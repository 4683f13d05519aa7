// Times in a layout of their own, by a pattern as in strptime: English names, whatever the locale.
//
//   const TimePattern pattern("%d.%m.%Y %H:%M");
//   const auto time = pattern.parse("02.03.2019 14:05", TimeUnit::day);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

class TimePattern {
 public:
  // Throws Error: an unknown directive (lists the known ones), one given twice, a part without the
  // next coarser one (a day without a month).
  explicit TimePattern(std::string pattern);

  const std::string& text() const { return pattern_; }
  // As parse_time() of time_text.h; the text must match the pattern from its first to its last
  // character. Without %z it is in universal time.
  std::optional<Time> parse(std::string_view text, TimeUnit unit) const;

 private:
  struct Step {
    char directive = '\0';  // '\0': the literal
    char literal = '\0';
    bool full_width = false;  // all digits are there, as the neighbor is a number, too
  };
  void check_parts() const;
  void find_neighbors();
  bool has(std::string_view directives) const;

  std::string pattern_;
  std::vector<Step> steps_;
};

// What a manifest may say of times: each of the words, an example of a pattern.
std::string time_formats_text();
// The formats and usual patterns in which the text is a plausible time; for messages.
std::vector<std::string> likely_time_formats(std::string_view text, TimeUnit unit);

}  // namespace hgt
