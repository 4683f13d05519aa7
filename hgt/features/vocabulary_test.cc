#include "hgt/features/vocabulary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hgt/features/titled_test_graph.h"

namespace hgt {
namespace {

TestGraph graph_of_five() {
  return titled_graph({{"Deep graphs, DEEP nets", 2010},
                       {"graphs", 2014},
                       {"...", 2010},
                       {"later graphs words", 2015},
                       {"nets without year"}});
}

Vocabulary vocabulary_of(const TestGraph& graph, Time until) {
  return {*graph, graph.type("paper"), until, no_progress};
}

TEST(Vocabulary, NumbersTheWordsOfAllTitles) {
  const Vocabulary words = vocabulary_of(graph_of_five(), 2014);
  EXPECT_EQ(words.size(), 7U);
  for (const char* word : {"deep", "graphs", "nets", "later", "words", "without", "year"}) {
    const auto number = words.find(word);
    ASSERT_TRUE(number.has_value()) << word;
    EXPECT_EQ(words.word(*number), word);
  }
  EXPECT_EQ(words.find("Deep"), std::nullopt);
  EXPECT_EQ(words.find(""), std::nullopt);
}

TEST(Vocabulary, WeighsWordsByTitlesOfTheTrainingPeriod) {
  const Vocabulary words = vocabulary_of(graph_of_five(), 2014);
  EXPECT_EQ(words.titles(), 3U) << "one has no word, one is late; without a year is not late";
  const auto idf = [&](const char* word) { return words.idf(words.find(word).value()); };
  EXPECT_FLOAT_EQ(idf("deep"), std::log(4.0F / 2.0F) + 1) << "twice in a title counts once";
  EXPECT_FLOAT_EQ(idf("graphs"), std::log(4.0F / 3.0F) + 1) << "the late title does not count";
  EXPECT_FLOAT_EQ(idf("nets"), std::log(4.0F / 3.0F) + 1);
  EXPECT_FLOAT_EQ(idf("later"), std::log(4.0F) + 1);
}

TEST(Vocabulary, WithoutABoundCountsAll) {
  const Vocabulary words = vocabulary_of(graph_of_five(), std::numeric_limits<Time>::max());
  EXPECT_EQ(words.titles(), 4U);
  EXPECT_FLOAT_EQ(words.idf(words.find("graphs").value()), std::log(5.0F / 4.0F) + 1);
}

TEST(Vocabulary, OfNoTitlesIsEmpty) {
  const TestGraph graph = titled_graph({{"", 2010}});
  EXPECT_EQ(vocabulary_of(graph, 2014).size(), 0U);
  EXPECT_EQ(vocabulary_of(titled_graph({}), 2014).titles(), 0U);
}

TEST(Vocabulary, CanBeStopped) {
  const TestGraph graph = graph_of_five();
  EXPECT_THROW(Vocabulary(*graph, graph.type("paper"), 2014, StopAt(1)), Interrupted);
}

TEST(IsLater, ComparesWithTheBoundItself) {
  const TestGraph graph = graph_of_five();
  EXPECT_FALSE(is_later(*graph, graph.type("paper"), 1, 2014));
  EXPECT_TRUE(is_later(*graph, graph.type("paper"), 3, 2014));
  EXPECT_FALSE(is_later(*graph, graph.type("paper"), 4, -5000)) << "no year";
  EXPECT_FALSE(is_later(*graph, graph.type("author"), 0, -5000)) << "a type without times";
}

}  // namespace
}  // namespace hgt
