// The nearest among many vectors: by looking at all of them, or, where there are many, through an
// approximate index (HNSW, Malkov and Yashunin 2018) whose recall is measured when it is built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hgt/enum_words.h"

namespace hgt {

enum class Distance { euclidean, cosine };
constexpr auto words_of(Distance) {
  return enum_words<Distance>("distance",
                              {{Distance::euclidean, "euclidean"}, {Distance::cosine, "cosine"}});
}

struct NearRow {
  uint32_t row = 0;
  double distance = 0;  // Euclidean, or 1 - cosine; between the zero vector and another: 1
  friend bool operator==(const NearRow&, const NearRow&) = default;
};

class NearestRows {
 public:
  static constexpr uint64_t kExactRows = 20000;  // more: an index

  // `vectors`: [rows * width].
  NearestRows(std::vector<float> vectors, uint64_t width, Distance distance,
              uint64_t exact_rows = kExactRows);
  NearestRows(NearestRows&&) noexcept;
  ~NearestRows();

  // The `count` rows nearest to a vector of that width, nearest first, ties by row.
  std::vector<NearRow> nearest(std::span<const float> vector, uint64_t count) const;
  double distance(std::span<const float> a, std::span<const float> b) const;
  // Over all pairs of rows, or 200,000 drawn ones; 0: fewer than two rows.
  double mean_distance() const { return mean_distance_; }

  // Of length one where cosines are compared.
  std::span<const float> vector(uint32_t row) const {
    return std::span(vectors_).subspan(row * width_, width_);
  }
  uint32_t rows() const { return rows_; }
  bool is_exact() const { return index_ == nullptr; }
  // Of some rows, the share of the ten others that are nearest which is found; exact: 1.
  double recall() const { return recall_; }

 private:
  struct Index;
  std::vector<NearRow> nearest_of_all(std::span<const float> vector, uint64_t count) const;
  double measured_recall() const;
  double measured_mean() const;

  std::vector<float> vectors_;
  uint64_t width_;
  Distance distance_;
  uint32_t rows_;
  std::unique_ptr<Index> index_;
  double recall_ = 1;
  double mean_distance_ = 0;
};

}  // namespace hgt
