// NearestRows against plain loops.
#include "hgt/insight/nearest_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

using Vectors = std::vector<float>;

Vectors random_vectors(uint64_t rows, uint64_t width, uint64_t seed) {
  Draws draws(hash(seed));
  Vectors vectors(rows * width);
  for (float& x : vectors) x = static_cast<float>(2 * draws.unit() - 1);
  return vectors;
}

std::span<const float> row_of(const Vectors& vectors, uint64_t width, uint64_t row) {
  return std::span(vectors).subspan(row * width, width);
}

// The definition, in double.
double plain_distance(std::span<const float> a, std::span<const float> b, Distance distance) {
  double squared = 0;
  double dot = 0;
  double a_norm = 0;
  double b_norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    squared += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    dot += double{a[i]} * b[i];
    a_norm += double{a[i]} * a[i];
    b_norm += double{b[i]} * b[i];
  }
  if (distance == Distance::euclidean) return std::sqrt(squared);
  return 1 - dot / std::sqrt(a_norm) / std::sqrt(b_norm);
}

// All rows, nearest first: by looking for the nearest one again and again.
std::vector<NearRow> plain_order(const Vectors& vectors, uint64_t width, std::span<const float> to,
                                 Distance distance) {
  std::vector<NearRow> order;
  for (uint32_t row = 0; row < vectors.size() / width; ++row) {
    const double far = plain_distance(to, row_of(vectors, width, row), distance);
    size_t place = 0;
    while (place < order.size() && order[place].distance <= far) ++place;
    order.insert(order.begin() + static_cast<ptrdiff_t>(place), {row, far});
  }
  return order;
}

std::set<uint32_t> rows_in(const std::vector<NearRow>& found) {
  std::set<uint32_t> rows;
  for (const NearRow& row : found) rows.insert(row.row);
  return rows;
}

// --- exact ---

TEST(NearestRows, AreThoseThatAPlainLoopFinds) {
  for (const Distance distance : {Distance::euclidean, Distance::cosine}) {
    const Vectors vectors = random_vectors(60, 5, 1);
    const NearestRows rows(vectors, 5, distance);
    EXPECT_TRUE(rows.is_exact());
    EXPECT_EQ(rows.recall(), 1);
    EXPECT_EQ(rows.rows(), 60U);
    for (uint64_t i = 0; i < 10; ++i) {
      const Vectors query = random_vectors(1, 5, 100 + i);
      const auto expected = plain_order(vectors, 5, query, distance);
      const auto found = rows.nearest(query, 1 + i);
      ASSERT_EQ(found.size(), 1 + i);
      for (size_t k = 0; k < found.size(); ++k) {
        EXPECT_EQ(found[k].row, expected[k].row);
        EXPECT_NEAR(found[k].distance, expected[k].distance, 1e-6);
      }
    }
  }
}

TEST(NearestRows, AreAllRowsWhenMoreAreWanted) {
  const NearestRows rows(random_vectors(7, 3, 2), 3, Distance::euclidean);
  const Vectors query = random_vectors(1, 3, 3);
  EXPECT_EQ(rows_in(rows.nearest(query, 1000)).size(), 7U);
  EXPECT_TRUE(rows.nearest(query, 0).empty());
  EXPECT_TRUE(NearestRows({}, 3, Distance::euclidean).nearest(query, 5).empty());
}

TEST(NearestRows, AreInTheirOrderWhereTheyAreEquallyFar) {
  const NearestRows rows({1, 0, 0, 1, -1, 0, 0, -1, 3, 0, 1, 0}, 2, Distance::euclidean);
  const Vectors middle = {0, 0};
  const std::vector<NearRow> found = rows.nearest(middle, 5);
  EXPECT_EQ(found, (std::vector<NearRow>{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {5, 1}}));
}

TEST(NearestRows, DoNotDependOnLengthsWhereCosinesAreCompared) {
  const Vectors vectors = random_vectors(40, 4, 4);
  Vectors scaled = vectors;
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= static_cast<float>(1 + i / 4 * 10);
  const NearestRows rows(vectors, 4, Distance::cosine);
  const NearestRows other(scaled, 4, Distance::cosine);
  Vectors query = random_vectors(1, 4, 5);
  const auto found = rows.nearest(query, 40);
  for (float& x : query) x *= 1000;
  const auto again = other.nearest(query, 40);
  ASSERT_EQ(again.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(again[i].row, found[i].row);
    EXPECT_NEAR(again[i].distance, found[i].distance, 1e-6);
  }
  EXPECT_NEAR(other.mean_distance(), rows.mean_distance(), 1e-6);
  EXPECT_NEAR(rows.distance(Vectors{1, 2, 3, 4}, Vectors{2, 4, 6, 8}), 0, 1e-12);
  EXPECT_NEAR(rows.distance(Vectors{1, 0, 0, 0}, Vectors{-5, 0, 0, 0}), 2, 1e-12);
}

