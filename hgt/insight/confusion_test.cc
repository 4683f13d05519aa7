// Confusions: counted by hand, and of trained runs against their accuracy.
#include "hgt/insight/confusion.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hgt/insight/insight_test_runs.h"

namespace hgt {
namespace {

using ConfusionCounts = std::vector<std::vector<uint64_t>>;
using ClassNames = std::vector<std::string>;

std::string letter(uint32_t number) { return std::string(1, static_cast<char>('a' + number)); }

TEST(Confusion, CountsTruthsByPredictions) {
  const std::vector<ClassAnswer> answers = {{{1}, 1}, {{1}, 0}, {{1}, 1}, {{0}, 2}, {{2}, 2}};
  const Confusion counted = count_confusion(answers, 12, letter);
  EXPECT_EQ(counted.examples, 5U);
  EXPECT_EQ(counted.classes, (ClassNames{"b", "a", "c"}));  // by examples, then by number
  EXPECT_EQ(counted.counts, (ConfusionCounts{{2, 1, 0}, {0, 0, 1}, {0, 0, 1}}));
}

TEST(Confusion, CountsSeveralTruthsOnceForTheOneThatWasPredictedElseForTheFirst) {
  const std::vector<ClassAnswer> answers = {{{0, 2}, 2}, {{0, 2}, 1}, {{1, 2}, 0}};
  const Confusion counted = count_confusion(answers, 12, letter);
  EXPECT_EQ(counted.classes, (ClassNames{"a", "b", "c"}));
  EXPECT_EQ(counted.counts, (ConfusionCounts{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}));
}

TEST(Confusion, PutsTheSmallestClassesTogether) {
  const std::vector<ClassAnswer> answers = {{{4}, 4}, {{4}, 4}, {{4}, 3}, {{3}, 3},
                                            {{3}, 0}, {{0}, 1}, {{1}, 4}, {{2}, 2}};
  const Confusion counted = count_confusion(answers, 2, letter);
  EXPECT_EQ(counted.classes, (ClassNames{"e", "d", "others"}));
  EXPECT_EQ(counted.counts, (ConfusionCounts{{2, 1, 0}, {0, 1, 1}, {1, 0, 2}}));
  const Confusion together = count_confusion(answers, 0, letter);
  EXPECT_EQ(together.classes, (ClassNames{"others"}));
  EXPECT_EQ(together.counts, (ConfusionCounts{{8}}));
  EXPECT_EQ(count_confusion(answers, 4, letter).classes.back(), "others");
  EXPECT_EQ(count_confusion(answers, 5, letter).classes.back(), "c");
}

TEST(Confusion, ShowsOnlyClassesThatOccur) {
  const Confusion counted = count_confusion({{{7}, 5}}, 12, letter);
  EXPECT_EQ(counted.classes, (ClassNames{"h", "f"}));
  EXPECT_EQ(counted.counts, (ConfusionCounts{{0, 1}, {0, 0}}));
  const Confusion none = count_confusion({}, 12, letter);
  EXPECT_EQ(none.examples, 0U);
  EXPECT_TRUE(none.classes.empty() && none.counts.empty());
}

TEST(Confusion, OfARunHasItsAccuracyOnTheDiagonal) {
  hgt::Run& run = tiny_run();
  const uint64_t all = run.task().num_examples(Split::test);
  const auto counted = count_confusion(run, Split::test, {.classes = 1000});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->examples, all);
  uint64_t right = 0;
  uint64_t sum = 0;
  for (size_t truth = 0; truth < counted->counts.size(); ++truth) {
    right += counted->counts[truth][truth];
    for (const uint64_t count : counted->counts[truth]) sum += count;
  }
  EXPECT_EQ(sum, all);
  std::map<std::string, double> metrics;
  for (const auto& [name, value] : run.evaluate(Split::test, {}).metrics) {
    metrics[name] = value.mean;
  }
  EXPECT_NEAR(static_cast<double>(right) / static_cast<double>(all), metrics.at("accuracy"), 1e-9);
  // Rows: how many examples have each venue.
  std::map<std::string, uint64_t> sizes;
  std::vector<uint32_t> examples(all);
  for (uint32_t i = 0; i < all; ++i) examples[i] = i;
  const Question question = run.task().question(Split::test, examples, Task::kNoDraw);
  for (const uint32_t number : question.answers) ++sizes[run.task().class_name(number)];
  for (size_t truth = 0; truth < counted->counts.size(); ++truth) {
    uint64_t row = 0;
    for (const uint64_t count : counted->counts[truth]) row += count;
    EXPECT_EQ(row, sizes[counted->classes[truth]]) << counted->classes[truth];
  }
}

TEST(Confusion, OfARunLooksAtSoManyExamplesOfTheSplit) {
  const hgt::Run& run = tiny_run();
  const auto counted = count_confusion(run, Split::validation, {.examples = 9, .classes = 3});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->examples, 9U);
  EXPECT_EQ(counted->classes.size(), 4U);
}

TEST(Confusion, OfExamplesWithSeveralClassesCountsEachOnce) {
  const hgt::Run& run = tiny_run({.task = "paper-field-L1"});
  ASSERT_TRUE(run.task().has_several_answers());
  const auto counted = count_confusion(run, Split::test, {});
  ASSERT_TRUE(counted);
  uint64_t sum = 0;
  for (const auto& row : counted->counts) {
    for (const uint64_t count : row) sum += count;
  }
  EXPECT_EQ(sum, run.task().num_examples(Split::test));
}

TEST(Confusion, NeedsClasses) {
  const hgt::Run& run = tiny_run({.task = "author-disambiguation", .layers = 2});
  EXPECT_FALSE(count_confusion(run, Split::test, {}));
}

}  // namespace
}  // namespace hgt
