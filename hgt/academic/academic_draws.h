// What the parts of the synthetic academic graph share: the names of the random streams, ranges of
// consecutive numbers, and draws by weight.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

#include "hgt/random.h"

namespace hgt {

// Every random quantity is hash(seed, Tag, index...): one stream for each of these.
enum class Tag : uint64_t {
  paper_ids = 1,
  author_ids,
  field_ids,
  venue_ids,
  institute_ids,
  topic_size,
  paper_weights,
  paper_fields,
  reference,
  any_reference,
  venue_topics,
  stable_topics,
  venue_midpoint,
  venue_kind,
  paper_venue,
  productivity,
  team,
  affiliation,
  affiliation_count,
  group_institute,
  topic_institute,
  common_name,
  own_name,
  title,
  word,
};

// The numbers begin, begin + 1, ..., end - 1.
struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;

  constexpr uint64_t size() const { return end - begin; }
  constexpr bool empty() const { return begin >= end; }
  constexpr bool contains(uint64_t number) const { return number >= begin && number < end; }
};

// Each number of a non-empty range with the same probability.
inline uint64_t draw_from(const Range& range, Draws& draws) {
  return range.begin + draws.below(range.size());
}

// The front of a non-empty range is preferred: the place is the square of a uniform number.
inline uint64_t draw_front(const Range& range, Draws& draws) {
  const double place = draws.unit();
  return range.begin + static_cast<uint64_t>(place * place * static_cast<double>(range.size()));
}

// Draws item i with probability weight_i / total.
class WeightTable {
 public:
  void add(uint64_t weight) { sums_.push_back(total() + weight); }
  uint64_t size() const { return sums_.size(); }
  uint64_t total() const { return sums_.empty() ? 0 : sums_.back(); }

  // Requires total() > 0.
  uint64_t draw(Draws& draws) const {
    const uint64_t at = draws.below(total());
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
    return static_cast<uint64_t>(found - sums_.begin());
  }

 private:
  std::vector<uint64_t> sums_;  // of the weights up to and including item i
};

// The weight of a rank under Zipf's law; `offset` flattens the head.
constexpr uint64_t zipf_weight(uint64_t rank, uint64_t offset) {
  return (uint64_t{1} << 32U) / (rank + offset);
}

inline WeightTable zipf_table(uint64_t size, uint64_t offset) {
  WeightTable table;
  for (uint64_t rank = 0; rank < size; ++rank) table.add(zipf_weight(rank, offset));
  return table;
}

// Appends draw(0), draw(1), ... to `chosen`, leaving out what it holds already, until it has
// `wanted` items or the attempts are used up.
template <typename Draw>
void fill_distinct(std::vector<uint64_t>& chosen, uint64_t wanted, uint64_t attempts, Draw draw) {
  for (uint64_t attempt = 0; chosen.size() < wanted && attempt < attempts; ++attempt) {
    const uint64_t item = draw(attempt);
    if (std::find(chosen.begin(), chosen.end(), item) == chosen.end()) chosen.push_back(item);
  }
}

}  // namespace hgt
