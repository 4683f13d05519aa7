#include "hgt/graph/sorted_search.h"

#include <gtest/gtest.h>

#include <vector>

namespace hgt {
namespace {

TEST(SortedSearch, FindsEveryPlaceFromEveryGuess) {
  for (const size_t size : {0U, 1U, 2U, 15U, 16U, 17U, 100U, 131U}) {
    for (size_t place = 0; place <= size; ++place) {
      for (size_t guess = 0; guess <= size + 20; ++guess) {
        ASSERT_EQ(first_not_below(size, guess, [&](size_t at) { return at < place; }), place)
            << size << " from " << guess;
      }
    }
  }
}

TEST(SortedSearch, ReadsFewPlacesFromAGoodGuess) {
  constexpr size_t kSize = 1'000'000;
  for (const size_t place : {0U, 12U, 499'990U, 500'000U, 500'015U, 999'999U}) {
    int read = 0;
    first_not_below(kSize, place, [&](size_t at) {
      ++read;
      return at < place;
    });
    EXPECT_LE(read, 8) << place;
  }
}

TEST(SortedSearch, EndsInRangeWhereNothingIsSorted) {
  for (size_t guess = 0; guess < 70; ++guess) {
    for (const size_t every : {2U, 3U, 7U}) {
      const auto below = [&](size_t at) {
        EXPECT_LT(at, 64U);
        return at % every == 0;
      };
      EXPECT_LE(first_not_below(64, guess, below), 64U);
    }
  }
}

}  // namespace
}  // namespace hgt
