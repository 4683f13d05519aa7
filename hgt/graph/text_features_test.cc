#include "hgt/graph/text_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

std::vector<float> row_of(std::string_view text, size_t width = 64) {
  std::vector<float> row(width, 123.0F);
  hashed_words(text, row);
  return row;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// 0x85944171f73967e8 is the published FNV-1a value of "foobar" (Fowler, Noll, Vo).
TEST(HashedWords, PutsOneWordWhereItsHashSays) {
  const uint64_t bits = mix64(0x85944171f73967e8U);
  std::vector<float> expected(10, 0.0F);
  expected[(bits >> 1U) % 10] = (bits & 1U) == 0 ? 1.0F : -1.0F;
  EXPECT_EQ(row_of("foobar", 10), expected);
}

TEST(HashedWords, IgnoresCaseOrderAndPunctuation) {
  const auto row = row_of("Graph attention networks");
  EXPECT_EQ(row_of("networks, (ATTENTION): graph!"), row);
  EXPECT_EQ(row_of("  networks\tgraph\n--attention"), row);
  EXPECT_NE(row_of("graph attention"), row);
  EXPECT_NE(row_of("graphattention networks"), row);
}

TEST(HashedWords, KeepsDigitsAndUtf8WordsWhole) {
  EXPECT_EQ(row_of("covid19"), row_of("COVID19"));
  EXPECT_NE(row_of("covid19"), row_of("covid 19"));
  const std::string umlaut = "z\xc3\xbcrich";
  EXPECT_NE(row_of(umlaut), row_of("z rich"));
  EXPECT_NEAR(dot(row_of(umlaut), row_of("Z\xc3\xbcRICH")), 1.0, 1e-6);
}

TEST(HashedWords, ScalesToLengthOne) {
  for (const char* text : {"a", "a a a", "one two three four five", "x y z x y z w"}) {
    const auto row = row_of(text);
    EXPECT_NEAR(std::sqrt(dot(row, row)), 1.0, 1e-6) << text;
  }
}

TEST(HashedWords, CountsRepeatedWords) {
  const auto once = row_of("alpha beta");
  const auto twice = row_of("alpha alpha beta");
  const auto alpha = row_of("alpha");
  EXPECT_GT(dot(twice, alpha), dot(once, alpha));
}

TEST(HashedWords, GivesTheZeroRowForTextWithoutWords) {
  const std::vector<float> zero(64, 0.0F);
  EXPECT_EQ(row_of(""), zero);
  EXPECT_EQ(row_of(" .,;-() \t\n"), zero);
}

TEST(HashedWords, WorksForAnyWidth) {
  for (const size_t width : {1U, 2U, 7U, 1000U}) {
    const auto row = row_of("graph", width);
    EXPECT_EQ(std::count(row.begin(), row.end(), 0.0F), static_cast<ptrdiff_t>(width) - 1);
  }
}

// Columns and signs of 64,000 different words: 1,000 words per column are expected, half of them
// positive; six standard deviations are about 190.
TEST(HashedWords, SpreadsWordsEvenlyOverColumnsAndSigns) {
  std::vector<int> words(64);
  int positive = 0;
  for (int i = 0; i < 64000; ++i) {
    const auto row = row_of("word" + std::to_string(i));
    const auto at = std::find_if(row.begin(), row.end(), [](float value) { return value != 0; });
    ++words[static_cast<size_t>(at - row.begin())];
    positive += *at > 0 ? 1 : 0;
  }
  for (const int count : words) EXPECT_NEAR(count, 1000, 190);
  EXPECT_NEAR(positive, 32000, 760);
}

}  // namespace
}  // namespace hgt
