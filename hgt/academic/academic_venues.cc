#include "hgt/academic/academic_venues.h"

#include "hgt/academic/academic_fields.h"

namespace hgt {

namespace {

constexpr uint64_t kSwapPairsPercent = 35;  // of the number of venues; two venues each
// Popularity goes with 1 / (number + 1 + topics / head), a third of that for stable venues.
constexpr uint64_t kSwapHead = 16;
constexpr uint64_t kStableHead = 4;
constexpr double kYearFactor = 0.7165313105737893;  // exp(-1/3)
// Midpoints lie this many years before the last year: where most papers are.
constexpr uint64_t kLatestMidpoint = 5;
constexpr uint64_t kMidpointSpan = 13;

constexpr double kVenueOwnTopic = 0.80;
constexpr double kVenueSiblingTopic = 0.15;  // the rest: any venue by popularity
constexpr uint64_t kConferencePercent = 40;
constexpr uint64_t kJournalPercent = 56;  // the rest are preprint servers
constexpr uint64_t kVenueAttempts = 64;

// The first three have one of each kind.
VenueKind draw_kind(uint64_t number, uint64_t seed) {
  if (number < kVenueKinds.size()) return static_cast<VenueKind>(number);
  const uint64_t place = Draws(hash(seed, Tag::venue_kind, number)).below(100);
  if (place < kConferencePercent) return VenueKind::conference;
  return place < kConferencePercent + kJournalPercent ? VenueKind::journal : VenueKind::preprint;
}

}  // namespace

Venues::Venues(uint64_t venues, uint64_t years, uint64_t topics, uint64_t seed)
    : seed_(seed),
      years_(years),
      swap_pairs_(venues * kSwapPairsPercent / 100),
      by_topic_(topics),
      logistic_(2 * years + 1) {
  double power = 1.0;  // exp(-gap / 3)
  for (uint64_t gap = 0; gap <= years; ++gap, power *= kYearFactor) {
    logistic_[years + gap] = 1.0 / (1.0 + power);
    logistic_[years - gap] = power / (1.0 + power);
  }
  for (uint64_t pair = 0; pair < swap_pairs_; ++pair) add_swap_pair(pair);
  for (uint64_t i = 0; i < venues - 2 * swap_pairs_; ++i) add_stable(i);
  for (const LatentVenue& venue : venues_) popularity_.add(venue.popularity);
}

// The topics are shuffled and paired off in rounds, each a step down in popularity; so every topic
// has a few large venues and many small ones.
void Venues::add_swap_pair(uint64_t pair) {
  const uint64_t topics = by_topic_.size();
  const uint64_t round = pair / (topics / 2);
  const uint64_t place = pair % (topics / 2);
  const Permutation topic_at(topics, hash(seed_, Tag::venue_topics, round));
  const uint64_t first = topic_at(2 * place);
  const uint64_t second = topic_at(2 * place + 1);
  const uint64_t before_end =
      kLatestMidpoint + Draws(hash(seed_, Tag::venue_midpoint, pair)).below(kMidpointSpan);
  const uint64_t midpoint = years_ - 1 - std::min(before_end, years_ - 1);
  const uint64_t popularity = zipf_weight(pair, 1 + topics / kSwapHead);
  const VenueKind kind = draw_kind(pair, seed_);
  venues_.push_back({kind, first, second, midpoint, popularity});
  venues_.push_back({kind, second, first, midpoint, popularity});
  for (const uint64_t venue : {venues_.size() - 2, venues_.size() - 1}) {
    add_to_topic(first, venue);
    add_to_topic(second, venue);
  }
}

void Venues::add_stable(uint64_t number) {
  const uint64_t topics = by_topic_.size();
  const Permutation topic_at(topics, hash(seed_, Tag::stable_topics, number / topics));
  const uint64_t topic = topic_at(number % topics);
  const uint64_t popularity = zipf_weight(number, 1 + topics / kStableHead) / 3;
  venues_.push_back({draw_kind(swap_pairs_ + number, seed_), topic, topic, years_, popularity});
  add_to_topic(topic, venues_.size() - 1);
}

void Venues::add_to_topic(uint64_t topic, uint64_t venue) {
  by_topic_[topic].venues.push_back(venue);
  by_topic_[topic].weights.add(venues_[venue].popularity);
}

double Venues::moved(const LatentVenue& venue, uint64_t year) const {
  return logistic_[years_ + year - venue.midpoint];
}

uint64_t Venues::dominant_topic(uint64_t venue, uint64_t year) const {
  const LatentVenue& latent = venues_[venue];
  return moved(latent, year) < 0.5 ? latent.start_topic : latent.end_topic;
}

// By popularity times the share of the venue that is at this topic in this year.
uint64_t Venues::draw_of_topic(uint64_t topic, uint64_t year, Draws& draws) const {
  const TopicVenues& candidates = by_topic_[topic];
  if (candidates.venues.empty()) return popularity_.draw(draws);
  uint64_t venue = 0;
  for (uint64_t attempt = 0; attempt < kVenueAttempts; ++attempt) {
    venue = candidates.venues[candidates.weights.draw(draws)];
    const LatentVenue& latent = venues_[venue];
    if (latent.start_topic == latent.end_topic) return venue;
    const double end_share = moved(latent, year);
    if (draws.chance(latent.end_topic == topic ? end_share : 1.0 - end_share)) return venue;
  }
  return venue;
}

uint64_t Venues::draw_venue(const LatentPaper& paper, Draws& draws) const {
  const double place = draws.unit();
  if (place < kVenueOwnTopic) return draw_of_topic(paper.topic, paper.year, draws);
  if (place >= kVenueOwnTopic + kVenueSiblingTopic) return popularity_.draw(draws);
  return draw_of_topic(draw_sibling(paper.topic, draws), paper.year, draws);
}

void Venues::draw_venues(const LatentPaper& paper, uint64_t wanted,
                         std::vector<uint64_t>& chosen) const {
  chosen.clear();
  Draws draws(hash(seed_, Tag::paper_venue, paper.index));
  fill_distinct(chosen, wanted, kVenueAttempts * wanted,
                [&](uint64_t /*attempt*/) { return draw_venue(paper, draws); });
}

}  // namespace hgt
