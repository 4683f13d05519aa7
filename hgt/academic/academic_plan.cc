#include "hgt/academic/academic_plan.h"

#include <algorithm>

namespace hgt {

namespace {

constexpr double kMeanAuthorWeight = 3;
constexpr uint64_t kMaxAuthorWeight = 60;
constexpr uint64_t kLeastFieldWeight = 4;  // field counts differ little: weights 4 to 12
constexpr uint64_t kFieldWeights = 9;
constexpr double kMeanReferenceWeight = 8;  // of each of two geometric numbers
constexpr double kMeanAffiliationWeight = 1;
constexpr uint64_t kMaxAffiliationWeight = 6;

}  // namespace

AcademicPlan::AcademicPlan(const AcademicSizes& given, uint64_t given_seed)
    : sizes(given),
      seed(given_seed),
      paper_ids(sizes.papers, hash(seed, Tag::paper_ids)),
      author_ids(sizes.authors, hash(seed, Tag::author_ids)),
      field_ids(sizes.fields, hash(seed, Tag::field_ids)),
      venue_ids(sizes.venues, hash(seed, Tag::venue_ids)),
      institute_ids(sizes.institutes, hash(seed, Tag::institute_ids)),
      fields(sizes.fields, seed),
      papers(sizes.papers, sizes.years(), fields.topics(), seed),
      citations(papers, seed),
      venues(sizes.venues, sizes.years(), fields.topics(), seed),
      authors(sizes.authors, papers, seed),
      affiliations(sizes.institutes, sizes.years(), seed),
      words(fields, seed),
      author_names(authors, seed) {}

// The sum of two geometric numbers is negative binomial. Where few papers are older, weights are
// bounded by their number; in the first year nothing can be cited.
PaperWeights AcademicPlan::weights(const LatentPaper& paper) const {
  Draws draws(hash(seed, Tag::paper_weights, paper.index));
  PaperWeights weights;
  weights.authors = std::min(draws.geometric(kMeanAuthorWeight), kMaxAuthorWeight);
  weights.fields = kLeastFieldWeight + draws.below(kFieldWeights);
  weights.venues = 1;
  const uint64_t references =
      draws.geometric(kMeanReferenceWeight) + draws.geometric(kMeanReferenceWeight);
  weights.references = std::min(references, papers.before(paper.year));
  return weights;
}

uint64_t AcademicPlan::affiliation_weight(uint64_t author) const {
  Draws draws(hash(seed, Tag::affiliation_count, author));
  return std::min(draws.geometric(kMeanAffiliationWeight), kMaxAffiliationWeight);
}

}  // namespace hgt
