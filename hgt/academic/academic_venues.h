// The venues of the synthetic academic graph, which move from one topic to another over the years.
//
// About 70 % of the venues come in swap pairs: one moves from topic 1 to topic 2 while the other
// moves from topic 2 to topic 1, around the same year, with the same popularity and of the same
// kind. So which of the two belongs to a topic can only be told by the year.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hgt/academic/academic_draws.h"
#include "hgt/academic/academic_papers.h"

namespace hgt {

enum class VenueKind : uint8_t { conference, journal, preprint };
constexpr std::array<std::string_view, 3> kVenueKinds = {"conference", "journal", "preprint"};

struct LatentVenue {
  VenueKind kind{};
  uint64_t start_topic = 0;
  uint64_t end_topic = 0;  // equal to start_topic: the venue is stable
  uint64_t midpoint = 0;   // the year, counted from the first, of the change
  uint64_t popularity = 0;
};

class Venues {
 public:
  Venues(uint64_t venues, uint64_t years, uint64_t topics, uint64_t seed);

  uint64_t size() const { return venues_.size(); }
  // The first 2 * swap_pairs() venues: pair i is venues 2i and 2i + 1.
  uint64_t swap_pairs() const { return swap_pairs_; }
  const LatentVenue& operator[](uint64_t venue) const { return venues_[venue]; }

  // How much of the venue belongs to its end topic in that year: 0..1, logistic around the
  // midpoint.
  double moved(const LatentVenue& venue, uint64_t year) const;
  uint64_t dominant_topic(uint64_t venue, uint64_t year) const;

  // The venues of one paper, all distinct.
  void draw_venues(const LatentPaper& paper, uint64_t wanted, std::vector<uint64_t>& chosen) const;

 private:
  struct TopicVenues {  // the venues that start or end at a topic, by popularity
    std::vector<uint64_t> venues;
    WeightTable weights;
  };
  void add_swap_pair(uint64_t pair);
  void add_stable(uint64_t number);
  void add_to_topic(uint64_t topic, uint64_t venue);
  uint64_t draw_of_topic(uint64_t topic, uint64_t year, Draws& draws) const;
  uint64_t draw_venue(const LatentPaper& paper, Draws& draws) const;

  uint64_t seed_;
  uint64_t years_;
  uint64_t swap_pairs_;
  std::vector<LatentVenue> venues_;
  std::vector<TopicVenues> by_topic_;
  WeightTable popularity_;
  std::vector<double> logistic_;  // of (year - midpoint) / 3, at year - midpoint + years_
};

}  // namespace hgt
