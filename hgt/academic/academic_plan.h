// The plan of a synthetic academic graph: all that is planted, as functions of the seed.
//
// Nothing here is proportional to the number of papers or authors. Nodes have a latent number,
// whose order carries the structure, and a public id, which is a keyed permutation of it and
// carries none.
#pragma once

#include <cstdint>

#include "hgt/academic/academic_authors.h"
#include "hgt/academic/academic_fields.h"
#include "hgt/academic/academic_papers.h"
#include "hgt/academic/academic_sizes.h"
#include "hgt/academic/academic_venues.h"
#include "hgt/academic/academic_words.h"
#include "hgt/graph/types.h"
#include "hgt/random.h"

namespace hgt {

// In what proportion a paper takes part in the totals, beyond what every paper has.
struct PaperWeights {
  uint64_t authors = 0;
  uint64_t fields = 0;
  uint64_t venues = 0;
  uint64_t references = 0;
};

struct AcademicPlan {
  AcademicPlan(const AcademicSizes& sizes, uint64_t seed);
  AcademicPlan(const AcademicPlan&) = delete;
  AcademicPlan& operator=(const AcademicPlan&) = delete;

  PaperWeights weights(const LatentPaper& paper) const;
  uint64_t affiliation_weight(uint64_t author) const;
  Time year(uint64_t since_first) const {
    return sizes.first_year + static_cast<Time>(since_first);
  }

  const AcademicSizes sizes;
  const uint64_t seed;
  // Latent number -> public id.
  const Permutation paper_ids, author_ids, field_ids, venue_ids, institute_ids;
  const FieldTree fields;
  const PaperOrder papers;
  const Citations citations;
  const Venues venues;
  const Authors authors;
  const Affiliations affiliations;
  const Words words;
  const AuthorNames author_names;
};

inline NodeId public_id(const Permutation& ids, uint64_t latent) {
  return static_cast<NodeId>(ids(latent));
}

// What every paper has at least: one author, one field of L0 and one of L1, one venue.
constexpr uint64_t kLeastAuthors = 1;
constexpr uint64_t kLeastFields = 2;
constexpr uint64_t kLeastVenues = 1;
constexpr uint64_t kLeastAffiliations = 1;

}  // namespace hgt
