#include "hgt/options/settings_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

class SettingsFileTest : public testing::Test {
 protected:
  std::vector<Setting> read(const std::string& text) const {
    write_bytes(file_, text);
    return read_settings(file_);
  }
  // What a file of this one line says.
  Texts values_of_line(const std::string& line) const {
    const auto settings = read(line);
    return settings.size() == 1 ? settings[0].values : Texts{"no single setting"};
  }
  std::string error_of_text(const std::string& text) const {
    return error_of([&] { read(text); });
  }
  std::string at_line(int line) const { return file_.string() + ":" + std::to_string(line) + ": "; }

  const TestFolder folder_;
  const Path file_ = folder_ / "settings.toml";
};

TEST_F(SettingsFileTest, ReadsEveryKindOfValue) {
  EXPECT_EQ(values_of_line("a = \"some text\""), Texts{"some text"});
  EXPECT_EQ(values_of_line("a = ''"), Texts{""});
  EXPECT_EQ(values_of_line("a = 128"), Texts{"128"});
  EXPECT_EQ(values_of_line("a = -7"), Texts{"-7"});
  EXPECT_EQ(values_of_line("a = 0.25"), Texts{"0.25"});
  EXPECT_EQ(values_of_line("a = true"), Texts{"true"});
  EXPECT_EQ(values_of_line("a = false"), Texts{"false"});
  EXPECT_EQ(values_of_line("a = []"), Texts{});
  EXPECT_EQ(values_of_line("a = [\"x\", \"y z\"]"), (Texts{"x", "y z"}));
  EXPECT_EQ(values_of_line("a = [1, 2.5, true, \"x\"]"), (Texts{"1", "2.5", "true", "x"}));
}

TEST_F(SettingsFileTest, KeepsTheOrderAndTheLinesOfTheFile) {
  const auto settings = read("# what this is\nzebra = 1\n\nwidth = [\n  2,\n  3]\napple = 4\n");
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(settings[0].key, "zebra");
  EXPECT_EQ(settings[0].line, 2U);
  EXPECT_EQ(settings[1].key, "width");
  EXPECT_EQ(settings[1].line, 4U);
  EXPECT_EQ(settings[1].values, (Texts{"2", "3"}));
  EXPECT_EQ(settings[2].key, "apple");
  EXPECT_EQ(settings[2].line, 7U);
}

TEST_F(SettingsFileTest, MayBeEmpty) {
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("# nothing\n").empty());
}

TEST_F(SettingsFileTest, ThatIsNoTomlIsRefusedWithItsLine) {
  EXPECT_TRUE(error_of_text("a = 1\nb = = 2\n").starts_with(at_line(2)));
  EXPECT_TRUE(error_of_text("a = 1\n\nb\n").starts_with(at_line(3)));
  EXPECT_TRUE(error_of_text("a = 1\nb = 2\na = 3\n").starts_with(at_line(3))) << "given twice";
  EXPECT_TRUE(error_of_text("a = 99999999999999999999\n").starts_with(at_line(1)));
  EXPECT_FALSE(contains(error_of_text("a = 1\nb = = 2\n"), "\n")) << "one line";
}

// Each of these took more stack than there is.
TEST_F(SettingsFileTest, BeyondAllBoundsIsRefusedWithItsLine) {
  const auto times = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  constexpr int kMany = 100'000;
  for (const std::string& bad :
       {"[a" + times(".a", kMany) + "]\n", "[[a" + times(".a", kMany) + "]]\n",
        "a" + times(".a", kMany) + " = 1\n", "a" + times(" . \"a.b\"", kMany) + " = 1\n",
        "x = { y = 1, a" + times(".'a'", kMany) + " = 1 }\n"}) {
    const std::string error = error_of_text("a = 1 # [[[\n" + bad);
    EXPECT_TRUE(error.starts_with(at_line(2))) << error.substr(0, 200);
    EXPECT_TRUE(contains(error, "more than 32 parts")) << error.substr(0, 200);
  }
  for (const std::string& bad :
       {"a = " + times("[", kMany) + "\n", "a = " + times("{ a = ", kMany) + "\n",
        "a = [" + times("[],", 9) + times("{a = [", kMany) + "\n"}) {
    const std::string error = error_of_text("b = 1\n" + bad);
    EXPECT_TRUE(error.starts_with(at_line(2))) << error.substr(0, 200);
    EXPECT_TRUE(contains(error, "deeper than 32 levels")) << error.substr(0, 200);
  }
}

