#include "hgt/academic/academic_fields.h"

#include "hgt/academic/apportionment.h"

namespace hgt {

namespace {

constexpr double kRightL1 = 0.90;     // else any L1 field
constexpr double kAnyField = 0.05;    // a deeper field of no relation to the topic
constexpr double kFocusField = 0.50;  // below the paper's own L2 field; else below the topic
// Of the fields beyond the first L0 and the first L1: per mille on levels 0 to 5.
constexpr std::array<uint64_t, kFieldLevels> kLevelShares = {20, 80, 420, 270, 120, 90};
// Of the fields beyond L0 and L1: per cent on levels 2 to 5.
constexpr std::array<uint64_t, 4> kDeepShares = {20, 34, 23, 23};
// Per field wanted; then any field of the levels 2 to 5 will do.
constexpr uint64_t kFieldAttempts = 16;

unsigned draw_level(Draws& draws) {
  uint64_t place = draws.below(1000);
  unsigned level = 0;
  while (place >= kLevelShares[level]) place -= kLevelShares[level++];
  return level;
}

uint64_t divided_up(uint64_t factor, uint64_t numerator, uint64_t denominator) {
  return (factor * numerator + denominator - 1) / denominator;
}

}  // namespace

FieldTree::FieldTree(uint64_t fields, uint64_t seed) : seed_(seed) {
  const uint64_t l0 = std::clamp<uint64_t>(fields / 1000, 2, 19);
  const uint64_t l1 = std::clamp<uint64_t>(fields / 70, 6, 292);
  starts_[1] = l0;
  starts_[2] = l0 + l1;
  uint64_t percent = 0;
  for (unsigned level = 2; level < kFieldLevels; ++level) {
    percent += kDeepShares[level - 2];
    starts_[level + 1] = starts_[2] + scaled(fields - l0 - l1, percent, 100);
  }
  for (uint64_t topic = 0; topic < topics(); ++topic) {
    const uint64_t n = level(2).size();
    Range range = {starts_[2] + divided_up(topic, n, topics()),
                   starts_[2] + divided_up(topic + 1, n, topics())};
    auto& ranges = by_topic_.emplace_back();
    for (unsigned level = 2; level < kFieldLevels; ++level) {
      if (level > 2) range = below(range, level);
      assert(!range.empty());
      ranges[level - 2] = range;
    }
  }
}

unsigned FieldTree::level_of(uint64_t field) const {
  const auto above = std::upper_bound(starts_.begin(), starts_.end(), field);
  return static_cast<unsigned>(above - starts_.begin()) - 1;
}

uint64_t FieldTree::parent(uint64_t field) const {
  const unsigned child_level = level_of(field);
  const Range parents = level(child_level - 1);
  const Range children = level(child_level);
  return parents.begin + (field - children.begin) * parents.size() / children.size();
}

// The children, on `level`, of consecutive fields of the level above.
Range FieldTree::below(const Range& fields, unsigned level) const {
  const Range parents = this->level(level - 1);
  const Range children = this->level(level);
  const auto first_child = [&](uint64_t parent) {
    return children.begin + divided_up(parent - parents.begin, children.size(), parents.size());
  };
  return {first_child(fields.begin), first_child(fields.end)};
}

// The fields of a level from 2 to 5 at or below one L2 field; may be empty.
Range FieldTree::of_focus(uint64_t focus, unsigned level) const {
  Range range = {focus, focus + 1};
  for (unsigned next = 3; next <= level; ++next) range = below(range, next);
  return range;
}

uint64_t FieldTree::draw_extra(uint64_t topic, uint64_t focus, Draws& draws) const {
  const unsigned level = draw_level(draws);
  const Range all = this->level(level);
  if (level < 2 || draws.chance(kAnyField)) return draw_front(all, draws);
  if (draws.chance(kFocusField)) {
    const Range near = of_focus(focus, level);
    if (!near.empty()) return draw_front(near, draws);
  }
  return draw_front(of_topic(topic, level), draws);
}

void FieldTree::draw_fields(uint64_t paper, uint64_t topic, uint64_t wanted,
                            std::vector<uint64_t>& chosen) const {
  Draws draws(hash(seed_, Tag::paper_fields, paper));
  const uint64_t l1 = draws.chance(kRightL1) ? l1_of(topic) : draw_from(level(1), draws);
  const uint64_t focus = draw_front(of_topic(topic, 2), draws);
  chosen = {parent(l1_of(topic)), l1};
  const uint64_t patience = kFieldAttempts * wanted;
  fill_distinct(chosen, wanted, 2 * patience, [&](uint64_t attempt) {
    return attempt < patience ? draw_extra(topic, focus, draws)
                              : draw_from({starts_[2], starts_[kFieldLevels]}, draws);
  });
}

}  // namespace hgt
