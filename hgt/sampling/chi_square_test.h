// For tests of what is random: do two samples, or a sample and a distribution, agree? With fixed
// seeds such a test either always passes or always fails; the limit is where one of 10,000 honest
// seeds would fail.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <ostream>
#include <utility>

namespace hgt {

template <typename Outcome>
using Counts = std::map<Outcome, uint64_t>;
template <typename Outcome>
using Probabilities = std::map<Outcome, double>;

struct ChiSquare {
  double statistic = 0;
  uint64_t cells = 0;

  // Exceeded with probability 1e-4 (Wilson and Hilferty 1931; a little too high for few cells).
  double limit() const {
    constexpr double kNormalQuantile = 3.719;
    const double degrees = static_cast<double>(cells) - 1;
    const double spread = 2 / (9 * degrees);
    return degrees * std::pow(1 - spread + kNormalQuantile * std::sqrt(spread), 3);
  }
  bool agrees() const { return cells > 1 && statistic <= limit(); }

  friend std::ostream& operator<<(std::ostream& out, const ChiSquare& test) {
    return out << "chi-square " << test.statistic << " over " << test.cells << " cells, limit "
               << test.limit();
  }
};

template <typename Outcome>
uint64_t total(const Counts<Outcome>& counts) {
  uint64_t sum = 0;
  for (const auto& [outcome, count] : counts) sum += count;
  return sum;
}

constexpr double kFewestPerCell = 10;  // rarer outcomes are thrown together

// A sample against the probabilities of all outcomes.
template <typename Outcome>
ChiSquare chi_square(const Counts<Outcome>& seen, const Probabilities<Outcome>& probabilities) {
  ChiSquare test;
  for (const auto& [outcome, count] : seen) {
    if (!probabilities.contains(outcome)) test.statistic = std::numeric_limits<double>::infinity();
  }
  const auto add = [&](double count, double expected) {
    test.statistic += (count - expected) * (count - expected) / expected;
    ++test.cells;
  };
  const auto draws = static_cast<double>(total(seen));
  double rare_count = 0;
  double rare_expected = 0;
  for (const auto& [outcome, probability] : probabilities) {
    const auto found = seen.find(outcome);
    const double count = found == seen.end() ? 0 : static_cast<double>(found->second);
    if (draws * probability >= kFewestPerCell) {
      add(count, draws * probability);
    } else {
      rare_count += count;
      rare_expected += draws * probability;
    }
  }
  if (rare_expected > 0) add(rare_count, rare_expected);
  return test;
}

// Two samples of the same size against each other.
template <typename Outcome>
ChiSquare chi_square(const Counts<Outcome>& a, const Counts<Outcome>& b) {
  std::map<Outcome, std::pair<double, double>> both;
  for (const auto& [outcome, count] : a) both[outcome].first = static_cast<double>(count);
  for (const auto& [outcome, count] : b) both[outcome].second = static_cast<double>(count);
  ChiSquare test;
  const auto add = [&](double first, double second) {
    test.statistic += (first - second) * (first - second) / (first + second);
    ++test.cells;
  };
  double rare_first = 0;
  double rare_second = 0;
  for (const auto& [outcome, counts] : both) {
    if (counts.first + counts.second >= 2 * kFewestPerCell) {
      add(counts.first, counts.second);
    } else {
      rare_first += counts.first;
      rare_second += counts.second;
    }
  }
  if (rare_first + rare_second > 0) add(rare_first, rare_second);
  return test;
}

}  // namespace hgt
