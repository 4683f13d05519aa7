// Which entries of a target type's incoming lists may be used: one bit per entry, with running
// counts, so that "how many of this list" and "the third of this list" take no scan. What they
// answer depends on the allowed entries alone, never on how many others lie between them.
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/graph/types.h"

namespace hgt {

class AllowedEntries {
 public:
  AllowedEntries() = default;  // every entry is allowed, whatever their number
  // No entry is allowed until allow() says so; finish() comes before the first question.
  explicit AllowedEntries(uint64_t entries);

  void allow(EdgePosition position) { words_[position / 64] |= uint64_t{1} << (position % 64); }
  void finish();

  // The allowed ones among the entries [begin, end).
  uint64_t count(EdgePosition begin, EdgePosition end) const {
    return words_.empty() ? end - begin : rank(end) - rank(begin);
  }
  // The position of the allowed entry number `number` of [begin, end), counted from 0. Requires
  // number < count(begin, end).
  EdgePosition find(EdgePosition begin, EdgePosition end, uint64_t number) const;

 private:
  // Entries share a running count in blocks: an eighth of the bits' own memory.
  static constexpr uint64_t kBlockWords = 8;
  static constexpr uint64_t kBlock = 64 * kBlockWords;

  uint64_t rank(EdgePosition position) const;  // allowed entries before the position

  std::vector<uint64_t> words_;   // empty: everything is allowed
  std::vector<uint64_t> before_;  // [blocks + 1] allowed entries before each block
};

}  // namespace hgt
