#include "hgt/features/fasttext_words.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hgt/features/titled_test_graph.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using WordVectors = std::map<std::string, std::vector<float>>;

constexpr uint64_t kTopicWords = 60;  // of each of two topics

std::string made_up_word(uint64_t number) {
  std::string word;
  for (uint64_t i = 0; i < 6; ++i) word += static_cast<char>('a' + hash(9, number, i) % 26);
  return word;
}

// Titles of eight words of the one or the other topic. fastText passes over most words that occur
// often: few titles of few words would teach it nothing.
std::vector<TitledPaper> two_topics(uint64_t titles) {
  Draws draws(hash(5));
  std::vector<TitledPaper> papers;
  for (uint64_t i = 0; i < titles; ++i) {
    TitledPaper paper{.title = "", .year = 2010};
    for (int k = 0; k < 8; ++k) {
      paper.title += made_up_word(i % 2 * kTopicWords + draws.below(kTopicWords)) + " ";
    }
    papers.push_back(paper);
  }
  return papers;
}

class FasttextTest : public testing::Test {
 protected:
  FasttextOptions options(const std::string& kept = "kept") const {
    return {.width = 8, .epochs = 2, .threads = 1, .seed = 1, .kept = folder_ / kept};
  }
  WordVectors train(const std::vector<TitledPaper>& papers, const FasttextOptions& options,
                    const ProgressSink& progress = no_progress) const {
    const TestGraph graph = titled_graph(papers);
    const NodeType type = graph.type("paper");
    const Vocabulary vocabulary(*graph, type, 2014, no_progress);
    const WordTable table = train_fasttext(*graph, type, vocabulary, 2014, options, progress);
    EXPECT_EQ(table.width, options.width);
    WordVectors vectors;
    for (uint32_t number = 0; number < vocabulary.size(); ++number) {
      EXPECT_TRUE(table.known[number]) << vocabulary.word(number);
      const auto first = table.vectors.begin() + static_cast<ptrdiff_t>(number * table.width);
      vectors[vocabulary.word(number)] = {first, first + static_cast<ptrdiff_t>(table.width)};
    }
    return vectors;
  }

  const TestFolder folder_;
};

TEST_F(FasttextTest, TheSameSeedGivesTheSameVectors) {
  const auto papers = two_topics(300);
  const WordVectors first = train(papers, options("a"));
  EXPECT_TRUE(train(papers, options("b")) == first);
  FasttextOptions other = options("c");
  other.seed = 2;
  EXPECT_FALSE(train(papers, other) == first);
  other = options("d");
  other.epochs = 3;
  EXPECT_FALSE(train(papers, other) == first);
}

TEST_F(FasttextTest, LaterTitlesChangeNothing) {
  const auto early = two_topics(300);
  auto all = early;
  for (const TitledPaper& paper : eight_papers(early[0].title + early[1].title)) {
    if (paper.year > 2014) all.push_back(paper);
  }
  ASSERT_EQ(all.size(), 302U);
  const WordVectors without = train(early, options("a"));
  const WordVectors with = train(all, options("b"));
  for (const auto& [word, vector] : without) EXPECT_EQ(with.at(word), vector) << word;
}

TEST_F(FasttextTest, WordsOfLaterTitlesHaveAVectorToo) {
  const WordVectors vectors = train(eight_papers("Foresters"), options());
  ASSERT_TRUE(vectors.contains("foresters"));
  float sum = 0;
  for (const float value : vectors.at("foresters")) sum += std::abs(value);
  EXPECT_GT(sum, 0) << "from n-grams, such as 'fore'";
}

TEST_F(FasttextTest, TakesUpWhatWasTrained) {
  const WordVectors first = train(eight_papers(), options());
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"kept"}) << "no list of titles";
  const auto written = fs::last_write_time(folder_ / "kept");
  FasttextOptions other = options();
  other.seed = 2;  // not looked at
  EXPECT_EQ(train(eight_papers(), other,
                  [](const Progress& progress) { EXPECT_NE(progress.stage, "training fastText"); }),
            first);
  EXPECT_EQ(fs::last_write_time(folder_ / "kept"), written);
}

TEST_F(FasttextTest, TrainsAnewWhereWhatWasKeptIsNoModel) {
  write_bytes(folder_ / "kept", "torn by a power failure");
  EXPECT_EQ(train(eight_papers(), options()), train(eight_papers(), options("other")));
}

TEST_F(FasttextTest, StoppedItLeavesNothingAndCanBeginAgain) {
  EXPECT_THROW(train(eight_papers(), options(), StopAt(1)), Interrupted);
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{});
  write_bytes(folder_ / "kept.txt", "left by a killed process");
  write_bytes(folder_ / "kept.partial.1-0", "this, too");
  EXPECT_EQ(train(eight_papers(), options()), train(eight_papers(), options("other")));
}

TEST_F(FasttextTest, StopsSoonWheneverItIsAsked) {
  FasttextOptions endless = options();
  endless.epochs = 100'000;                // half an hour
  for (const uint64_t report : {1, 10}) {  // the first one comes before its training begins
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(train(two_topics(300), endless, StopAt(report)), Interrupted);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  }
}

TEST_F(FasttextTest, ReportsUntilItsEnd) {
  Progress last;
  train(eight_papers(), options(), [&](const Progress& progress) { last = progress; });
  EXPECT_EQ(last.stage, "training fastText");
  EXPECT_TRUE(last.finished);
  EXPECT_EQ(last.fraction, 1);
}

TEST_F(FasttextTest, WantsTitlesOfTheTrainingPeriod) {
  const std::string error = error_of([&] { train({{"Too late", 2015}, {"", 2010}}, options()); });
  EXPECT_TRUE(contains(error, "no node of type paper") && contains(error, "--until")) << error;
}

// --- what it learns ---

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double product = 0;
  double left = 0;
  double right = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += a[i] * b[i];
    left += a[i] * a[i];
    right += b[i] * b[i];
  }
  return product / std::sqrt(left * right);
}

TEST_F(FasttextTest, WordsOfOneTopicAreNearer) {
  FasttextOptions many = options();
  many.epochs = 60;
  const WordVectors vectors = train(two_topics(2000), many);
  std::vector<std::vector<double>> words(2 * kTopicWords);  // without what all have in common
  for (size_t i = 0; i < words.size(); ++i) {
    const auto& vector = vectors.at(made_up_word(i));
    words[i].assign(vector.begin(), vector.end());
  }
  for (size_t j = 0; j < many.width; ++j) {
    double common = 0;
    for (const auto& word : words) common += word[j] / static_cast<double>(words.size());
    for (auto& word : words) word[j] -= common;
  }
  double same = 0;
  double other = 0;
  for (uint64_t i = 0; i < kTopicWords; ++i) {
    for (uint64_t j = 0; j < kTopicWords; ++j) {
      if (i != j) same += cosine(words[i], words[j]) / (kTopicWords * (kTopicWords - 1));
      other += cosine(words[i], words[kTopicWords + j]) / (kTopicWords * kTopicWords);
    }
  }
  EXPECT_GT(same, other + 0.5) << same << " " << other;
}

}  // namespace
}  // namespace hgt
