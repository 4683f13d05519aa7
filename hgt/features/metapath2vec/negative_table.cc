#include "hgt/features/metapath2vec/negative_table.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace hgt {

namespace {

constexpr double kNoiseExponent = 0.75;

}  // namespace

AliasTable::AliasTable(std::span<const double> weights) : entries_(weights.size()) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  assert(sum > 0);
  const auto heaviest =
      static_cast<NodeId>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  std::vector<double> share(weights.size());  // 1: the average
  std::vector<NodeId> light;
  std::vector<NodeId> heavy;
  for (NodeId node = 0; node < weights.size(); ++node) {
    share[node] = weights[node] / sum * static_cast<double>(weights.size());
    (share[node] < 1 ? light : heavy).push_back(node);
    entries_[node].alias = node;
  }
  while (!light.empty()) {
    const NodeId taker = light.back();
    light.pop_back();
    // When rounding has used up the heavy ones, the heaviest stands in: never a node of weight 0.
    const NodeId giver = heavy.empty() ? heaviest : heavy.back();
    entries_[taker] = {.keep = static_cast<uint32_t>(share[taker] * 0x1.0p32), .alias = giver};
    if (heavy.empty()) continue;
    share[giver] -= 1 - share[taker];
    if (share[giver] >= 1) continue;
    heavy.pop_back();
    light.push_back(giver);
  }
}

NegativeTable::NegativeTable(std::span<const uint64_t> occurrences) {
  std::vector<double> weights;
  weights.reserve(occurrences.size());
  for (const uint64_t count : occurrences) {
    weights.push_back(std::pow(static_cast<double>(count), kNoiseExponent));
    occurring_ += count > 0 ? 1 : 0;
  }
  if (occurring_ == 0) return;
  all_ = AliasTable(weights);
  const auto heaviest = std::max_element(weights.begin(), weights.end());
  heaviest_ = static_cast<NodeId>(heaviest - weights.begin());
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (occurring_ < 2 || *heaviest <= sum / 2) return;
  *heaviest = 0;
  others_ = AliasTable(weights);
}

}  // namespace hgt
