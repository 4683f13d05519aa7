// Any text is a time or none, in every format and by every pattern; what is plausible has a text of
// its own, which means the same time again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/fuzz_input.h"
#include "hgt/graph/time_pattern.h"
#include "hgt/graph/time_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all = hgt::fuzz::text_of(data, size);
  const size_t line = all.find('\n');
  const std::string pattern(all.substr(0, line));
  const std::string_view text = line == std::string_view::npos ? all : all.substr(line + 1);
  for (const hgt::TimeUnit unit : {hgt::TimeUnit::year, hgt::TimeUnit::month, hgt::TimeUnit::day,
                                   hgt::TimeUnit::hour, hgt::TimeUnit::second}) {
    for (const char* name : {"date", "unix", "unix_ms", "number"}) {
      const auto time = hgt::parse_time(text, hgt::time_format(name), unit);
      if (!time || !hgt::is_plausible(*time, unit)) continue;
      const std::string again = hgt::format_time(*time, unit);
      if (hgt::parse_time(again, hgt::TimeFormat::date, unit) != time) std::abort();
    }
    hgt::fuzz::use(hgt::likely_time_formats(text, unit).size());
    hgt::fuzz::read_or_refuse(
        [&] { hgt::fuzz::use(hgt::TimePattern(pattern).parse(text, unit).has_value() ? 1 : 0); });
  }
  return 0;
}