TEST(NearestRows, PutTheZeroVectorAtARightAngleToAllOthers) {
  const NearestRows rows({0, 0, 1, 0, 0, 1, -1, 0}, 2, Distance::cosine);
  const std::vector<NearRow> near = rows.nearest(Vectors{2, 0}, 4);
  EXPECT_EQ(near, (std::vector<NearRow>{{1, 0}, {0, 1}, {2, 1}, {3, 2}}));
  const std::vector<NearRow> zero = rows.nearest(Vectors{0, 0}, 2);
  EXPECT_EQ(zero, (std::vector<NearRow>{{0, 0}, {1, 1}}));
}

TEST(NearestRows, GiveTheirVectorsBack) {
  const Vectors vectors = random_vectors(5, 3, 6);
  const NearestRows rows(vectors, 3, Distance::euclidean);
  const auto got = rows.vector(4);
  EXPECT_EQ(Vectors(got.begin(), got.end()), Vectors(vectors.end() - 3, vectors.end()));
  const NearestRows scaled({3, 4}, 2, Distance::cosine);
  EXPECT_NEAR(scaled.vector(0)[0], 0.6, 1e-6);
  EXPECT_NEAR(scaled.vector(0)[1], 0.8, 1e-6);
}

// --- mean distance ---

TEST(NearestRows, KnowTheMeanDistanceOfTheirPairs) {
  const NearestRows line({0, 1, 3}, 1, Distance::euclidean);
  EXPECT_DOUBLE_EQ(line.mean_distance(), 2);  // 1, 3, 2
  const NearestRows angles({1, 0, 0, 2, -3, 0}, 2, Distance::cosine);
  EXPECT_NEAR(angles.mean_distance(), 4.0 / 3, 1e-12);  // 1, 2, 1
  EXPECT_EQ(NearestRows({1}, 1, Distance::euclidean).mean_distance(), 0);
  EXPECT_EQ(NearestRows({}, 1, Distance::euclidean).mean_distance(), 0);
  EXPECT_EQ(NearestRows({2, 2, 2}, 1, Distance::euclidean).mean_distance(), 0);
}

TEST(NearestRows, DrawPairsForTheMeanWhereThereAreManyAndNeverARowWithItself) {
  const Vectors vectors = random_vectors(1000, 2, 7);  // 499,500 pairs
  double sum = 0;
  for (uint32_t a = 0; a < 1000; ++a) {
    for (uint32_t b = 0; b < a; ++b) {
      sum += plain_distance(row_of(vectors, 2, a), row_of(vectors, 2, b), Distance::euclidean);
    }
  }
  const NearestRows rows(vectors, 2, Distance::euclidean);
  EXPECT_NEAR(rows.mean_distance(), sum / 499500, 0.005);
  EXPECT_NE(rows.mean_distance(), sum / 499500);
  // Corners of a simplex are all equally far: a row with itself would show.
  Vectors corners(uint64_t{700} * 700, 0);
  for (size_t i = 0; i < 700; ++i) corners[i * 701] = 1;
  EXPECT_NEAR(NearestRows(corners, 700, Distance::euclidean).mean_distance(), std::sqrt(2.0), 1e-9);
}

// --- the index ---

class IndexOfRows : public testing::TestWithParam<Distance> {
 protected:
  static constexpr uint64_t kRows = 2000;
  static constexpr uint64_t kWidth = 12;
  const Vectors vectors_ = random_vectors(kRows, kWidth, 8);
  const NearestRows exact_{vectors_, kWidth, GetParam()};
  NearestRows index_{vectors_, kWidth, GetParam(), 500};
};
INSTANTIATE_TEST_SUITE_P(Distances, IndexOfRows,
                         testing::Values(Distance::euclidean, Distance::cosine),
                         [](const auto& test) { return std::string(to_string(test.param)); });

