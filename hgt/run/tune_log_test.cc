// What a search leaves: its plan, its log, and the table and picture made of them.
#include "hgt/run/tune_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/run/tune_report.h"

namespace hgt {
namespace {

TuneScore score_of_draw(uint64_t trial, uint64_t rung, uint64_t draw, std::optional<double> score,
                        double seconds = 1) {
  return {.trial = trial,
          .rung = rung,
          .draw = draw,
          .batches = 10 * (rung + 1),
          .score = score,
          .seconds = seconds,
          .drawn = {{"hidden", trial == 0 ? "64" : "128"}}};
}

TEST(TuneLogFile, GivesBackWhatWasAppended) {
  const TestFolder folder;
  const TuneLog log(folder / "tune.jsonl");
  EXPECT_TRUE(log.read().empty());
  std::vector<TuneScore> scores = {score_of_draw(0, 0, 0, 0.5), score_of_draw(1, 0, 0, {})};
  scores[1].failure = "the loss is nan";
  scores.push_back({.trial = 0, .split = Split::test, .metrics = {{"ndcg", 0.25}}});
  for (const TuneScore& score : scores) log.append(score);
  EXPECT_EQ(log.read(), scores);
  EXPECT_TRUE(has_read_test(scores));
  scores.pop_back();
  EXPECT_FALSE(has_read_test(scores));
}

TEST(TuneLogFile, DropsALineThatWasHalfWritten) {
  const TestFolder folder;
  const TuneLog log(folder / "tune.jsonl");
  log.drop_half_line();
  log.append(score_of_draw(0, 0, 0, 0.5));
  const std::string whole = read_bytes(folder / "tune.jsonl");
  write_bytes(folder / "tune.jsonl", whole + whole.substr(0, 30));
  EXPECT_EQ(log.read().size(), 1U);
  log.drop_half_line();
  EXPECT_EQ(read_bytes(folder / "tune.jsonl"), whole);
}

TEST(TuneScores, AreThoseOfTheWeightsThatARunKeeps) {
  const std::vector<LogEntry> entries = {
      {.step = 10, .validation_loss = 2, .metrics = {{"ndcg", 0.9}}},
      {.step = 20, .validation_loss = 1, .metrics = {{"ndcg", 0.5}}},
      {.step = 30, .validation_loss = 3, .metrics = {{"ndcg", 0.7}}},
      {.step = 40, .validation_loss = 0.5, .metrics = {{"ndcg", 0.6}}}};
  EXPECT_EQ(kept_score(entries, "ndcg", 30), 0.5);
  EXPECT_EQ(kept_score(entries, "loss", 30), -1);
  EXPECT_EQ(kept_score(entries, "ndcg", 40), 0.6);
  EXPECT_EQ(kept_score(entries, "ndcg", 9), std::nullopt);
}

TEST(TuneScores, AreMeansOverAllDrawsAndFailWithAnyOfThem) {
  std::vector<TuneScore> log = {
      score_of_draw(0, 0, 0, 0.25, 3), score_of_draw(0, 0, 1, 0.75, 4),
      score_of_draw(0, 1, 0, 0.5, 9),  score_of_draw(1, 0, 0, 0.5, 2),
      score_of_draw(1, 0, 1, {}, 0),   {.trial = 0, .split = Split::test}};
  const RungScores expected = {{{0, 0}, 0.5}, {{1, 0}, std::nullopt}};
  EXPECT_EQ(mean_scores(log, {.rungs = 2, .draws = 4}), expected)
      << "two draws on the first rung, four on the second, of which three are missing";
  EXPECT_DOUBLE_EQ(seconds_spent(log), 9 + 4 + 2) << "each training as far as it came";
}

class TuneReportTest : public testing::Test {
 protected:
  TuneReportTest() {
    report_.task = "paper-venue";
    report_.plan = {.options = {.trials = 3, .rungs = 2, .draws = 1, .metric = "ndcg"},
                    .draws_reason = "validation, 9 examples"};
    report_.keys = {"hidden", "width"};
    report_.rows = {{.trial = 2,
                     .batches = 40,
                     .seconds = 7,
                     .scores = {0.5, 0.75},
                     .drawn = {{"hidden", "64"}}},
                    {.trial = 0, .scores = {0.625}, .drawn = {{"hidden", "128"}, {"width", "9"}}},
                    {.trial = 1, .scores = {std::nullopt}}};
  }
  TuneReport report_;
};

TEST_F(TuneReportTest, IsATableWithTheBestOnTop) {
  const std::string text = to_markdown(report_);
  for (const char* part :
       {"paper-venue: 3 trials, ndcg on validation, 9 examples\n",
        "| trial | ndcg | rung | batches | time | hidden | width |\n",
        "| 2 | **0.7500** | 2 of 2 | 40 | 7 s | 64 |  |\n",
        "| 0 | 0.6250 | 1 of 2 | 0 | 0 s | 128 | 9 |\n", "| 1 | failed | 1 of 2 |"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "is not in\n" << text;
  }
  EXPECT_EQ(text.find("test"), std::string::npos);
  report_.test = {{"ndcg", 0.5}};
  EXPECT_NE(to_markdown(report_).find("winner on the test examples: ndcg 0.5000"),
            std::string::npos);
}

TEST_F(TuneReportTest, IsAPictureOfEveryScoreAndEveryOption) {
  const std::string svg = to_svg(report_);
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<title>trial 2: 0.7500"), 1U);
  EXPECT_EQ(count("<title>trial 2: 0.5000"), 2U) << "from rung to rung, and by its hidden size";
  EXPECT_EQ(count("<title>trial 0: 0.6250"), 3U) << "and by its width";
  EXPECT_EQ(count("<title>trial 1"), 0U) << "it failed";
  EXPECT_EQ(count(">hidden<"), 1U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  report_.rows.clear();
  EXPECT_TRUE(to_svg(report_).ends_with("</svg>\n")) << "before the first trial";
}

TEST(TunePlanFile, GivesBackThePlanAndNamesDamage) {
  const TestFolder folder;
  const TuneFolder tune(folder.path());
  EXPECT_NE(error_of([&] { read_plan(tune); }).find("no search was begun here"), std::string::npos);
  const TunePlan plan{.options = {.budget = "30m", .rungs = 4, .draws = 5, .metric = "micro_f1"},
                      .draws_reason = "validation"};
  write_plan(tune, plan);
  EXPECT_EQ(read_plan(tune), plan);
  const std::string whole = read_bytes(tune.plan_file());
  for (const std::string& text :
       {whole.substr(0, whole.size() / 2), std::string("[]"), std::string(100'000, '['),
        whole.substr(0, whole.find("4")) + "400" + whole.substr(whole.find("4") + 1)}) {
    write_bytes(tune.plan_file(), text);
    EXPECT_NE(error_of([&] { read_plan(tune); }).find("tune.json"), std::string::npos) << text;
  }
}

TEST(TuneBudget, IsANumberWithAUnit) {
  const auto seconds = [](const std::string& text) { return budget_seconds({.budget = text}); };
  EXPECT_EQ(seconds("90s"), 90);
  EXPECT_EQ(seconds("30m"), 1800);
  EXPECT_EQ(seconds("1.5h"), 5400);
  EXPECT_TRUE(std::isinf(seconds("")));
  for (const char* bad : {"30", "m", "0m", "-3h", "30 m", "30min", "nanh", "1e99h", "infs"}) {
    EXPECT_NE(error_of([&] { seconds(bad); }).find("give a number and its unit"), std::string::npos)
        << bad;
  }
  EXPECT_NE(error_of([] { check(TuneOptions{}); }).find("give --budget"), std::string::npos);
}

TEST(TuneBudget, WithoutTrialsMakesBracketsThatLeaveOneForTheEnd) {
  EXPECT_EQ(halving_of({.budget = "1h", .rungs = 3}).trials, 9U);
  EXPECT_TRUE(halving_of({.budget = "1h"}).endless);
  EXPECT_FALSE(halving_of({.trials = 27, .budget = "1h"}).endless);
}

}  // namespace
}  // namespace hgt
