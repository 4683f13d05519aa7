// Receivers of quotas in chunks, drawn on several threads.
//
// A chunk depends on those before it by what their receivers could not take and handed on. That is
// hardly ever anything, so that workers draw every chunk as if there were nothing; a chunk for
// which there is something is drawn again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hgt/academic/academic_draws.h"
#include "hgt/academic/apportionment.h"
#include "hgt/ordered_stream.h"

namespace hgt {

template <size_t N>
using Quotas = std::array<Quota, N>;
template <size_t N>
using Weights = std::array<uint64_t, N>;

// Calls make(i, item) for i = 0, 1, ..., count - 1 on that many threads, and use(i, item) in this
// order on the caller's; items are used again.
template <typename Item, typename Make, typename Use>
void make_in_order(uint64_t count, unsigned threads, const Make& make, const Use& use) {
  const StreamRange range = {
      .count = count, .workers = threads > 1 ? threads : 0, .queue = 2 * threads};
  OrderedStream<Item> stream(range,
                             [&](unsigned /*worker*/, uint64_t i, Item& item) { make(i, item); });
  Item item{};
  for (uint64_t i = 0; stream.next(item); ++i) use(i, item);
}

template <size_t N>
struct QuotaChunk {
  Range receivers;
  Quotas<N> quotas;  // at its beginning, when nothing has been handed on
};

// `totals` are divided in proportion to the weights, of which sum(range) gives the sums. Calls
// advance(range) when those of one more range are known.
template <size_t N, typename Sum, typename Advance>
std::vector<QuotaChunk<N>> plan_quotas(const std::vector<Range>& ranges, const Weights<N>& totals,
                                       unsigned threads, const Sum& sum, const Advance& advance) {
  std::vector<Weights<N>> before = {Weights<N>{}};  // each range; then the end
  make_in_order<Weights<N>>(
      ranges.size(), threads, [&](uint64_t i, Weights<N>& sums) { sums = sum(ranges[i]); },
      [&](uint64_t i, const Weights<N>& sums) {
        Weights<N> next = before.back();
        for (size_t k = 0; k < N; ++k) next[k] += sums[k];
        before.push_back(next);
        advance(ranges[i]);
      });
  std::vector<QuotaChunk<N>> chunks;
  for (size_t i = 0; i < ranges.size(); ++i) {
    QuotaChunk<N>& chunk = chunks.emplace_back();
    chunk.receivers = ranges[i];
    for (size_t k = 0; k < N; ++k) {
      chunk.quotas[k] = Quota(totals[k], before.back()[k], before[i][k]);
    }
  }
  return chunks;
}

// Calls draw(receivers, quotas, drawn), which lets the receivers take from the quotas, and then
// use(drawn) chunk after chunk. Returns the quotas at the end.
template <typename Drawn, size_t N, typename Draw, typename Use>
Quotas<N> draw_chunks(const std::vector<QuotaChunk<N>>& chunks, unsigned threads, const Draw& draw,
                      const Use& use) {
  struct Guess {
    Drawn drawn;
    Quotas<N> after;
  };
  Quotas<N> quotas = chunks.front().quotas;
  make_in_order<Guess>(
      chunks.size(), threads,
      [&](uint64_t i, Guess& guess) {
        guess.after = chunks[i].quotas;
        draw(chunks[i].receivers, guess.after, guess.drawn);
      },
      [&](uint64_t i, Guess& guess) {
        const bool handed_on = std::any_of(quotas.begin(), quotas.end(),
                                           [](const Quota& quota) { return quota.debt() > 0; });
        if (handed_on) {
          draw(chunks[i].receivers, quotas, guess.drawn);
        } else {
          quotas = guess.after;
        }
        use(guess.drawn);
      });
  return quotas;
}

}  // namespace hgt
