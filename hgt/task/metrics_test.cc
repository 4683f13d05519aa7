#include "hgt/task/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

constexpr double kClose = 1e-12;

using Flags = std::vector<uint8_t>;
using Scores = std::vector<float>;

// --- the measures of one order, without ties, from their definitions ---

double standard_weight(size_t rank) {
  return std::log(2.0) / std::log(static_cast<double>(rank) + 1);
}

double release_weight(size_t rank) {
  return rank <= 2 ? 1 : std::log(2.0) / std::log(static_cast<double>(rank));
}

double ndcg_of_order(const Flags& order, const std::function<double(size_t)>& weight) {
  Flags best = order;
  std::sort(best.rbegin(), best.rend());
  double sum = 0;
  double ideal = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    sum += order[i] * weight(i + 1);
    ideal += best[i] * weight(i + 1);
  }
  return sum / ideal;
}

Ranking ranking_of_order(const Flags& order) {
  const auto first = static_cast<size_t>(std::find(order.begin(), order.end(), 1) - order.begin());
  return {.ndcg = ndcg_of_order(order, standard_weight),
          .ndcg_release = ndcg_of_order(order, release_weight),
          .reciprocal_rank = 1.0 / static_cast<double>(first + 1),
          .hits_1 = first < 1 ? 1.0 : 0.0,
          .hits_3 = first < 3 ? 1.0 : 0.0,
          .hits_10 = first < 10 ? 1.0 : 0.0};
}

constexpr std::array kParts = {&Ranking::ndcg,   &Ranking::ndcg_release, &Ranking::reciprocal_rank,
                               &Ranking::hits_1, &Ranking::hits_3,       &Ranking::hits_10};

