// How good an answer is. Ties are worth what they would be worth on average over all orders of the
// tied items, so a model that gives everything the same score is exactly at chance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace hgt {

// Of one example: the items ranked by score, highest first.
struct Ranking {
  double ndcg = 0;             // discount 1 / log2(rank + 1)
  double ndcg_release = 0;     // the authors' code: ranks 1 and 2 weigh 1, rank r 1 / log2(r)
  double reciprocal_rank = 0;  // of the first relevant item
  double hits_1 = 0;           // a relevant item is the first; below: among the first 3, 10
  double hits_3 = 0;
  double hits_10 = 0;

  friend bool operator==(const Ranking&, const Ranking&) = default;
};

// Requires as many flags as scores, all finite. No value: no item is relevant.
std::optional<Ranking> rank(std::span<const float> scores, std::span<const uint8_t> relevant);

// The chance that a relevant item scores higher than another one, ties counting half. No value:
// one of the two kinds is absent.
std::optional<double> area_under_curve(std::span<const float> scores,
                                       std::span<const uint8_t> relevant);

// F1 over classes. add() once per example.
class ClassCounts {
 public:
  explicit ClassCounts(uint32_t classes) : counts_(classes) {}
  void add(std::span<const uint32_t> truth, std::span<const uint32_t> predicted);
  double micro_f1() const;  // 0: nothing was predicted correctly
  double macro_f1() const;  // mean over the classes that occur in the truth or are predicted

 private:
  struct Count {
    uint64_t right = 0;   // in both
    uint64_t either = 0;  // truths and predictions together
  };
  std::vector<Count> counts_;
};

// The score above which an item is to be taken for relevant so that the F1 of all items together is
// highest; of several such scores the highest. It lies halfway between two scores. 0: no item is
// relevant. Requires as many flags as scores, all finite.
float best_threshold(std::span<const float> scores, std::span<const uint8_t> relevant);

struct Spread {
  double mean = 0;
  double deviation = 0;  // of a sample: over n - 1; 0 for a single value

  friend bool operator==(const Spread&, const Spread&) = default;
};
Spread spread(std::span<const double> values);

// Two models on the same examples.
struct PairedTest {
  double difference = 0;  // mean of a - b
  double low = 0;         // 95 % interval of it, by the bootstrap
  double high = 0;
  double p_value = 0;  // two-sided, by random sign flips: could it be chance?
};

// Requires as many values in a as in b, at least one. A function of its arguments.
PairedTest paired_test(std::span<const double> a, std::span<const double> b, uint64_t draws = 10000,
                       uint64_t seed = 0);

}  // namespace hgt
