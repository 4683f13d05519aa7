#include "hgt/graph/time_pattern.h"

#include <gtest/gtest.h>

#include <array>
#include <clocale>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

std::optional<Time> by_pattern(const char* pattern, std::string_view text, TimeUnit unit) {
  return TimePattern(pattern).parse(text, unit);
}
Time moment(const char* iso) { return parse_time(iso, TimeFormat::date, TimeUnit::second).value(); }

TEST(TimePattern, ReadsWhatStrptimeReads) {
  const std::vector<std::array<const char*, 3>> cases = {
      {"%d.%m.%Y %H:%M", "02.03.2019 14:05", "2019-03-02 14:05"},
      {"%d.%m.%Y", "2.3.2019", "2019-03-02"},
      {"%Y%m%d", "20190302", "2019-03-02"},
      {"%Y%m%d%H%M%S", "20190302140509", "2019-03-02 14:05:09"},
      {"%m/%d/%y", "3/2/19", "2019-03-02"},
      {"%d-%b-%y", "02-MAR-69", "1969-03-02"},
      {"%b %d, %Y %I:%M %p", "Mar 2, 2019 2:05 PM", "2019-03-02 14:05"},
      {"%B %d, %Y %I:%M %p", "march 2, 2019 12:05 am", "2019-03-02 00:05"},
      {"%d %b %Y %I %p", "2 March 2019 12 PM", "2019-03-02 12:00"},
      {"%a %b %d %H:%M:%S %z %Y", "Sat Mar 02 14:05:09 +0100 2019", "2019-03-02 13:05:09"},
      {"%Y-%m-%dT%H:%M:%S.%f%z", "2019-03-02T14:05:09.25-05:30", "2019-03-02 19:35:09"},
      {"%Y-%m-%d %H:%M:%S%z", "2019-03-02 14:05:09Z", "2019-03-02 14:05:09"},
      {"%H:%M on %d/%m/%Y", "24:00 on 02/03/2019", "2019-03-03"},
      {"%Y (100%%)", "2019 (100%)", "2019-01-01"}};
  for (const auto& [pattern, text, iso] : cases) {
    EXPECT_EQ(by_pattern(pattern, text, TimeUnit::second), moment(iso)) << pattern << " " << text;
  }
}

TEST(TimePattern, IsStrict) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"%Y", "20190102"},
      {"%Y", "19"},
      {"%Y%m%d", "2019012"},
      {"%Y%m%d", "2019-01-02"},
      {"%d.%m.%Y", "30.02.2019"},
      {"%d.%m.%Y", "2.13.2019"},
      {"%d.%m.%Y", "02.03.2019 "},
      {"%d.%m.%Y", " 02.03.2019"},
      {"%d.%m.%Y", "02.03.19"},
      {"%d.%m.%Y", ""},
      {"%d %b %Y", "2 Mrz 2019"},
      {"%d.%m.%Y %H:%M", "2.3.2019 24:01"},
      {"%d.%m.%Y %H:%M", "2.3.2019 14:5"},
      {"%d.%m.%Y %I %p", "2.3.2019 13 PM"},
      {"%d.%m.%Y %H:%M%z", "2.3.2019 14:05"},
      {"%a %d.%m.%Y", "Frx 2.3.2019"}};
  for (const auto& [pattern, text] : cases) {
    EXPECT_EQ(by_pattern(pattern, text, TimeUnit::second), std::nullopt) << pattern << " " << text;
  }
}

TEST(TimePattern, IsTheSameInEveryLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"C", "de_DE.UTF-8", "tr_TR.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, locale);
    EXPECT_EQ(by_pattern("%d %b %Y", "2 APRIL 2019", TimeUnit::month), 2019 * 12 + 3) << locale;
    EXPECT_EQ(by_pattern("%d %b %Y", "2 Mai 2019", TimeUnit::month), std::nullopt) << locale;
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(TimePattern, ThatIsWrongIsRefusedWithTheDirectivesThatThereAre) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"%q %Y", "unknown %q"},
      {"%Y%", "single %"},
      {"%d.%m", "no year"},
      {"%d %Y", "no month"},
      {"%Y %Y", "%Y twice"},
      {"%b %B %Y", "%b twice"},
      {"%Y %y", "two years"},
      {"%H %Y", "no day"},
      {"%Y-%m-%d %M", "no hour"},
      {"%Y-%m-%d %I:%M", "%p"},
      {"%Y-%m-%d %H:%S", "without a minute"},
      {"%", "single %"},
      {"%m %b %Y", "two months"}};
  for (const auto& [pattern, what] : cases) {
    try {
      const TimePattern refused(pattern);
      ADD_FAILURE() << pattern;
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(what), std::string::npos) << text;
      EXPECT_NE(text.find("%Y (four digits)"), std::string::npos) << text;
    }
  }
}

TEST(LikelyTimeFormats, AreThoseThatReadTheText) {
  EXPECT_EQ(likely_time_formats("20190102", TimeUnit::year), Texts{"%Y%m%d"});
  EXPECT_EQ(likely_time_formats("31.12.2019", TimeUnit::day), Texts{"%d.%m.%Y"});
  EXPECT_EQ(likely_time_formats("01/02/2019", TimeUnit::day), (Texts{"%d/%m/%Y", "%m/%d/%Y"}));
  EXPECT_EQ(likely_time_formats("13/02/2019", TimeUnit::day), Texts{"%d/%m/%Y"});
  EXPECT_EQ(likely_time_formats("2019-01-02", TimeUnit::hour), Texts{"date"});
  EXPECT_EQ(likely_time_formats("1551535509", TimeUnit::year), Texts{"unix"});
  EXPECT_EQ(likely_time_formats("1551535509000", TimeUnit::day), Texts{"unix_ms"});
  EXPECT_EQ(likely_time_formats("n/a", TimeUnit::day), Texts{});
}

TEST(PlausibleTime, EndsWithFourDigitsOfAYear) {
  EXPECT_TRUE(is_plausible(9999, TimeUnit::year));
  EXPECT_TRUE(is_plausible(-9999, TimeUnit::year));
  EXPECT_FALSE(is_plausible(10000, TimeUnit::year));
  EXPECT_FALSE(is_plausible(20190102, TimeUnit::year));
  EXPECT_TRUE(is_plausible(9999 * 12 + 11, TimeUnit::month));
  EXPECT_FALSE(is_plausible(9999 * 12 + 12, TimeUnit::month));
  EXPECT_TRUE(is_plausible(2932896, TimeUnit::day));  // 9999-12-31
  EXPECT_FALSE(is_plausible(2932897, TimeUnit::day));
  EXPECT_FALSE(is_plausible(1551535509, TimeUnit::hour));
  EXPECT_TRUE(is_plausible(1551535509, TimeUnit::second));
}

}  // namespace
}  // namespace hgt
