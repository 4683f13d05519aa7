#include "hgt/graph/words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hgt {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

using Words = std::vector<std::string>;

TEST(Words, AreRunsOfLettersAndDigitsInLowerCase) {
  EXPECT_EQ(words_of("Graph-based LEARNING, in 3D."),
            (Words{"graph", "based", "learning", "in", "3d"}));
  EXPECT_EQ(words_of("  a\tb\n\n"), (Words{"a", "b"}));
  EXPECT_EQ(words_of("word"), Words{"word"});
}

TEST(Words, OfTextWithoutAnyAreNone) {
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of(" .,;-_'\"\x7f"), Words{});
  EXPECT_EQ(words_of(std::string_view("\0\0", 2)), Words{});
}

TEST(Words, KeepBytesOfUtf8Together) {
  EXPECT_EQ(words_of("Caf\xc3\xa9 na\xc3\xafve"), (Words{"caf\xc3\xa9", "na\xc3\xafve"}));
  EXPECT_EQ(words_of("\xe5\x9b\xbe \xff\x80"), (Words{"\xe5\x9b\xbe", "\xff\x80"}));
}

TEST(Words, EveryByteEitherCountsOrSeparates) {
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool counts = letter || (c >= '0' && c <= '9') || c >= 0x80;
    EXPECT_EQ(word_byte(static_cast<char>(c)) != '\0', counts) << c;
  }
}

}  // namespace
}  // namespace hgt
