#include "hgt/features/metapath2vec/allowed_entries.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace hgt {

AllowedEntries::AllowedEntries(uint64_t entries)
    : words_((entries / kBlock + 1) * kBlockWords), before_(entries / kBlock + 2) {}

void AllowedEntries::finish() {
  for (size_t word = 0; word < words_.size(); ++word) {
    before_[word / kBlockWords + 1] += static_cast<uint64_t>(std::popcount(words_[word]));
  }
  for (size_t block = 1; block < before_.size(); ++block) before_[block] += before_[block - 1];
}

uint64_t AllowedEntries::rank(EdgePosition position) const {
  uint64_t ones = before_[position / kBlock];
  for (uint64_t word = position / kBlock * kBlockWords; word < position / 64; ++word) {
    ones += static_cast<uint64_t>(std::popcount(words_[word]));
  }
  const uint64_t below = (uint64_t{1} << (position % 64)) - 1;
  return ones + static_cast<uint64_t>(std::popcount(words_[position / 64] & below));
}

EdgePosition AllowedEntries::find(EdgePosition begin, EdgePosition end, uint64_t number) const {
  if (words_.empty()) return begin + number;
  assert(number < count(begin, end));
  const uint64_t wanted = rank(begin) + number;
  // The last block of the list that has no more than `wanted` before it.
  const auto first = before_.begin() + static_cast<ptrdiff_t>(begin / kBlock) + 1;
  const auto last = before_.begin() + static_cast<ptrdiff_t>(end / kBlock) + 1;
  const auto block = static_cast<uint64_t>(std::upper_bound(first, last, wanted) - before_.begin());
  uint64_t left = wanted - before_[block - 1];
  uint64_t word = (block - 1) * kBlockWords;
  while (true) {
    const auto ones = static_cast<uint64_t>(std::popcount(words_[word]));
    if (left < ones) break;
    left -= ones;
    ++word;
  }
  uint64_t bits = words_[word];
  for (; left > 0; --left) bits &= bits - 1;
  return word * 64 + static_cast<uint64_t>(std::countr_zero(bits));
}

}  // namespace hgt