TEST_F(SettingsFileTest, CountsNeitherWhatIsInTextsNorWhatIsClosed) {
  const std::string brackets(1000, '[');
  const std::string dots(1000, '.');
  for (const char* quotes : {"\"", "'", "\"\"\"", "\'\'\'"}) {
    EXPECT_EQ(values_of_line(std::string("a = ") + quotes + brackets + dots + quotes + "\n"),
              Texts{brackets + dots});
  }
  EXPECT_EQ(values_of_line("a = 'x' # " + brackets + dots + "\n"), Texts{"x"});
  EXPECT_EQ(values_of_line("a = \"\\\"" + brackets + "\"\n"), Texts{"\"" + brackets});
  Texts many(1000, "1.5");
  std::string list;
  for (const std::string& number : many) list += number + ", ";
  EXPECT_EQ(values_of_line("a = [" + list + "]\n"), many);
}

TEST_F(SettingsFileTest, HoldsNeitherTablesNorTimesNorListsInLists) {
  for (const char* bad :
       {"[deep]\nb = 1\n", "deep = {b = 1}\n", "deep = 2014-12-31T23:59:59\n", "deep = 23:59:59\n",
        "deep = [[1]]\n", "deep = [1, {b = 1}]\n", "deep.b = 1\n"}) {
    const std::string error = error_of_text(std::string("a = 1\n") + bad);
    EXPECT_TRUE(error.starts_with(at_line(2))) << bad << ": " << error;
    EXPECT_TRUE(contains(error, "'deep' must be text, a number, true, false or a list")) << error;
    EXPECT_EQ(contains(error, "; put times in quotes"), contains(bad, "23:59")) << error;
  }
}

TEST_F(SettingsFileTest, TakesDatesWithAndWithoutQuotes) {
  EXPECT_EQ(values_of_line("a = 2014-12-31\n"), Texts{"2014-12-31"});
  EXPECT_EQ(values_of_line("a = '2014-12-31'\n"), Texts{"2014-12-31"});
  EXPECT_EQ(values_of_line("a = [2014-02-03, 0987-12-31]\n"), (Texts{"2014-02-03", "0987-12-31"}));
}

TEST_F(SettingsFileTest, ThatIsMissingIsNamed) {
  const Path missing = folder_ / "missing.toml";
  EXPECT_TRUE(contains(error_of([&] { read_settings(missing); }), missing.string()));
  EXPECT_TRUE(contains(error_of([&] { read_settings(folder_.path()); }), folder_.path().string()));
}

TEST_F(SettingsFileTest, GivesBackTextsAsTheyWereWritten) {
  Texts texts = {"",         "plain",        "two words", "\"quoted\"", "back\\slash",      "\\n",
                 "a = 1",    "# no comment", "'",         "\"\"\"",     "tab\tnew\nline\r", "\x7f",
                 "\xc3\xa9", "[1]"};
  texts.push_back(std::string("nul\0inside", 10));
  for (char c = 1; c < 0x20; ++c) texts.push_back(std::string(3, c));
  for (const std::string& text : texts) {
    EXPECT_EQ(values_of_line(setting_line("a", text)), Texts{text});
    EXPECT_EQ(read("# one\n" + setting_line("a", text) + "b = 1\n").back().line, 3U)
        << "a text takes one line";
  }
  EXPECT_EQ(values_of_line(setting_line("a", texts)), texts);
  EXPECT_EQ(values_of_line(setting_line("a", Texts{})), Texts{});
}

TEST_F(SettingsFileTest, GivesBackNumbersAndFlagsAsTheyWereWritten) {
  Draws draws(hash(1));
  std::vector<double> numbers = {0, 1, -1, 0.1, 1e300, 5e-324, 1e20, 123456789, 1.0 / 3};
  for (int i = 0; i < 50; ++i) numbers.push_back(draws.unit());
  for (const double number : numbers) {
    const Texts values = values_of_line(setting_line("a", number));
    ASSERT_EQ(values.size(), 1U);
    EXPECT_EQ(std::strtod(values[0].c_str(), nullptr), number) << values[0];
  }
  for (const uint64_t number : {uint64_t{0}, uint64_t{12}, uint64_t{1} << 62U, ~uint64_t{0} >> 1U,
                                (~uint64_t{0} >> 1U) + 1, ~uint64_t{0}}) {
    EXPECT_EQ(values_of_line(setting_line("a", number)), Texts{std::to_string(number)});
  }
  EXPECT_EQ(setting_line("a", true), "a = true\n");
  EXPECT_EQ(setting_line("a", false), "a = false\n");
  EXPECT_EQ(setting_line("a", uint64_t{12}), "a = 12\n");
  EXPECT_EQ(setting_line("a", 0.25), "a = 0.25\n");
  EXPECT_EQ(setting_line("a", Texts{"x", "y"}), "a = [\"x\", \"y\"]\n");
}

}  // namespace
}  // namespace hgt
