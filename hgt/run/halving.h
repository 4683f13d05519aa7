// Successive halving: many trials are trained for a short while, the better ones go on for longer,
// and few to the end (Jamieson and Talwalkar, AISTATS 2016). What comes next is a function of the
// scores so far, so a search that was stopped goes on as if it had not been.
//
//   const Halving halving{.trials = 27, .rungs = 3};
//   while (const auto job = next_job(halving, scores)) scores[*job] = ...;
//   const std::optional<RungOfTrial> best = leader(scores);
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hgt {

struct Halving {
  uint64_t trials = 9;   // that begin together and compete: a bracket
  bool endless = false;  // one bracket after the other, instead of one only
  uint64_t rungs = 3;    // the last one is the whole training, each before it a third of the next
  uint64_t draws = 1;  // trainings of a trial on the last rung, each judged on examples of its own
  static constexpr uint64_t kFactor = 3;  // of those scored on a rung, one in so many goes on
};

// A trial that is trained up to the end of a rung. Rungs count from 0.
struct RungOfTrial {
  uint64_t trial = 0;
  uint64_t rung = 0;
  friend auto operator<=>(const RungOfTrial&, const RungOfTrial&) = default;
};

// The higher the better. No value: its training failed, so it is never promoted.
using RungScores = std::map<RungOfTrial, std::optional<double>>;

// What is to be trained and scored next. No value: nothing is left.
std::optional<RungOfTrial> next_job(const Halving& halving, const RungScores& scores);

// Trials that have scores and will not be trained further.
std::vector<uint64_t> retired(const Halving& halving, const RungScores& scores);

// The best on the highest rung that anyone has a score on; of equal ones the first. No value: there
// is none.
std::optional<RungOfTrial> leader(const RungScores& scores);

// The share of the whole training that ends with a rung: 1/9, 1/3, 1.
double share_of_rung(const Halving& halving, uint64_t rung);

// Batches after which a rung of a training ends: with a validation, after every `every` batches.
uint64_t end_of_rung(const Halving& halving, uint64_t rung, uint64_t steps, uint64_t every);
// Batches between validations: as asked for, but at least one on the first rung.
uint64_t validation_interval(const Halving& halving, uint64_t steps, uint64_t asked);

// On a rung that is a third of the training, a third of the draws is enough: all trials are judged
// on the same ones, and poor trials are far behind.
uint64_t draws_of_rung(const Halving& halving, uint64_t rung);
// The share of a whole training that a draw of a trial is trained to get from rung to rung.
double work_of_draw(const Halving& halving, uint64_t rung, uint64_t draw);
// How much a bracket trains in all, in whole trainings.
double work_of_bracket(const Halving& halving);

}  // namespace hgt
