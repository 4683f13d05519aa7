#include "hgt/task/metrics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "hgt/random.h"

namespace hgt {

namespace {

double standard_discount(uint64_t rank) { return 1 / std::log2(static_cast<double>(rank) + 1); }

double release_discount(uint64_t rank) {
  return rank < 2 ? 1 : 1 / std::log2(static_cast<double>(rank));
}

// Items of one score.
struct Tie {
  float score = 0;
  uint64_t before = 0;  // items with higher scores
  uint64_t items = 0;
  uint64_t relevant = 0;
};

std::vector<Tie> ties_of(std::span<const float> scores, std::span<const uint8_t> relevant) {
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  std::vector<Tie> ties;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || scores[order[i]] != scores[order[i - 1]])
      ties.push_back({.score = scores[order[i]], .before = i});
    ++ties.back().items;
    ties.back().relevant += relevant[order[i]];
  }
  return ties;
}

double gain(const std::vector<Tie>& ties, double (*discount)(uint64_t)) {
  double sum = 0;
  double best = 0;
  uint64_t relevant = 0;
  for (const Tie& tie : ties) {
    const double share = static_cast<double>(tie.relevant) / static_cast<double>(tie.items);
    for (uint64_t i = 1; tie.relevant > 0 && i <= tie.items; ++i) {
      sum += share * discount(tie.before + i);
    }
    relevant += tie.relevant;
  }
  for (uint64_t rank = 1; rank <= relevant; ++rank) best += discount(rank);
  return sum / best;
}

// Calls use(rank, probability) for the ranks that the first relevant item may have.
template <typename Use>
void for_first_ranks(const Tie& tie, Use use) {
  double none_before = 1;  // no relevant item among those of the tie that come earlier
  for (uint64_t i = 0; i + tie.relevant <= tie.items; ++i) {
    const double here = static_cast<double>(tie.relevant) / static_cast<double>(tie.items - i);
    use(tie.before + i + 1, none_before * here);
    none_before *= 1 - here;
  }
}

}  // namespace

std::optional<Ranking> rank(std::span<const float> scores, std::span<const uint8_t> relevant) {
  assert(scores.size() == relevant.size());
  const std::vector<Tie> ties = ties_of(scores, relevant);
  const auto first =
      std::find_if(ties.begin(), ties.end(), [](const Tie& tie) { return tie.relevant > 0; });
  if (first == ties.end()) return std::nullopt;
  Ranking result{.ndcg = gain(ties, standard_discount),
                 .ndcg_release = gain(ties, release_discount)};
  for_first_ranks(*first, [&](uint64_t at, double probability) {
    result.reciprocal_rank += probability / static_cast<double>(at);
    if (at <= 1) result.hits_1 += probability;
    if (at <= 3) result.hits_3 += probability;
    if (at <= 10) result.hits_10 += probability;
  });
  return result;
}

std::optional<double> area_under_curve(std::span<const float> scores,
                                       std::span<const uint8_t> relevant) {
  assert(scores.size() == relevant.size());
  double above = 0;  // pairs in which the relevant item is higher
  uint64_t relevant_so_far = 0;
  for (const Tie& tie : ties_of(scores, relevant)) {
    const auto others = static_cast<double>(tie.items - tie.relevant);
    above +=
        others * (static_cast<double>(relevant_so_far) + 0.5 * static_cast<double>(tie.relevant));
    relevant_so_far += tie.relevant;
  }
  const uint64_t others = scores.size() - relevant_so_far;
  if (relevant_so_far == 0 || others == 0) return std::nullopt;
  return above / (static_cast<double>(relevant_so_far) * static_cast<double>(others));
}

void ClassCounts::add(std::span<const uint32_t> truth, std::span<const uint32_t> predicted) {
  for (const uint32_t number : truth) ++counts_[number].either;
  for (const uint32_t number : predicted) {
    ++counts_[number].either;
    if (std::find(truth.begin(), truth.end(), number) != truth.end()) ++counts_[number].right;
  }
}

double ClassCounts::micro_f1() const {
  Count all;
  for (const Count& count : counts_) {
    all.right += count.right;
    all.either += count.either;
  }
  return all.either == 0 ? 0 : 2 * static_cast<double>(all.right) / static_cast<double>(all.either);
}

double ClassCounts::macro_f1() const {
  double sum = 0;
  uint64_t present = 0;
  for (const Count& count : counts_) {
    if (count.either == 0) continue;
    sum += 2 * static_cast<double>(count.right) / static_cast<double>(count.either);
    ++present;
  }
  return present == 0 ? 0 : sum / static_cast<double>(present);
}

float best_threshold(std::span<const float> scores, std::span<const uint8_t> relevant) {
  assert(scores.size() == relevant.size());
  const std::vector<Tie> ties = ties_of(scores, relevant);
  uint64_t all_relevant = 0;
  for (const Tie& tie : ties) all_relevant += tie.relevant;
  double best = 0;
  size_t taken = 0;  // ties, for the best
  uint64_t right = 0;
  for (size_t i = 0; i < ties.size(); ++i) {
    right += ties[i].relevant;
    const auto either = static_cast<double>(ties[i].before + ties[i].items + all_relevant);
    const double f1 = 2 * static_cast<double>(right) / either;
    if (f1 <= best) continue;
    best = f1;
    taken = i + 1;
  }
  if (taken == 0) return 0;
  const float last = ties[taken - 1].score;
  if (taken == ties.size()) return last - 1;
  const float middle = (last + ties[taken].score) / 2;
  return middle < last ? middle : ties[taken].score;  // there may be no number between them
}

Spread spread(std::span<const double> values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean, .deviation = values.size() > 1 ? std::sqrt(squares / (count - 1)) : 0};
}

PairedTest paired_test(std::span<const double> a, std::span<const double> b, uint64_t draws,
                       uint64_t seed) {
  assert(a.size() == b.size() && !a.empty());
  std::vector<double> differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];
  const double total = std::accumulate(differences.begin(), differences.end(), 0.0);
  const auto count = static_cast<double>(a.size());
  std::vector<double> means;
  uint64_t as_large = 0;
  // Sums of the same numbers in another order differ by rounding.
  const double tolerance = 1e-12 * std::max(1.0, std::abs(total));
  for (uint64_t draw = 0; draw < draws; ++draw) {
    Draws random(hash(seed, draw));
    double flipped = 0;
    double resampled = 0;
    for (const double difference : differences) {
      flipped += (random.bits() & 1U) != 0 ? difference : -difference;
      resampled += differences[random.below(differences.size())];
    }
    if (std::abs(flipped) >= std::abs(total) - tolerance) ++as_large;
    means.push_back(resampled / count);
  }
  std::sort(means.begin(), means.end());
  const auto quantile = [&](double share) {
    return means[static_cast<size_t>(share * static_cast<double>(draws - 1))];
  };
  // The observed signs are one of the possible ones.
  return {.difference = total / count,
          .low = quantile(0.025),
          .high = quantile(0.975),
          .p_value = static_cast<double>(as_large + 1) / static_cast<double>(draws + 1)};
}

}  // namespace hgt
