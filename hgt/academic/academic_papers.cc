#include "hgt/academic/academic_papers.h"

#include <array>

#include "hgt/academic/academic_fields.h"
#include "hgt/academic/apportionment.h"

namespace hgt {

namespace {

constexpr uint64_t kTopicOffset = 20;  // topic sizes go with 1 / (rank + 20)

constexpr double kCopied = 0.50;            // of the attempts: a copy of an older paper's attempt
constexpr uint64_t kCopyWindow = 2;         // copied is one of the first so many attempts
constexpr unsigned kMaxCopies = 8;          // copies of copies
constexpr double kOwnTopic = 0.75;          // of the attempts that are no copies
constexpr double kSiblingTopic = 0.15;      // the rest goes to any topic
constexpr double kMeanAge = 5.0;            // years; at least 1
constexpr uint64_t kBlockAttempts = 8;      // until a year with papers of the topic is found
constexpr uint64_t kReferenceAttempts = 8;  // per reference wanted; then any older paper will do

// 2^(k/12), in units of 2^-20.
constexpr std::array<uint64_t, 12> kTwelfths = {1048576, 1110928, 1176987, 1246974,
                                                1321123, 1399681, 1482910, 1571089,
                                                1664511, 1763488, 1868350, 1979448};

// Doubles every twelve years.
constexpr uint64_t year_weight(uint64_t year) { return kTwelfths[year % 12] << (year / 12); }

uint64_t draw_age(uint64_t year, Draws& draws) {
  const uint64_t age = 1 + draws.geometric(kMeanAge - 1);
  return age <= year ? age : 1 + draws.below(year);
}

}  // namespace

PaperOrder::PaperOrder(uint64_t papers, uint64_t years, uint64_t topics, uint64_t seed)
    : years_(years), topics_(topics) {
  const Permutation rank(topics, hash(seed, Tag::topic_size));
  std::vector<uint64_t> topic_weights;
  uint64_t topic_sum = 0;
  for (uint64_t topic = 0; topic < topics; ++topic) {
    topic_weights.push_back(zipf_weight(rank(topic), kTopicOffset) >> 16U);
    topic_sum += topic_weights.back();
  }
  uint64_t year_sum = 0;
  for (uint64_t year = 0; year < years; ++year) year_sum += year_weight(year);
  Quota quota(papers, year_sum * topic_sum);
  starts_.push_back(0);
  for (uint64_t year = 0; year < years; ++year) {
    for (const uint64_t weight : topic_weights) {
      starts_.push_back(starts_.back() + quota.next(year_weight(year) * weight));
    }
  }
  assert(size() == papers);
}

uint64_t PaperOrder::block_of(uint64_t index) const {
  const auto above = std::upper_bound(starts_.begin(), starts_.end(), index);
  return static_cast<uint64_t>(above - starts_.begin()) - 1;
}

LatentPaper PaperOrder::at(uint64_t index) const {
  const uint64_t block = block_of(index);
  return {index, block / topics_, block % topics_};
}

std::vector<Range> PaperOrder::whole_blocks(uint64_t at_least) const {
  std::vector<Range> ranges;
  uint64_t begin = 0;
  for (const uint64_t end : starts_) {
    if (end - begin < at_least && (end < size() || end == begin)) continue;
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

// A paper of this topic from an earlier year, recent ones first. Requires year > 0.
std::optional<LatentPaper> Citations::draw_older(uint64_t year, uint64_t topic,
                                                 Draws& draws) const {
  for (uint64_t attempt = 0; attempt < kBlockAttempts; ++attempt) {
    const uint64_t then = year - draw_age(year, draws);
    const Range block = papers_.block(then, topic);
    if (!block.empty()) return LatentPaper{draw_front(block, draws), then, topic};
  }
  return {};
}

uint64_t Citations::draw_any_older(uint64_t year, Draws& draws) const {
  const Range then = papers_.in_year(year - draw_age(year, draws));
  return draw_from(then.empty() ? Range{0, papers_.before(year)} : then, draws);
}

uint64_t Citations::draw_direct(const LatentPaper& paper, Draws& draws) const {
  const double place = draws.unit();
  if (place >= kOwnTopic + kSiblingTopic) return draw_any_older(paper.year, draws);
  const uint64_t topic = place < kOwnTopic ? paper.topic : draw_sibling(paper.topic, draws);
  const auto older = draw_older(paper.year, topic, draws);
  return older ? older->index : draw_any_older(paper.year, draws);
}

uint64_t Citations::raw_reference(LatentPaper paper, uint64_t attempt) const {
  for (unsigned copies = 0;; ++copies) {
    Draws draws(hash(seed_, Tag::reference, paper.index, attempt));
    const bool copy = copies < kMaxCopies && draws.chance(kCopied);
    const auto copied_from =
        copy ? draw_older(paper.year, paper.topic, draws) : std::optional<LatentPaper>{};
    if (!copied_from) return draw_direct(paper, draws);
    paper = *copied_from;
    if (papers_.before(paper.year) == 0) return paper.index;
    attempt = draws.below(kCopyWindow);
  }
}

void Citations::draw_references(const LatentPaper& paper, uint64_t wanted,
                                std::vector<uint64_t>& chosen) const {
  chosen.clear();
  const uint64_t patience = kReferenceAttempts * wanted;
  Draws anywhere(hash(seed_, Tag::any_reference, paper.index));
  fill_distinct(chosen, wanted, 2 * patience, [&](uint64_t attempt) {
    return attempt < patience ? raw_reference(paper, attempt)
                              : anywhere.below(papers_.before(paper.year));
  });
}

}  // namespace hgt
