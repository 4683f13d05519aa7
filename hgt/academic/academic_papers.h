// The papers of the synthetic academic graph in their latent order, and what they cite.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hgt/academic/academic_draws.h"

namespace hgt {

// A paper by its place in the latent order. Years count from the first year of the graph.
struct LatentPaper {
  uint64_t index = 0;
  uint64_t year = 0;
  uint64_t topic = 0;
};

// Papers ordered by (year, topic), in blocks whose sizes are fixed by the counts: twice as many
// papers every twelve years, and topics of Zipf-like sizes.
class PaperOrder {
 public:
  PaperOrder(uint64_t papers, uint64_t years, uint64_t topics, uint64_t seed);

  uint64_t size() const { return starts_.back(); }
  uint64_t years() const { return years_; }
  uint64_t topics() const { return topics_; }

  LatentPaper at(uint64_t index) const;
  Range block(uint64_t year, uint64_t topic) const {
    return {starts_[year * topics_ + topic], starts_[year * topics_ + topic + 1]};
  }
  Range in_year(uint64_t year) const {
    return {starts_[year * topics_], starts_[(year + 1) * topics_]};
  }
  // Calls visit(LatentPaper) for each paper of a range, in order.
  template <typename Visit>
  void for_each(const Range& range, const Visit& visit) const {
    if (range.empty()) return;
    uint64_t block = block_of(range.begin);
    for (uint64_t index = range.begin; index < range.end; ++index) {
      while (index >= starts_[block + 1]) ++block;
      visit(LatentPaper{index, block / topics_, block % topics_});
    }
  }
  // All papers, in ranges of whole blocks and, but for the last one, at least so many papers.
  std::vector<Range> whole_blocks(uint64_t at_least) const;
  // How many papers are of an earlier year; these are the first ones of the latent order.
  uint64_t before(uint64_t year) const { return starts_[year * topics_]; }

 private:
  uint64_t block_of(uint64_t index) const;

  uint64_t years_;
  uint64_t topics_;
  std::vector<uint64_t> starts_;  // of block (year, topic) at year * topics + topic; then the end
};

// References without memory: the attempts of a paper are a function of (seed, paper, attempt), so
// that a paper can copy what another one drew (the copying model of preferential attachment).
class Citations {
 public:
  // Keeps a reference to `papers`.
  Citations(const PaperOrder& papers, uint64_t seed) : papers_(papers), seed_(seed) {}

  // One attempt: half of them copy an attempt of an older paper of the same topic, the others draw
  // by topic and age. The result is of an earlier year. Requires that there is an earlier paper.
  uint64_t raw_reference(LatentPaper paper, uint64_t attempt) const;

  // The references of one paper, all distinct. Fewer than wanted only if the attempts run out.
  void draw_references(const LatentPaper& paper, uint64_t wanted,
                       std::vector<uint64_t>& chosen) const;

 private:
  std::optional<LatentPaper> draw_older(uint64_t year, uint64_t topic, Draws& draws) const;
  uint64_t draw_any_older(uint64_t year, Draws& draws) const;
  uint64_t draw_direct(const LatentPaper& paper, Draws& draws) const;

  const PaperOrder& papers_;
  uint64_t seed_;
};

}  // namespace hgt