// The mean over all orders that the scores allow.
Ranking ranking_over_orders(const Scores& scores, const Flags& relevant) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Ranking sum;
  double orders = 0;
  do {
    const bool allowed = std::is_sorted(order.begin(), order.end(),
                                        [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    if (!allowed) continue;
    Flags flags;
    for (const size_t item : order) flags.push_back(relevant[item]);
    const Ranking one = ranking_of_order(flags);
    for (const auto part : kParts) sum.*part += one.*part;
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (const auto part : kParts) sum.*part /= orders;
  return sum;
}

void expect_near(const Ranking& found, const Ranking& wanted) {
  EXPECT_NEAR(found.ndcg, wanted.ndcg, kClose);
  EXPECT_NEAR(found.ndcg_release, wanted.ndcg_release, kClose);
  EXPECT_NEAR(found.reciprocal_rank, wanted.reciprocal_rank, kClose);
  EXPECT_NEAR(found.hits_1, wanted.hits_1, kClose);
  EXPECT_NEAR(found.hits_3, wanted.hits_3, kClose);
  EXPECT_NEAR(found.hits_10, wanted.hits_10, kClose);
}

// Few different scores, so that there are ties.
std::pair<Scores, Flags> random_list(Draws& draws, uint64_t most_items) {
  const uint64_t items = 1 + draws.below(most_items);
  const uint64_t levels = 1 + draws.below(4);
  Scores scores;
  Flags relevant;
  for (uint64_t i = 0; i < items; ++i) {
    scores.push_back(static_cast<float>(draws.below(levels)) - 1.5F);
    relevant.push_back(draws.below(3) == 0 ? 1 : 0);
  }
  return {scores, relevant};
}

// --- rankings ---

TEST(Ranking, OfAListWorkedByHand) {
  // In order of the scores: relevant, not, relevant, not.
  const auto found = rank(Scores{0.1F, 0.9F, 0.7F, 0.5F}, Flags{0, 1, 0, 1}).value();
  expect_near(found, {.ndcg = (1 + 1 / 2.0) / (1 + 1 / std::log2(3.0)),
                      .ndcg_release = (1 + 1 / std::log2(3.0)) / 2,
                      .reciprocal_rank = 1,
                      .hits_1 = 1,
                      .hits_3 = 1,
                      .hits_10 = 1});
  EXPECT_NEAR(found.ndcg, 0.9197207891481876, kClose);
  EXPECT_NEAR(found.ndcg_release, 0.8154648767857287, kClose);
}

TEST(Ranking, CountsAHitUpToItsRankAndNotBeyond) {
  Scores scores(12);
  std::iota(scores.rbegin(), scores.rend(), 0.0F);  // item i has rank i + 1
  for (size_t i = 0; i < scores.size(); ++i) {
    Flags relevant(scores.size(), 0);
    relevant[i] = 1;
    const auto found = rank(scores, relevant).value();
    const auto at = static_cast<double>(i + 1);
    EXPECT_EQ(found.hits_1, i < 1 ? 1 : 0) << i;
    EXPECT_EQ(found.hits_3, i < 3 ? 1 : 0) << i;
    EXPECT_EQ(found.hits_10, i < 10 ? 1 : 0) << i;
    EXPECT_NEAR(found.reciprocal_rank, 1 / at, kClose);
    EXPECT_NEAR(found.ndcg, 1 / std::log2(at + 1), kClose);
    EXPECT_NEAR(found.ndcg_release, i < 2 ? 1 : 1 / std::log2(at), kClose);
  }
}

TEST(Ranking, IsTheMeanOverAllOrdersOfTiedItems) {
  Draws draws(hash(1));
  int lists = 0;
  while (lists < 300) {
    const auto [scores, relevant] = random_list(draws, 6);
    const auto found = rank(scores, relevant);
    const bool any = std::count(relevant.begin(), relevant.end(), 1) > 0;
    ASSERT_EQ(found.has_value(), any);
    if (!any) continue;
    expect_near(*found, ranking_over_orders(scores, relevant));
    ++lists;
  }
}

TEST(Ranking, OfATieAcrossTheTenthRankIsAHitWithTheRightChance) {
  // Nine items are better; of the three tied ones, at ranks 10 to 12, one is relevant.
  Scores scores(12, 1.0F);
  std::fill_n(scores.begin(), 9, 2.0F);
  Flags relevant(12, 0);
  relevant[11] = 1;
  const auto found = rank(scores, relevant).value();
  EXPECT_NEAR(found.hits_10, 1 / 3.0, kClose);
  EXPECT_NEAR(found.reciprocal_rank, (1 / 10.0 + 1 / 11.0 + 1 / 12.0) / 3, kClose);
  relevant[10] = 1;  // now one of the first two has to be relevant
  EXPECT_NEAR(rank(scores, relevant)->hits_10, 2 / 3.0, kClose);
}

TEST(Ranking, OfConstantScoresIsExactlyChance) {
  constexpr size_t kItems = 20;
  Flags relevant(kItems, 0);
  relevant[7] = 1;
  const auto found = rank(Scores(kItems, -3.25F), relevant).value();
  double harmonic = 0;
  double weights = 0;
  for (size_t at = 1; at <= kItems; ++at) {
    harmonic += 1 / static_cast<double>(at);
    weights += standard_weight(at);
  }
  EXPECT_NEAR(found.hits_1, 1.0 / kItems, kClose);
  EXPECT_NEAR(found.hits_3, 3.0 / kItems, kClose);
  EXPECT_NEAR(found.hits_10, 10.0 / kItems, kClose);
  EXPECT_NEAR(found.reciprocal_rank, harmonic / kItems, kClose);
  EXPECT_NEAR(found.ndcg, weights / kItems, kClose);
}

TEST(Ranking, OfNothingRelevantHasNoValue) {
  EXPECT_FALSE(rank(Scores{0.5F, 0.25F}, Flags{0, 0}));
  EXPECT_FALSE(rank(Scores{}, Flags{}));
}

TEST(Ranking, OfOneCandidateOrOfRelevantOnesOnlyIsPerfect) {
  const Ranking perfect{1, 1, 1, 1, 1, 1};
  expect_near(rank(Scores{-7}, Flags{1}).value(), perfect);
  expect_near(rank(Scores{0.5F, 0.5F, 3, -1}, Flags{1, 1, 1, 1}).value(), perfect);
}

// --- area under the curve ---

TEST(AreaUnderCurve, OfAListWorkedByHand) {
  // Relevant 3 and 1, others 2 and 0: 3 beats both, 1 beats one of them.
  EXPECT_EQ(area_under_curve(Scores{3, 2, 1, 0}, Flags{1, 0, 1, 0}), 0.75);
  EXPECT_EQ(area_under_curve(Scores{0, 1, 2, 3}, Flags{0, 0, 1, 1}), 1.0);
  EXPECT_EQ(area_under_curve(Scores{0, 1, 2, 3}, Flags{1, 1, 0, 0}), 0.0);
  EXPECT_EQ(area_under_curve(Scores{1, 1, 0}, Flags{1, 0, 0}), 0.75) << "a tie counts half";
}

TEST(AreaUnderCurve, IsTheShareOfPairsInTheRightOrder) {
  Draws draws(hash(2));
  for (int list = 0; list < 300; ++list) {
    const auto [scores, relevant] = random_list(draws, 12);
    double right = 0;
    double pairs = 0;
    for (size_t a = 0; a < scores.size(); ++a) {
      for (size_t b = 0; b < scores.size(); ++b) {
        if (relevant[a] == 0 || relevant[b] == 1) continue;
        ++pairs;
        right += scores[a] > scores[b] ? 1 : scores[a] == scores[b] ? 0.5 : 0;
      }
    }
    const auto found = area_under_curve(scores, relevant);
    ASSERT_EQ(found.has_value(), pairs > 0);
    if (found) {
      EXPECT_NEAR(*found, right / pairs, kClose);
    }
  }
}

TEST(AreaUnderCurve, OfConstantScoresIsOneHalf) {
  EXPECT_EQ(area_under_curve(Scores(7, 2.5F), Flags{1, 0, 0, 1, 1, 0, 0}), 0.5);
}

TEST(AreaUnderCurve, OfOneKindAloneHasNoValue) {
  EXPECT_FALSE(area_under_curve(Scores{1, 2}, Flags{1, 1}));
  EXPECT_FALSE(area_under_curve(Scores{1, 2}, Flags{0, 0}));
  EXPECT_FALSE(area_under_curve(Scores{}, Flags{}));
}

// --- F1 ---

using Classes = std::vector<uint32_t>;

TEST(ClassCounts, OfExamplesWorkedByHand) {
  ClassCounts counts(5);
  counts.add(Classes{0}, Classes{0});
  counts.add(Classes{0}, Classes{1});
  counts.add(Classes{1}, Classes{1});
  counts.add(Classes{2}, Classes{1});
  // Class 0: precision 1, recall 1/2. Class 1: 1/3, 1. Class 2: 0. Classes 3 and 4 are nowhere.
  EXPECT_NEAR(counts.micro_f1(), 2 / 4.0, kClose) << "with one class each it is the accuracy";
  EXPECT_NEAR(counts.macro_f1(), (2 / 3.0 + 1 / 2.0 + 0) / 3, kClose);
}

TEST(ClassCounts, OfSeveralClassesToAnExampleWorkedByHand) {
  ClassCounts counts(3);
  counts.add(Classes{0, 1}, Classes{1, 2});
  counts.add(Classes{2}, Classes{});
  counts.add(Classes{}, Classes{0});
  // Right: class 1 once. Truths 3, predictions 3.
  EXPECT_NEAR(counts.micro_f1(), 2 * 1 / 6.0, kClose);
  EXPECT_NEAR(counts.macro_f1(), 1 / 3.0, kClose);
}

TEST(ClassCounts, OfNothingAreZero) {
  const ClassCounts none(4);
  EXPECT_EQ(none.micro_f1(), 0);
  EXPECT_EQ(none.macro_f1(), 0);
  ClassCounts wrong(4);
  wrong.add(Classes{1}, Classes{2});
  EXPECT_EQ(wrong.micro_f1(), 0);
  EXPECT_EQ(wrong.macro_f1(), 0);
}

std::set<uint32_t> random_classes(Draws& draws) {
  std::set<uint32_t> classes;
  for (uint64_t i = draws.below(4); i > 0; --i) {
    classes.insert(static_cast<uint32_t>(draws.below(6)));
  }
  return classes;
}

double f1(double right, double truths, double predictions) {
  if (right == 0) return 0;
  const double precision = right / predictions;
  const double recall = right / truths;
  return 2 * precision * recall / (precision + recall);
}

TEST(ClassCounts, AgreeWithPrecisionAndRecallOfEachClass) {
  Draws draws(hash(3));
  for (int round = 0; round < 100; ++round) {
    ClassCounts counts(8);
    std::array<std::array<double, 3>, 8> tables{};  // right, truths, predictions
    std::array<double, 3> all{};
    const auto note = [&](uint32_t number, size_t what) {
      ++tables[number][what];
      ++all[what];
    };
    for (int example = 0; example < 6; ++example) {
      const auto truth = random_classes(draws);
      const auto predicted = random_classes(draws);
      counts.add(Classes(truth.begin(), truth.end()), Classes(predicted.begin(), predicted.end()));
      for (const uint32_t number : truth) note(number, 1);
      for (const uint32_t number : predicted) note(number, 2);
      for (const uint32_t number : truth) {
        if (predicted.contains(number)) note(number, 0);
      }
    }
    double sum = 0;
    double present = 0;
    for (const auto& [right, truths, predictions] : tables) {
      sum += f1(right, truths, predictions);
      present += truths + predictions > 0 ? 1 : 0;
    }
    EXPECT_NEAR(counts.macro_f1(), sum / present, kClose);
    EXPECT_NEAR(counts.micro_f1(), f1(all[0], all[1], all[2]), kClose);
  }
}

// --- threshold ---

double f1_above(float threshold, const Scores& scores, const Flags& relevant) {
  double right = 0;
  double either = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const bool taken = scores[i] > threshold;
    right += taken && relevant[i] != 0 ? 1 : 0;
    either += (taken ? 1 : 0) + (relevant[i] != 0 ? 1 : 0);
  }
  return either == 0 ? 0 : 2 * right / either;
}

TEST(BestThreshold, GivesTheHighestF1OfAllThresholds) {
  Draws draws(hash(77));
  for (int list = 0; list < 500; ++list) {
    const auto [scores, relevant] = random_list(draws, 12);
    const double found = f1_above(best_threshold(scores, relevant), scores, relevant);
    double best = f1_above(-100, scores, relevant);
    for (const float score : scores) best = std::max(best, f1_above(score, scores, relevant));
    EXPECT_EQ(found, best);
  }
}

TEST(BestThreshold, LiesBetweenScoresOrBelowAllAndIsTheHighestOfEquals) {
  const Flags relevant = {1, 0, 1, 0};
  EXPECT_EQ(best_threshold(Scores{4, 1, 3, -1}, relevant), 2);
  EXPECT_EQ(best_threshold(Scores{4, 5, 3, 6}, relevant), 2) << "all";
  EXPECT_EQ(best_threshold(Scores{4, 1, 3, -1}, Flags(4, 0)), 0) << "none is relevant";
  EXPECT_EQ(best_threshold({}, {}), 0);
  EXPECT_EQ(best_threshold(Scores{9, 8, 7, 6, 5, 4}, Flags{1, 0, 0, 0, 1, 1}), 3);
  EXPECT_EQ(best_threshold(Scores{9, 7, 6, 5}, Flags{1, 0, 0, 1}), 8) << "2 / 3, and so do all";
  const float near = std::nextafter(1.0F, 2.0F);
  EXPECT_EQ(best_threshold(Scores{near, 1}, Flags{1, 0}), 1) << "nothing lies between";
}

// --- spread ---

TEST(Spread, OfValuesWorkedByHand) {
  const Spread found = spread(std::vector{2.0, 4.0, 4.0, 6.0});
  EXPECT_NEAR(found.mean, 4, kClose);
  EXPECT_NEAR(found.deviation, std::sqrt(8 / 3.0), kClose);
}

TEST(Spread, OfOneValueOrNoneIsZero) {
  EXPECT_EQ(spread(std::vector{7.5}).mean, 7.5);
  EXPECT_EQ(spread(std::vector{7.5}).deviation, 0);
  EXPECT_EQ(spread({}).mean, 0);
  EXPECT_EQ(spread({}).deviation, 0);
}

}  // namespace
}  // namespace hgt