// Share of the ten others that are truly nearest to some rows that an index finds.
double plain_recall(const NearestRows& index, const NearestRows& exact) {
  uint64_t hits = 0;
  uint64_t all = 0;
  for (uint32_t query = 0; query < exact.rows(); query += 5) {
    const std::set<uint32_t> found = rows_in(index.nearest(exact.vector(query), 11));
    std::set<uint32_t> others = rows_in(exact.nearest(exact.vector(query), 11));
    others.erase(query);
    for (const uint32_t row : others) hits += found.contains(row) ? 1U : 0U;
    all += others.size();
  }
  return static_cast<double>(hits) / static_cast<double>(all);
}

TEST_P(IndexOfRows, FindsNearlyAllOfTheNearestAndSaysHowMany) {
  ASSERT_FALSE(index_.is_exact());
  EXPECT_GE(index_.recall(), 0.9);
  EXPECT_LE(index_.recall(), 1);
  EXPECT_NEAR(plain_recall(index_, exact_), index_.recall(), 0.01);
}

// Of rows that are equally near, the first count as the nearest: an index finds any of them.
TEST_P(IndexOfRows, SaysSoWhereItMissesSome) {
  const Vectors corners = {1, 0, 0, 1, -1, 0, 0, -1};
  Vectors many;
  for (int i = 0; i < 200; ++i) many.insert(many.end(), corners.begin(), corners.end());
  const NearestRows index(many, 2, GetParam(), 100);
  EXPECT_LT(index.recall(), 0.5);
  EXPECT_NEAR(plain_recall(index, NearestRows(many, 2, GetParam())), index.recall(), 0.1);
}

// Each row is alone on its spot, and the others are all equally far from it. One in ten is found by
// itself, which is no merit.
TEST(NearestRows, DoNotCountARowAmongItsOwnNearest) {
  constexpr uint64_t kCorners = 1000;
  Vectors corners(kCorners * kCorners, 0);
  for (size_t i = 0; i < kCorners; ++i) corners[i * (kCorners + 1)] = 1;
  const NearestRows index(corners, kCorners, Distance::euclidean, 100);
  EXPECT_LT(index.recall(), 0.08);
}

TEST_P(IndexOfRows, GivesTheDistancesThatTheExactSearchGives) {
  EXPECT_EQ(index_.mean_distance(), exact_.mean_distance());
  const auto to = row_of(vectors_, kWidth, 17);
  const auto found = index_.nearest(to, 300);
  ASSERT_EQ(found.size(), 300U);
  EXPECT_EQ(found.front().row, 17U);
  EXPECT_NEAR(found.front().distance, 0, 1e-6);
  for (size_t i = 1; i < found.size(); ++i) {
    EXPECT_LE(found[i - 1].distance, found[i].distance);
    EXPECT_NEAR(found[i].distance,
                plain_distance(to, row_of(vectors_, kWidth, found[i].row), GetParam()), 1e-6);
  }
  EXPECT_EQ(index_.nearest(to, 300), found);
}

TEST_P(IndexOfRows, AnswersTheSameAfterItWasMoved) {
  const auto to = row_of(vectors_, kWidth, 3);
  const auto found = index_.nearest(to, 5);
  const double recall = index_.recall();
  const NearestRows moved(std::move(index_));
  EXPECT_EQ(moved.nearest(to, 5), found);
  EXPECT_EQ(moved.recall(), recall);
  EXPECT_EQ(moved.rows(), kRows);
  EXPECT_FALSE(moved.is_exact());
}

TEST(NearestRows, HaveAnIndexAboveTheNumberThatIsSearchedOneByOne) {
  const Vectors vectors = random_vectors(50, 3, 9);
  EXPECT_TRUE(NearestRows(vectors, 3, Distance::euclidean, 50).is_exact());
  EXPECT_FALSE(NearestRows(vectors, 3, Distance::euclidean, 49).is_exact());
  const NearestRows index(vectors, 3, Distance::euclidean, 49);
  EXPECT_EQ(index.nearest(row_of(vectors, 3, 0), 100).size(), 50U);
}

TEST(DistanceName, IsReadBackAndOthersAreRefused) {
  for (const Distance distance : {Distance::euclidean, Distance::cosine}) {
    EXPECT_EQ(from_word<Distance>(to_string(distance)), distance);
  }
  EXPECT_EQ(error_of([] { from_word<Distance>("manhattan"); }),
            "unknown distance 'manhattan'; choose one of euclidean, cosine");
}

}  // namespace
}  // namespace hgt
