#include "hgt/features/word_mean.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hgt/features/titled_test_graph.h"
#include "hgt/graph/text_features.h"

namespace hgt {
namespace {

using Row = std::vector<double>;

// Vectors of two numbers for the words x, y and w; z has none.
WordTable table_for(const Vocabulary& vocabulary) {
  WordTable table{.width = 2,
                  .vectors = std::vector<float>(vocabulary.size() * 2, 1e9F),
                  .known = std::vector<bool>(vocabulary.size(), false)};
  const auto set = [&](const char* word, float a, float b) {
    const auto number = vocabulary.find(word);
    if (!number) return;
    table.known[*number] = true;
    table.vectors[*number * 2] = a;
    table.vectors[*number * 2 + 1] = b;
  };
  set("x", 1, 5);
  set("y", 3, -1);
  set("w", -2, 2);
  return table;
}

struct Means {
  FeatureRows rows;
  Vocabulary vocabulary;

  double idf(const char* word) const { return vocabulary.idf(vocabulary.find(word).value()); }
};

Means means_of(const std::vector<TitledPaper>& papers, Time until = 2014) {
  const TestGraph graph = titled_graph(papers);
  const NodeType type = graph.type("paper");
  Vocabulary vocabulary(*graph, type, until, no_progress);
  WordMean source(*graph, type, vocabulary, table_for(vocabulary), until);
  return {rows_of(source, papers.size()), std::move(vocabulary)};
}

void expect_near(const std::vector<float>& got, const Row& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t j = 0; j < got.size(); ++j) EXPECT_NEAR(got[j], expected[j], 1e-5) << j;
}

// What the header says, for rows of the training period and others.
std::vector<Row> centered(const std::vector<Row>& training, const std::vector<Row>& all) {
  Row common(2);
  const auto count = static_cast<double>(training.size());
  for (const Row& row : training) {
    for (size_t j = 0; j < 2; ++j) common[j] += row[j] / count;
  }
  double square = 0;
  for (const Row& row : training) {
    for (size_t j = 0; j < 2; ++j) square += std::pow(row[j] - common[j], 2) / (2 * count);
  }
  std::vector<Row> result = all;
  for (Row& row : result) {
    for (size_t j = 0; j < 2; ++j) row[j] = (row[j] - common[j]) / std::sqrt(square);
  }
  return result;
}

TEST(WordMean, IsWeightedCenteredAndScaledByTrainingTitles) {
  const Means got = means_of({{"x y", 2010}, {"X", 2012}, {"x z y y", 2013}, {"y w", 2018}});
  const double x = got.idf("x");
  const double y = got.idf("y");
  const double w = got.idf("w");
  EXPECT_NE(x, y);
  const Row a = {(x * 1 + y * 3) / (x + y), (x * 5 - y * 1) / (x + y)};
  const Row b = {1, 5};
  const Row c = {(x * 1 + 2 * y * 3) / (x + 2 * y), (x * 5 - 2 * y * 1) / (x + 2 * y)};
  const Row late = {(y * 3 - w * 2) / (y + w), (-y + 2 * w) / (y + w)};
  const auto expected = centered({a, b, c}, {a, b, c, late});
  for (size_t i = 0; i < 4; ++i) expect_near(got.rows[i], expected[i]);
  double square = 0;
  for (size_t i = 0; i < 3; ++i) {
    for (const float value : got.rows[i]) square += value * value / 6;
  }
  EXPECT_NEAR(square, 1, 1e-5);
}

TEST(WordMean, ATitleWithoutKnownWordsIsMissing) {
  const Means got = means_of({{"x", 2010}, {"", 2010}, {"z z", 2010}, {"y", 2011}, {"--", 2018}});
  EXPECT_FALSE(got.rows[0].empty());
  EXPECT_TRUE(got.rows[1].empty());
  EXPECT_TRUE(got.rows[2].empty()) << "z has no vector";
  EXPECT_TRUE(got.rows[4].empty());
  expect_near(got.rows[3], centered({{1, 5}, {3, -1}}, {{3, -1}})[0]);
}

TEST(WordMean, TitlesThatAreAllAlikeAreZero) {
  const Means got = means_of({{"x y", 2010}, {"y x", 2011}, {"x, y", 2012}, {"y", 2018}});
  for (size_t i = 0; i < 3; ++i) expect_near(got.rows[i], {0, 0});
  const double x = got.idf("x");
  const double y = got.idf("y");
  const Row common = {(x + 3 * y) / (x + y), (5 * x - y) / (x + y)};
  expect_near(got.rows[3], {3 - common[0], -1 - common[1]});
}

TEST(WordMean, WithoutTrainingTitlesNothingIsTakenOff) {
  expect_near(means_of({{"y", 2018}, {"x", 2019}}).rows[0], {3, -1});
}

TEST(WordMean, LaterTitlesChangeNoRow) {
  const std::vector<TitledPaper> papers = {{"x y", 2010}, {"x", 2012}, {"w z y", 2013}};
  auto more = papers;
  more.push_back({"w w w w", 2015});
  more.push_back({"x y z w new", 2020});
  const FeatureRows without = means_of(papers).rows;
  const FeatureRows with = means_of(more).rows;
  for (size_t i = 0; i < papers.size(); ++i) EXPECT_EQ(with[i], without[i]);
  EXPECT_NE(means_of(more, 2020).rows[0], without[0]) << "within the bound they do";
}

TEST(WordMean, ReadsRowsFromAnyNodeOn) {
  const auto papers = eight_papers("x y w");
  const TestGraph graph = titled_graph(papers);
  const NodeType type = graph.type("paper");
  Vocabulary vocabulary(*graph, type, 2030, no_progress);
  WordMean source(*graph, type, vocabulary, table_for(vocabulary), 2030);
  const FeatureRows all = rows_of(source, 8);
  std::vector<float> two(4);
  std::vector<bool> missing(2);
  source.read(6, two, missing);
  EXPECT_EQ(two, (std::vector<float>{all[6][0], all[6][1], all[7][0], all[7][1]}));
}

TEST(HashedWords, AreThoseOfTheGraphStore) {
  const TestGraph graph = titled_graph({{"Deep graphs", 2010}, {"?", 2010}, {"nets", 2018}});
  HashedWords source(*graph, graph.type("paper"), 16);
  const FeatureRows rows = rows_of(source, 3);
  std::vector<float> expected(16);
  hashed_words("Deep graphs", expected);
  EXPECT_EQ(rows[0], expected);
  EXPECT_TRUE(rows[1].empty());
  hashed_words("nets", expected);
  EXPECT_EQ(rows[2], expected);
}

}  // namespace
}  // namespace hgt
