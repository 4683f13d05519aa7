#include "hgt/academic/academic_authors.h"

#include <bit>

#include "hgt/academic/academic_fields.h"
#include "hgt/academic/apportionment.h"

namespace hgt {

namespace {

constexpr uint64_t kHalfCareer = kCareerYears / 2;
// Those who started before the first year count as starters of the first year.
constexpr uint64_t kFirstYearFactor = 2;

// So many consecutive authors work together; a power of two. They often share a home institute.
constexpr uint64_t kGroupSize = 16;
constexpr double kDebutantLeads = 0.60;     // a debutant, if there is one, is the first author
constexpr double kFromTeam = 0.60;          // of the coauthors; else by topic
constexpr double kFromSiblingTopic = 0.25;  // of those not of the team
constexpr double kMaxProductivity = 100.0;  // times the least productive author
constexpr uint64_t kActiveAttempts = 200;
constexpr uint64_t kLeadAttempts = 16;
constexpr uint64_t kAuthorAttempts = 16;  // per author wanted; then any author will do

constexpr double kGroupInstitute = 0.40;  // of the first affiliations
constexpr double kTopicInstitute = 0.50;  // of the others: by the topic's own ranking
constexpr uint64_t kInstituteOffset = 5;  // popularity goes with 1 / (rank + 5)
constexpr uint64_t kLeastStay = 2;        // years
constexpr uint64_t kStaySpan = 7;

}  // namespace

Authors::Authors(uint64_t authors, const PaperOrder& papers, uint64_t seed)
    : seed_(seed), years_(papers.years()), topics_(papers.topics()) {
  const auto weight = [&](uint64_t topic, uint64_t year) {
    return papers.block(year, topic).size() * (year == 0 ? kFirstYearFactor : 1);
  };
  const uint64_t weight_sum = papers.size() + papers.in_year(0).size() * (kFirstYearFactor - 1);
  Quota quota(authors, weight_sum);
  starts_.push_back(0);
  for (uint64_t topic = 0; topic < topics_; ++topic) {
    for (uint64_t year = 0; year < years_; ++year) {
      starts_.push_back(starts_.back() + quota.next(weight(topic, year)));
    }
  }
  assert(size() == authors);
}

Career Authors::career(uint64_t author) const {
  const auto above = std::upper_bound(starts_.begin(), starts_.end(), author);
  const auto block = static_cast<uint64_t>(above - starts_.begin()) - 1;
  return {block / years_, block % years_};
}

uint64_t Authors::late_topic(uint64_t author, const Career& career) const {
  return author % 2 == 0 ? career.topic : next_topic(career.topic);
}

Range Authors::of_topic(uint64_t topic) const { return starting(topic, 0, years_ - 1); }

Range Authors::starting(uint64_t topic, uint64_t from_year, uint64_t to_year) const {
  return {starts_[topic * years_ + from_year], starts_[topic * years_ + to_year + 1]};
}

// Pareto-like: with u the author's own uniform number, productivity is u^(-2/3), at most
// kMaxProductivity. An author is accepted with probability productivity / kMaxProductivity.
bool Authors::accepts(uint64_t author, Draws& draws) const {
  const double own = to_unit(hash(seed_, Tag::productivity, author));
  const double bar = draws.unit() * kMaxProductivity;
  return bar * bar * bar * own * own < 1.0;
}

// Those who work on a topic in a year: all in the first half of their career, the even ones of the
// topic and the odd ones of the topic before in the second half.
Authors::Workforce Authors::workforce(uint64_t topic, uint64_t year) const {
  const uint64_t young_from = year < kHalfCareer ? 0 : year + 1 - kHalfCareer;
  Workforce force;
  force.young = starting(topic, young_from, year);
  if (young_from == 0) return force;
  const uint64_t old_from = year < kCareerYears ? 0 : year + 1 - kCareerYears;
  force.stayed = starting(topic, old_from, young_from - 1);
  force.moved = starting(next_topic(topic, kTopicsPerL1 - 1), old_from, young_from - 1);
  return force;
}

std::optional<uint64_t> Authors::Workforce::at(uint64_t place) const {
  if (place < young.size()) return young.begin + place;
  place -= young.size();
  const bool has_moved = place >= stayed.size();
  const uint64_t author = has_moved ? moved.begin + place - stayed.size() : stayed.begin + place;
  if (has_moved != (author % 2 == 1)) return {};
  return author;
}

// Somebody who works on the topic in this year, by productivity; nobody: no value.
std::optional<uint64_t> Authors::draw_active(uint64_t topic, uint64_t year, Draws& draws) const {
  const Workforce force = workforce(topic, year);
  std::optional<uint64_t> found;
  for (uint64_t attempt = 0; force.size() > 0 && attempt < kActiveAttempts; ++attempt) {
    const auto author = force.at(draws.below(force.size()));
    if (!author) continue;
    found = author;
    if (accepts(*author, draws)) break;
  }
  return found;
}

uint64_t Authors::draw_lead(const LatentPaper& paper, Draws& draws) const {
  uint64_t topic = paper.topic;
  for (uint64_t attempt = 0; attempt < kLeadAttempts; ++attempt) {
    if (const auto author = draw_active(topic, paper.year, draws)) return *author;
    topic = attempt < kTopicsPerL1 ? next_topic(topic) : draws.below(topics_);
  }
  return draws.below(size());
}

// Somebody of the first author's group who did or did not move as the first author did: 7 mates,
// each half as likely as the one before. Mates are mutual, so that collaborations repeat.
std::optional<uint64_t> Authors::draw_teammate(uint64_t first, uint64_t year, Draws& draws) const {
  constexpr uint64_t kMates = kGroupSize / 2 - 1;
  const auto halvings = static_cast<uint64_t>(std::countr_one(draws.bits()));
  const uint64_t mate = first ^ (2 * (1 + std::min(halvings, kMates - 1)));
  const uint64_t from = year < kCareerYears ? 0 : year + 1 - kCareerYears;
  if (!starting(career(first).topic, from, year).contains(mate)) return {};
  return mate;
}

uint64_t Authors::draw_coauthor(const LatentPaper& paper, uint64_t first, Draws& draws) const {
  if (draws.chance(kFromTeam)) {
    if (const auto mate = draw_teammate(first, paper.year, draws)) return *mate;
  }
  LatentPaper about = paper;
  if (draws.chance(kFromSiblingTopic)) about.topic = draw_sibling(paper.topic, draws);
  return draw_lead(about, draws);
}

uint64_t Authors::draw_team(const LatentPaper& paper, uint64_t wanted, const Range& debutants,
                            std::vector<uint64_t>& team) const {
  team.clear();
  Draws draws(hash(seed_, Tag::team, paper.index));
  if (debutants.empty() || !draws.chance(kDebutantLeads)) team.push_back(draw_lead(paper, draws));
  uint64_t placed = debutants.begin;
  for (; placed < debutants.end; ++placed) {
    if (!team.empty() && team.front() == placed) continue;  // drawn already
    if (team.size() == wanted) break;
    team.push_back(placed);
  }
  const uint64_t patience = kAuthorAttempts * wanted;
  fill_distinct(team, wanted, 2 * patience, [&](uint64_t attempt) {
    return attempt < patience ? draw_coauthor(paper, team.front(), draws) : draws.below(size());
  });
  return placed - debutants.begin;
}

Affiliations::Affiliations(uint64_t institutes, uint64_t years, uint64_t seed)
    : seed_(seed), years_(years), popularity_(zipf_table(institutes, kInstituteOffset)) {}

// Every topic has a ranking of its own: the common one, turned.
uint64_t Affiliations::draw_institute(uint64_t topic, Draws& draws) const {
  const uint64_t place = popularity_.draw(draws);
  if (!draws.chance(kTopicInstitute)) return place;
  return (place + hash(seed_, Tag::topic_institute, topic) % size()) % size();
}

uint64_t Affiliations::home(uint64_t author, const Career& career) const {
  Draws own(hash(seed_, Tag::affiliation, author));
  Draws group(hash(seed_, Tag::group_institute, author / kGroupSize, career.topic));
  return draw_institute(career.topic, own.chance(kGroupInstitute) ? group : own);
}

void Affiliations::draw_stays(uint64_t author, const Career& career, uint64_t wanted,
                              std::vector<Stay>& stays) const {
  stays.assign(1, {home(author, career), career.start});
  Draws draws(hash(seed_, Tag::affiliation, author, wanted));
  const uint64_t last = std::min(career.start + kCareerYears, years_) - 1;
  for (uint64_t attempt = 0; stays.size() < wanted && attempt < kAuthorAttempts * wanted;
       ++attempt) {
    const uint64_t institute = draw_institute(career.topic, draws);
    const auto is_there = [&](const Stay& stay) { return stay.institute == institute; };
    if (std::any_of(stays.begin(), stays.end(), is_there)) continue;
    const uint64_t year = stays.back().year + kLeastStay + draws.below(kStaySpan);
    stays.push_back({institute, std::min(year, last)});
  }
}

}  // namespace hgt
