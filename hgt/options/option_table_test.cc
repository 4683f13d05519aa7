// Enums as words, and the groups and levels of options.
#include "hgt/options/option_table.h"

#include <gtest/gtest.h>

#include <string>
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
  table.add("width", width, "").everyday();
  table.add("depth", depth, "");
  table.begin_group("sound");
  table.add("loud", loud, "");
  EXPECT_EQ(table.find("width")->level, OptionTable::Level::everyday);
  EXPECT_EQ(table.find("depth")->level, OptionTable::Level::advanced);
  const OptionTable rest = table.without({"width"});
  EXPECT_EQ(rest.entries().size(), 2U);
  EXPECT_EQ(rest.find("depth")->group, "size");
  EXPECT_EQ(rest.find("loud")->group, "sound");
}

}  // namespace
}  // namespace hgt
