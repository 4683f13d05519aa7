// Successive halving against its definition, written down as loops over all trials.
#include "hgt/run/halving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hgt/random.h"

namespace hgt {
namespace {

// The score that a trial would have on a rung; some fail.
std::optional<double> score_on(uint64_t seed, const RungOfTrial& job) {
  const uint64_t bits = hash(seed, job.trial, job.rung);
  if (bits % 11 == 0) return std::nullopt;
  return static_cast<double>(bits % 20);  // with ties
}

std::vector<RungOfTrial> jobs_of(const Halving& halving, uint64_t seed, size_t most) {
  std::vector<RungOfTrial> jobs;
  RungScores scores;
  while (jobs.size() < most) {
    const auto job = next_job(halving, scores);
    if (!job) break;
    EXPECT_FALSE(scores.contains(*job)) << "nothing is trained twice";
    scores[*job] = score_on(seed, *job);
    jobs.push_back(*job);
  }
  return jobs;
}

// All jobs of one bracket: everybody on the first rung, then a third of those, and so on.
std::vector<RungOfTrial> expected_bracket(uint64_t first, uint64_t count, uint64_t rungs,
                                          uint64_t seed) {
  std::vector<RungOfTrial> jobs;
  std::vector<uint64_t> members;
  for (uint64_t i = 0; i < count; ++i) members.push_back(first + i);
  for (uint64_t rung = 0; rung < rungs; ++rung) {
    std::vector<std::pair<double, uint64_t>> ranked;
    for (const uint64_t trial : members) {
      jobs.push_back({trial, rung});
      const auto score = score_on(seed, {trial, rung});
      if (score) ranked.emplace_back(-*score, trial);
    }
    std::sort(ranked.begin(), ranked.end());  // ties: the lower number
    const size_t places = (members.size() + 2) / 3;
    members.clear();
    for (size_t i = 0; i < std::min(places, ranked.size()); ++i)
      members.push_back(ranked[i].second);
    std::sort(members.begin(), members.end());
  }
  return jobs;
}

TEST(SuccessiveHalving, TrainsWhatItsDefinitionSays) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const uint64_t trials = 1 + seed % 30;
    const uint64_t rungs = 1 + seed % 4;
    EXPECT_EQ(jobs_of({.trials = trials, .rungs = rungs}, seed, 1000),
              expected_bracket(0, trials, rungs, seed))
        << trials << " trials, " << rungs << " rungs";
  }
}

TEST(SuccessiveHalving, GoesOnBracketByBracketWhereThereIsNoEnd) {
  const Halving halving{.trials = 9, .endless = true, .rungs = 3};
  std::vector<RungOfTrial> expected;
  for (uint64_t first = 0; first < 90; first += 9) {
    for (const RungOfTrial& job : expected_bracket(first, 9, 3, 5)) expected.push_back(job);
  }
  const auto jobs = jobs_of(halving, 5, 100);
  ASSERT_EQ(jobs.size(), 100U);
  EXPECT_TRUE(std::equal(jobs.begin(), jobs.end(), expected.begin()));
}

TEST(SuccessiveHalving, RetiresWhoeverIsNeverTrainedAgain) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const Halving halving{.trials = 1 + seed % 13, .endless = seed % 2 == 0, .rungs = 3};
    const auto jobs = jobs_of(halving, seed, 40);
    RungScores scores;
    for (size_t done = 0; done < jobs.size(); ++done) {
      for (const uint64_t trial : retired(halving, scores)) {
        const bool again = std::any_of(jobs.begin() + static_cast<ptrdiff_t>(done), jobs.end(),
                                       [&](const RungOfTrial& job) { return job.trial == trial; });
        EXPECT_FALSE(again) << trial;
      }
      scores[jobs[done]] = score_on(seed, jobs[done]);
    }
    if (!halving.endless) {
      EXPECT_EQ(retired(halving, scores).size(), halving.trials) << "in the end all";
    }
  }
}

TEST(SuccessiveHalving, IsLedByTheBestOfTheHighestRung) {
  EXPECT_FALSE(leader({}).has_value());
  EXPECT_FALSE(leader({{{0, 0}, std::nullopt}}).has_value());
  EXPECT_EQ(leader({{{0, 0}, 9.0}, {{1, 0}, 2.0}, {{1, 1}, 3.0}, {{2, 1}, std::nullopt}}),
            (RungOfTrial{1, 1}));
  EXPECT_EQ(leader({{{3, 1}, 2.0}, {{4, 1}, 2.0}}), (RungOfTrial{3, 1}))
      << "of equal ones the first";
}

TEST(SuccessiveHalving, EndsRungsWithAValidation) {
  const Halving halving{.trials = 9, .rungs = 3};
  for (uint64_t steps = 1; steps < 700; steps += 3) {
    for (const uint64_t asked : {1U, 7U, 40U, 1000U}) {
      const uint64_t every = validation_interval(halving, steps, asked);
      EXPECT_GE(every, 1U);
      EXPECT_LE(every, asked);
      uint64_t before = 0;
      for (uint64_t rung = 0; rung < 3; ++rung) {
        const uint64_t end = end_of_rung(halving, rung, steps, every);
        EXPECT_TRUE(end % every == 0 || end == steps);
        EXPECT_GE(end, std::min(steps, before));
        EXPECT_NEAR(static_cast<double>(end), std::pow(3.0, static_cast<double>(rung) - 2) * steps,
                    static_cast<double>(every));
        before = end;
      }
      EXPECT_EQ(before, steps);
    }
  }
}

TEST(SuccessiveHalving, JudgesPoorTrialsOnFewerDraws) {
  const auto draws = [](uint64_t last, uint64_t rung) {
    return draws_of_rung({.trials = 9, .rungs = 3, .draws = last}, rung);
  };
  EXPECT_EQ(draws(5, 0), 1U);
  EXPECT_EQ(draws(5, 1), 2U);
  EXPECT_EQ(draws(5, 2), 5U);
  EXPECT_EQ(draws(9, 0), 1U);
  EXPECT_EQ(draws(9, 1), 3U);
  for (uint64_t rung = 0; rung < 3; ++rung) EXPECT_EQ(draws(1, rung), 1U);
}

TEST(SuccessiveHalving, CountsTheWorkOfABracket) {
  EXPECT_DOUBLE_EQ(work_of_bracket({.trials = 9, .rungs = 3}), 9 / 9. + 3 * 2 / 9. + 2 / 3.);
  EXPECT_DOUBLE_EQ(work_of_bracket({.trials = 5, .rungs = 1}), 5);
  EXPECT_DOUBLE_EQ(work_of_bracket({.trials = 5, .rungs = 1, .draws = 4}), 20);
  // Six trials on one draw; two of them further, and on two more; the best further on all, with two
  // more draws from the start.
  EXPECT_DOUBLE_EQ(work_of_bracket({.trials = 6, .rungs = 3, .draws = 5}),
                   6 / 9. + 2 * (2 / 9. + 1 / 3.) + 2 * 2 / 3. + 3);
}

}  // namespace
}  // namespace hgt
