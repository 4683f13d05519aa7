#include "hgt/academic/paper_edges.h"

#include <algorithm>

#include "hgt/academic/apportionment.h"

namespace hgt {

namespace {

constexpr uint64_t kPapersPerChunk = 1024;

// Walks the papers of a chunk. What it carries from paper to paper: the quotas, and the authors of
// the current block who wait for their first paper.
class PaperDrawer {
 public:
  PaperDrawer(const AcademicPlan& plan, const AcademicNumbers& numbers,
              const std::vector<uint8_t>& sharers, DrawnPapers& drawn)
      : plan_(plan), numbers_(numbers), sharers_(sharers), drawn_(drawn) {}

  void draw(const LatentPaper& paper, PaperQuotas& quotas);

 private:
  void draw_authors(const LatentPaper& paper, uint64_t wanted);
  void draw_fields(const LatentPaper& paper, uint64_t wanted);
  void draw_venues(const LatentPaper& paper, uint64_t wanted);
  void draw_references(const LatentPaper& paper, uint64_t wanted);
  void add_person(uint64_t author);
  Range due_debutants(const LatentPaper& paper);

  const AcademicPlan& plan_;
  const AcademicNumbers& numbers_;
  const std::vector<uint8_t>& sharers_;
  DrawnPapers& drawn_;
  uint64_t next_debutant_ = 0;
  std::vector<uint64_t> chosen_;
  PaperLinks links_;
};

void PaperDrawer::draw(const LatentPaper& paper, PaperQuotas& quotas) {
  const PaperWeights weights = plan_.weights(paper);
  const auto take = [&](Quota& quota, uint64_t least, uint64_t weight, auto choose) {
    const uint64_t wanted = least + quota.next(weight);
    (this->*choose)(paper, wanted);
    quota.hand_on(wanted - chosen_.size());
  };
  auto& [authors, fields, venues, references] = quotas;
  links_.paper = public_id(plan_.paper_ids, paper.index);
  take(authors, kLeastAuthors, weights.authors, &PaperDrawer::draw_authors);
  take(fields, kLeastFields, weights.fields, &PaperDrawer::draw_fields);
  take(venues, kLeastVenues, weights.venues, &PaperDrawer::draw_venues);
  take(references, 0, weights.references, &PaperDrawer::draw_references);
  add_paper_edges(numbers_, links_, drawn_.edges);
}

// The authors whose career starts with this block's papers come in even steps over the block.
Range PaperDrawer::due_debutants(const LatentPaper& paper) {
  const Range block = plan_.papers.block(paper.year, paper.topic);
  const Range all = plan_.authors.debutants(paper.topic, paper.year);
  if (paper.index == block.begin) next_debutant_ = all.begin;
  const uint64_t papers_done = paper.index + 1 - block.begin;
  return {next_debutant_, all.begin + scaled(all.size(), papers_done, block.size())};
}

void PaperDrawer::draw_authors(const LatentPaper& paper, uint64_t wanted) {
  next_debutant_ += plan_.authors.draw_team(paper, wanted, due_debutants(paper), chosen_);
  links_.authors.clear();
  links_.institutes.clear();
  for (const uint64_t author : chosen_) add_person(author);
}

void PaperDrawer::add_person(uint64_t author) {
  const NodeId id = public_id(plan_.author_ids, author);
  const Career career = plan_.authors.career(author);
  links_.authors.push_back(id);
  const auto name = plan_.author_names.common_name(author, career);
  if (name && sharers_[*name] > 1) drawn_.mentions.push_back({links_.paper, id, *name});
  if (!numbers_.shortcuts) return;
  const NodeId home = public_id(plan_.institute_ids, plan_.affiliations.home(author, career));
  auto& institutes = links_.institutes;
  const bool is_new = std::find(institutes.begin(), institutes.end(), home) == institutes.end();
  if (is_new) institutes.push_back(home);
}

void PaperDrawer::draw_fields(const LatentPaper& paper, uint64_t wanted) {
  plan_.fields.draw_fields(paper.index, paper.topic, wanted, chosen_);
  links_.fields.clear();
  for (const uint64_t field : chosen_) {
    links_.fields.push_back({plan_.fields.level_of(field), public_id(plan_.field_ids, field)});
  }
}

void PaperDrawer::draw_venues(const LatentPaper& paper, uint64_t wanted) {
  plan_.venues.draw_venues(paper, wanted, chosen_);
  links_.venues.clear();
  for (const uint64_t venue : chosen_) {
    links_.venues.push_back({plan_.venues[venue].kind, public_id(plan_.venue_ids, venue)});
  }
}

void PaperDrawer::draw_references(const LatentPaper& paper, uint64_t wanted) {
  const uint64_t possible = std::min(wanted, plan_.papers.before(paper.year));
  plan_.citations.draw_references(paper, possible, chosen_);
  links_.references.clear();
  for (const uint64_t cited : chosen_) {
    links_.references.push_back(public_id(plan_.paper_ids, cited));
  }
}

}  // namespace

std::vector<QuotaChunk<4>> plan_paper_edges(const AcademicPlan& plan, unsigned threads,
                                            const std::function<void(const Range&)>& advance) {
  const AcademicSizes& sizes = plan.sizes;
  const Weights<4> totals = {sizes.paper_author - kLeastAuthors * sizes.papers,
                             sizes.paper_field - kLeastFields * sizes.papers,
                             sizes.paper_venue - kLeastVenues * sizes.papers, sizes.citations};
  const auto sum = [&](const Range& papers) {
    Weights<4> sums{};
    plan.papers.for_each(papers, [&](const LatentPaper& paper) {
      const PaperWeights weights = plan.weights(paper);
      sums[0] += weights.authors;
      sums[1] += weights.fields;
      sums[2] += weights.venues;
      sums[3] += weights.references;
    });
    return sums;
  };
  return plan_quotas(plan.papers.whole_blocks(kPapersPerChunk), totals, threads, sum, advance);
}

void draw_papers(const AcademicPlan& plan, const AcademicNumbers& numbers,
                 const std::vector<uint8_t>& sharers, const Range& papers, PaperQuotas& quotas,
                 DrawnPapers& drawn) {
  drawn.papers = papers.size();
  drawn.edges.clear();
  drawn.mentions.clear();
  PaperDrawer drawer(plan, numbers, sharers, drawn);
  plan.papers.for_each(papers, [&](const LatentPaper& paper) { drawer.draw(paper, quotas); });
}

}  // namespace hgt
