#include "hgt/insight/nearest_rows.h"

#include <fmt/format.h>
#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <unordered_set>

#include "hgt/error.h"
#include "hgt/random.h"

namespace hgt {

namespace {

constexpr size_t kLinks = 16;
constexpr size_t kBuildEffort = 200;
constexpr size_t kSearchEffort = 200;
constexpr uint64_t kIndexSeed = 100;
constexpr uint64_t kRecallStream = 0x3eca;
constexpr uint64_t kMeanStream = 0x3ea7;
constexpr uint64_t kPairs = 200000;

double euclidean_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double gap = double{a[i]} - b[i];
    sum += gap * gap;
  }
  return std::sqrt(sum);
}

double cosine_distance(std::span<const float> a, std::span<const float> b) {
  double aa = 0;
  double bb = 0;
  double ab = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
    ab += double{a[i]} * b[i];
  }
  if (aa == 0 || bb == 0) return aa == bb ? 0 : 1;
  return std::max(0.0, 1 - ab / std::sqrt(aa * bb));
}

void scale_to_one(std::span<float> vector) {
  double sum = 0;
  for (const float x : vector) sum += double{x} * x;
  if (sum == 0) return;
  const double factor = 1 / std::sqrt(sum);
  for (float& x : vector) x = static_cast<float>(x * factor);
}

bool nearer(const NearRow& a, const NearRow& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
}

}  // namespace

struct NearestRows::Index {
  Index(size_t width, size_t rows)
      : space(width), graph(&space, rows, kLinks, kBuildEffort, kIndexSeed) {
    graph.ef_ = kSearchEffort;
  }
  hnswlib::L2Space space;
  hnswlib::HierarchicalNSW<float> graph;
};

NearestRows::NearestRows(std::vector<float> vectors, uint64_t width, Distance distance,
                         uint64_t exact_rows)
    : vectors_(std::move(vectors)),
      width_(width),
      distance_(distance),
      rows_(static_cast<uint32_t>(width == 0 ? 0 : vectors_.size() / width)) {
  assert(width > 0 && vectors_.size() % width == 0);
  if (distance == Distance::cosine) {  // then the index, which is Euclidean, finds the same rows
    for (uint32_t row = 0; row < rows_; ++row) {
      scale_to_one(std::span(vectors_).subspan(row * width_, width_));
    }
  }
  mean_distance_ = measured_mean();
  if (rows_ <= exact_rows) return;
  index_ = std::make_unique<Index>(width, rows_);
  for (uint32_t row = 0; row < rows_; ++row) index_->graph.addPoint(vector(row).data(), row);
  recall_ = measured_recall();
}

NearestRows::NearestRows(NearestRows&&) noexcept = default;
NearestRows::~NearestRows() = default;

double NearestRows::distance(std::span<const float> a, std::span<const float> b) const {
  return distance_ == Distance::euclidean ? euclidean_distance(a, b) : cosine_distance(a, b);
}

std::vector<NearRow> NearestRows::nearest(std::span<const float> vector, uint64_t count) const {
  assert(vector.size() == width_);
  std::vector<float> scaled(vector.begin(), vector.end());
  if (distance_ == Distance::cosine) scale_to_one(scaled);
  if (index_ == nullptr) return nearest_of_all(scaled, count);
  auto found = index_->graph.searchKnn(scaled.data(), std::min<uint64_t>(count, rows_));
  std::vector<NearRow> rows;
  for (; !found.empty(); found.pop()) {
    const auto row = static_cast<uint32_t>(found.top().second);
    rows.push_back({row, distance(scaled, this->vector(row))});
  }
  std::sort(rows.begin(), rows.end(), nearer);
  return rows;
}

std::vector<NearRow> NearestRows::nearest_of_all(std::span<const float> vector,
                                                 uint64_t count) const {
  std::vector<NearRow> rows(rows_);
  for (uint32_t row = 0; row < rows_; ++row) rows[row] = {row, distance(vector, this->vector(row))};
  const auto end = rows.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(count, rows_));
  std::partial_sort(rows.begin(), end, rows.end(), nearer);
  rows.erase(end, rows.end());
  return rows;
}

double NearestRows::measured_recall() const {
  constexpr uint64_t kQueries = 100;
  constexpr uint64_t kNearest = 10;
  Draws draws(hash(kRecallStream, rows_));
  uint64_t hits = 0;
  uint64_t all = 0;
  for (uint64_t i = 0; i < kQueries; ++i) {
    const auto own = static_cast<uint32_t>(draws.below(rows_));
    std::unordered_set<uint32_t> found;
    for (const NearRow& row : nearest(vector(own), kNearest + 1)) found.insert(row.row);
    for (const NearRow& row : nearest_of_all(vector(own), kNearest + 1)) {
      if (row.row == own) continue;
      hits += found.contains(row.row) ? 1U : 0U;
      ++all;
    }
  }
  return static_cast<double>(hits) / static_cast<double>(all);
}

double NearestRows::measured_mean() const {
  if (rows_ < 2) return 0;
  const uint64_t pairs = uint64_t{rows_} * (rows_ - 1) / 2;
  double sum = 0;
  if (pairs <= kPairs) {
    for (uint32_t a = 0; a < rows_; ++a) {
      for (uint32_t b = 0; b < a; ++b) sum += distance(vector(a), vector(b));
    }
    return sum / static_cast<double>(pairs);
  }
  Draws draws(hash(kMeanStream, rows_));
  for (uint64_t i = 0; i < kPairs; ++i) {
    const auto a = static_cast<uint32_t>(draws.below(rows_));
    const auto other = static_cast<uint32_t>(draws.below(rows_ - 1));
    sum += distance(vector(a), vector(other < a ? other : other + 1));
  }
  return sum / static_cast<double>(kPairs);
}

}  // namespace hgt
