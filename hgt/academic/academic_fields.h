// The fields of study of the synthetic academic graph: a tree of six levels, and the topics.
//
// Fields are numbered level by level (their latent numbers; public ids are a permutation of them).
// The parent is found by proportional position: place j of n on one level belongs to place
// floor(j * m / n) of the m on the level above, so the fields below any field are consecutive.
// A topic is a third of an L1 field, and sits between L1 and L2 in the tree.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hgt/academic/academic_draws.h"

namespace hgt {

constexpr unsigned kFieldLevels = 6;
constexpr uint64_t kTopicsPerL1 = 3;

// The topic after this one under the same L1 field; three steps lead back.
constexpr uint64_t next_topic(uint64_t topic, uint64_t steps = 1) {
  const uint64_t family = topic - topic % kTopicsPerL1;
  return family + (topic % kTopicsPerL1 + steps) % kTopicsPerL1;
}

// One of the other topics under the same L1 field.
inline uint64_t draw_sibling(uint64_t topic, Draws& draws) {
  return next_topic(topic, 1 + draws.below(kTopicsPerL1 - 1));
}

class FieldTree {
 public:
  // Requires fields >= kMinFields.
  FieldTree(uint64_t fields, uint64_t seed);

  uint64_t size() const { return starts_.back(); }
  Range level(unsigned level) const { return {starts_[level], starts_[level + 1]}; }
  unsigned level_of(uint64_t field) const;
  uint64_t parent(uint64_t field) const;  // requires level_of(field) > 0

  uint64_t topics() const { return kTopicsPerL1 * level(1).size(); }
  uint64_t l1_of(uint64_t topic) const { return starts_[1] + topic / kTopicsPerL1; }
  // The fields of a level from 2 to 5 that belong to a topic; never empty.
  Range of_topic(uint64_t topic, unsigned level) const { return by_topic_[topic][level - 2]; }

  // The fields of one paper, in the order drawn: its L0, its L1, then `wanted` - 2 more.
  // Fewer only if the attempts run out. Requires wanted >= 2.
  void draw_fields(uint64_t paper, uint64_t topic, uint64_t wanted,
                   std::vector<uint64_t>& chosen) const;

 private:
  Range below(const Range& fields, unsigned level) const;
  Range of_focus(uint64_t focus, unsigned level) const;
  uint64_t draw_extra(uint64_t topic, uint64_t focus, Draws& draws) const;

  uint64_t seed_;
  std::array<uint64_t, kFieldLevels + 1> starts_{};
  std::vector<std::array<Range, kFieldLevels - 2>> by_topic_;
};

}  // namespace hgt
