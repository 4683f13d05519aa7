// Enums as words, and the groups and levels of options.
#include "hgt/options/option_table.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "hgt/enum_words.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

enum class Fruit { apple, pear, none };
constexpr auto words_of(Fruit) {
  return enum_words<Fruit>("fruit", {{Fruit::apple, "apple"}, {Fruit::pear, "pear"}}, "nothing");
}

enum class Wordless { a };

static_assert(WordedEnum<Fruit> && !WordedEnum<Wordless> && !WordedEnum<int>);
static_assert(to_string(Fruit::pear) == "pear");
static_assert(find_word<Fruit>("pear") == Fruit::pear);

TEST(EnumWords, AreWrittenReadAndListedFromOneTable) {
  EXPECT_EQ(all_words<Fruit>(), (std::vector<std::string>{"apple", "pear"}));
  for (const std::string& word : all_words<Fruit>()) {
    EXPECT_EQ(to_string(from_word<Fruit>(word)), word);
  }
}

TEST(EnumWords, OfAValueThatCannotBeChosenAreWrittenButNotRead) {
  EXPECT_EQ(to_string(Fruit::none), "nothing");
  EXPECT_FALSE(find_word<Fruit>("nothing"));
}

TEST(EnumWords, ThatAreUnknownAreRefusedWithTheKnownOnes) {
  EXPECT_EQ(error_of([] { from_word<Fruit>("plum"); }),
            "unknown fruit 'plum'; choose one of apple, pear");
  EXPECT_EQ(error_of([] { from_word<Fruit>("Pear"); }),
            "unknown fruit 'Pear'; choose one of apple, pear");
}

TEST(OptionTable, KnowsTheWordsOfAnEnum) {
  Fruit fruit = Fruit::apple;
  OptionTable table;
  table.add("fruit", fruit, "What to eat");
  EXPECT_EQ(table.find("fruit")->words, all_words<Fruit>());
  table.set("fruit", {"pear"});
  EXPECT_EQ(fruit, Fruit::pear);
  EXPECT_EQ(table.to_toml(), "fruit = \"pear\"\n");
  EXPECT_EQ(error_of([&] { table.set("fruit", {"plum"}); }),
            "fruit: unknown fruit 'plum'; choose one of apple, pear");
  EXPECT_EQ(fruit, Fruit::pear);
}

TEST(OptionTable, TellsEverydayOptionsFromOthersAndWhatTheyAreAbout) {
  int width = 1;
  int depth = 2;
  bool loud = false;
  OptionTable table;
  table.begin_group("size");
  table.add("width", width, {1, 9}, "").everyday();
  table.add("depth", depth, {1, 9}, "");
  table.begin_group("sound");
  table.add("loud", loud, "");
  EXPECT_EQ(table.find("width")->level, OptionTable::Level::everyday);
  EXPECT_EQ(table.find("depth")->level, OptionTable::Level::advanced);
  const OptionTable rest = table.without({"width"});
  EXPECT_EQ(rest.entries().size(), 2U);
  EXPECT_EQ(rest.find("depth")->group, "size");
  EXPECT_EQ(rest.find("loud")->group, "sound");
  const OptionTable some = table.only({"loud", "width"});
  ASSERT_EQ(some.entries().size(), 2U);
  EXPECT_EQ(some.entries()[0].key, "width");
  EXPECT_EQ(some.entries()[0].level, OptionTable::Level::everyday);
  OptionTable both = some.with(table.only({"depth"}));
  EXPECT_EQ(both.find("depth")->group, "size");
  both.set("depth", {"7"});
  EXPECT_EQ(depth, 7);
}

struct Numbers {
  double real = 0.5;
  int whole = 1;
  int64_t large = 1;
  uint32_t count = 1;
  uint64_t seed = 1;
  std::vector<uint32_t> list = {};

  OptionTable table() {
    OptionTable table;
    table.add("real", real, {0.25, 2}, "");
    table.add("whole", whole, {-3, 1024}, "");
    table.add("large", large, {1, 1e12}, "");
    table.add("count", count, {0, 1e7}, "");
    table.add("seed", seed, kAnySeed, "");
    table.add("list", list, {1, 9}, "");
    return table;
  }
};

TEST(OptionTable, TakesNumbersWithinTheirRanges) {
  Numbers numbers;
  OptionTable table = numbers.table();
  for (const auto& [key, text] :
       std::vector<std::pair<std::string, std::string>>{{"real", "0.25"},
                                                        {"real", "2"},
                                                        {"whole", "-3"},
                                                        {"whole", "1024"},
                                                        {"large", "1000000000000"},
                                                        {"count", "0"},
                                                        {"count", "10000000"},
                                                        {"seed", "0"},
                                                        {"seed", "18446744073709551615"}}) {
    table.set(key, {text});
    EXPECT_EQ(table.find(key)->get(), OptionTable::Values{text}) << key;
  }
  table.set("list", {"1", "9"});
  EXPECT_EQ(numbers.list, (std::vector<uint32_t>{1, 9}));
}

TEST(OptionTable, RefusesNumbersBeyondTheirRangesAndSaysThem) {
  Numbers numbers;
  OptionTable table = numbers.table();
  const std::vector<std::array<std::string, 3>> cases = {
      {"real", "0.2", "real: '0.2' is not a number from 0.25 to 2"},
      {"real", "nan", "real: 'nan' is not a number from 0.25 to 2"},
      {"real", "inf", "real: 'inf' is not a number from 0.25 to 2"},
      {"real", "1e999", "real: '1e999' is not a number from 0.25 to 2"},
      {"real", "", "real: '' is not a number from 0.25 to 2"},
      {"whole", "1025", "whole: '1025' is not a whole number from -3 to 1024"},
      {"whole", "-4", "whole: '-4' is not a whole number from -3 to 1024"},
      {"whole", "1.5", "whole: '1.5' is not a whole number from -3 to 1024"},
      {"large", "1000000000001", "large: '1000000000001' is not a whole number from 1 to 100000"},
      {"count", "-1", "count: '-1' is not a whole number from 0 to 10000000"},
      {"count", "4000000000", "count: '4000000000' is not a whole number from 0 to 10000000"},
      {"seed", "18446744073709551616",
       "seed: '18446744073709551616' is not a whole number from 0 to 18446744073709551615"},
      {"list", "10", "list: '10' is not a whole number from 1 to 9"}};
  for (const auto& [key, text, expected] : cases) {
    const std::string error = error_of([&, &key = key, &text = text] { table.set(key, {text}); });
    EXPECT_TRUE(error.starts_with(expected)) << error;
  }
  EXPECT_EQ(numbers.whole, 1) << "what was refused changes nothing";
  EXPECT_EQ(error_of([&] { table.set("list", OptionTable::Values(1001, "1")); }),
            "list: it has 1001 numbers; give at most 1000");
}

}  // namespace
}  // namespace hgt
