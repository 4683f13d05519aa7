// The authors of the synthetic academic graph: their careers, their teams and their institutes.
//
// Authors are ordered by (topic, year of the first paper): those active on a topic in a year are
// consecutive. In the second half of a career every second author (odd latent number) has moved on
// to the next topic under the same L1 field.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hgt/academic/academic_draws.h"
#include "hgt/academic/academic_papers.h"

namespace hgt {

constexpr uint64_t kCareerYears = 20;

struct Career {
  uint64_t topic = 0;  // at its beginning
  uint64_t start = 0;  // year, counted from the first year of the graph
};

class Authors {
 public:
  // Careers start where papers are: as many per (topic, year) as there are papers, in proportion.
  Authors(uint64_t authors, const PaperOrder& papers, uint64_t seed);

  uint64_t size() const { return starts_.back(); }
  Career career(uint64_t author) const;
  uint64_t late_topic(uint64_t author, const Career& career) const;
  Range of_topic(uint64_t topic) const;
  // Those whose career starts with this year and topic.
  Range debutants(uint64_t topic, uint64_t year) const { return starting(topic, year, year); }

  // The authors of one paper in their order, all distinct; those of `debutants` who found a place
  // are among them, from the front of the range. Returns how many did. Requires wanted >= 1.
  uint64_t draw_team(const LatentPaper& paper, uint64_t wanted, const Range& debutants,
                     std::vector<uint64_t>& team) const;

 private:
  struct Workforce {
    Range young, stayed, moved;  // of the last two, even and odd numbers only
    uint64_t size() const { return young.size() + stayed.size() + moved.size(); }
    std::optional<uint64_t> at(uint64_t place) const;  // no value: a number that does not count
  };
  Workforce workforce(uint64_t topic, uint64_t year) const;
  Range starting(uint64_t topic, uint64_t from_year, uint64_t to_year) const;
  std::optional<uint64_t> draw_active(uint64_t topic, uint64_t year, Draws& draws) const;
  uint64_t draw_lead(const LatentPaper& paper, Draws& draws) const;
  uint64_t draw_coauthor(const LatentPaper& paper, uint64_t first, Draws& draws) const;
  std::optional<uint64_t> draw_teammate(uint64_t first, uint64_t year, Draws& draws) const;
  bool accepts(uint64_t author, Draws& draws) const;

  uint64_t seed_;
  uint64_t years_;
  uint64_t topics_;
  std::vector<uint64_t> starts_;  // of (topic, year) at topic * years + year; then the end
};

// Where authors work: institutes by Zipf's law, with some preference of the author's group and
// topic.
class Affiliations {
 public:
  struct Stay {
    uint64_t institute = 0;
    uint64_t year = 0;  // when it began, counted from the first year of the graph
  };

  Affiliations(uint64_t institutes, uint64_t years, uint64_t seed);

  uint64_t size() const { return popularity_.size(); }
  uint64_t home(uint64_t author, const Career& career) const;  // the first one
  // The first `wanted` stays of an author, at distinct institutes, in order of time.
  void draw_stays(uint64_t author, const Career& career, uint64_t wanted,
                  std::vector<Stay>& stays) const;

 private:
  uint64_t draw_institute(uint64_t topic, Draws& draws) const;

  uint64_t seed_;
  uint64_t years_;
  WeightTable popularity_;
};

}  // namespace hgt
