#include "hgt/academic/academic_writer.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "hgt/academic/academic_schema.h"
#include "hgt/academic/apportionment.h"
#include "hgt/error.h"
#include "hgt/graph/text_features.h"

namespace hgt {

namespace {

constexpr uint64_t kUnitsPerReport = 1U << 16U;

// Reports one stage of the work.
class Stage {
 public:
  Stage(const ProgressSink& sink, std::string name, std::string unit, uint64_t total)
      : sink_(sink), progress_{std::move(name), std::move(unit)}, total_(total) {}

  void step() {
    if (++progress_.count % kUnitsPerReport != 0) return;
    progress_.fraction = static_cast<double>(progress_.count) / static_cast<double>(total_);
    sink_(progress_);
  }
  void finish() {
    progress_.fraction = 1.0;
    progress_.finished = true;
    sink_(progress_);
  }

 private:
  const ProgressSink& sink_;
  Progress progress_;
  uint64_t total_;
};

// Calls visit(paper) for every paper in the latent order.
template <typename Visit>
void for_each_paper(const PaperOrder& papers, Visit visit) {
  for (uint64_t year = 0; year < papers.years(); ++year) {
    for (uint64_t topic = 0; topic < papers.topics(); ++topic) {
      const Range block = papers.block(year, topic);
      for (uint64_t i = block.begin; i < block.end; ++i) visit(LatentPaper{i, year, topic});
    }
  }
}

NodeId public_id(const Permutation& ids, uint64_t latent) {
  return static_cast<NodeId>(ids(latent));
}

void check_settled(const Quota& quota, std::string_view kind) {
  if (quota.debt() == 0) return;
  throw Error(
      fmt::format("{} {} edges could not be placed: there are too few nodes for this many distinct "
                  "edges; give a larger --papers",
                  quota.debt(), kind));
}

// --- nodes ---

class NodeWriter {
 public:
  NodeWriter(const AcademicPlan& plan, GraphBuilder& builder, AcademicTruth& truth)
      : plan_(plan), builder_(builder), truth_(truth), numbers_(builder.schema()) {}

  void add_papers(uint64_t features, const ProgressSink& progress);
  // Fills in how many authors have each common name; counts end at 255.
  void add_authors(std::vector<uint8_t>& sharers, const ProgressSink& progress);
  void add_fields();
  void add_venues();
  void add_institutes();

 private:
  const AcademicPlan& plan_;
  GraphBuilder& builder_;
  AcademicTruth& truth_;
  AcademicNumbers numbers_;
};

void NodeWriter::add_papers(uint64_t features, const ProgressSink& progress) {
  std::vector<float> row(features);
  if (features > 0) {
    builder_.declare_features(
        numbers_.paper,
        {.width = features, .type = FeatureType::float16, .origin = "hashed words of the title"});
  }
  Stage stage(progress, "papers", "papers", plan_.sizes.papers);
  for (uint64_t id = 0; id < plan_.sizes.papers; ++id, stage.step()) {
    const LatentPaper paper = plan_.papers.at(plan_.paper_ids.inverse(id));
    const std::string title = plan_.words.title(paper.index, paper.topic);
    builder_.add_node(numbers_.paper, {.name = title, .time = plan_.year(paper.year)});
    truth_.add_paper(paper.topic);
    if (features == 0) continue;
    hashed_words(title, row);
    builder_.set_features(numbers_.paper, static_cast<NodeId>(id), row);
  }
  stage.finish();
}

void NodeWriter::add_authors(std::vector<uint8_t>& sharers, const ProgressSink& progress) {
  sharers.assign(plan_.author_names.common_names(), 0);
  Stage stage(progress, "authors", "authors", plan_.sizes.authors);
  for (uint64_t id = 0; id < plan_.sizes.authors; ++id, stage.step()) {
    const uint64_t author = plan_.author_ids.inverse(id);
    const Career career = plan_.authors.career(author);
    builder_.add_node(numbers_.author, {.name = plan_.author_names.name(author, career)});
    truth_.add_author(career.topic, plan_.authors.late_topic(author, career));
    const auto common = plan_.author_names.common_name(author, career);
    if (common && sharers[*common] < 255) ++sharers[*common];
  }
  stage.finish();
}

void NodeWriter::add_fields() {
  const uint32_t level = builder_.declare_label(numbers_.field, "level");
  for (uint64_t id = 0; id < plan_.sizes.fields; ++id) {
    const uint64_t field = plan_.field_ids.inverse(id);
    builder_.add_node(numbers_.field, {.name = plan_.words.field_name(field)});
    builder_.add_label(numbers_.field, level, static_cast<NodeId>(id),
                       std::to_string(plan_.fields.level_of(field)));
  }
  std::vector<NodeId> l1_fields;
  for (uint64_t topic = 0; topic < plan_.fields.topics(); ++topic) {
    l1_fields.push_back(public_id(plan_.field_ids, plan_.fields.l1_of(topic)));
  }
  truth_.set_topics(l1_fields);
}

void NodeWriter::add_venues() {
  const uint32_t kind = builder_.declare_label(numbers_.venue, "kind");
  std::vector<int32_t> topics;
  std::vector<NodeId> partners;
  for (uint64_t id = 0; id < plan_.sizes.venues; ++id) {
    const uint64_t venue = plan_.venue_ids.inverse(id);
    const LatentVenue& latent = plan_.venues[venue];
    builder_.add_node(numbers_.venue, {.name = plan_.words.venue_name(venue, latent)});
    builder_.add_label(numbers_.venue, kind, static_cast<NodeId>(id),
                       kVenueKinds[static_cast<size_t>(latent.kind)]);
    for (uint64_t year = 0; year < plan_.sizes.years(); ++year) {
      topics.push_back(static_cast<int32_t>(plan_.venues.dominant_topic(venue, year)));
    }
    const bool swaps = venue < 2 * plan_.venues.swap_pairs();
    partners.push_back(public_id(plan_.venue_ids, swaps ? venue ^ 1U : venue));
  }
  truth_.set_venues(topics, partners);
}

void NodeWriter::add_institutes() {
  for (uint64_t id = 0; id < plan_.sizes.institutes; ++id) {
    const uint64_t institute = plan_.institute_ids.inverse(id);
    builder_.add_node(numbers_.institute, {.name = plan_.words.institute_name(institute)});
  }
}

// --- edges of papers ---

struct PaperQuotas {
  Quota authors, fields, venues, references;
};

PaperQuotas plan_quotas(const AcademicPlan& plan, const ProgressSink& progress) {
  PaperWeights sums;
  Stage stage(progress, "planning", "papers", plan.sizes.papers);
  for_each_paper(plan.papers, [&](const LatentPaper& paper) {
    const PaperWeights weights = plan.weights(paper);
    sums.authors += weights.authors;
    sums.fields += weights.fields;
    sums.venues += weights.venues;
    sums.references += weights.references;
    stage.step();
  });
  stage.finish();
  const AcademicSizes& sizes = plan.sizes;
  return {.authors = {sizes.paper_author - kLeastAuthors * sizes.papers, sums.authors},
          .fields = {sizes.paper_field - kLeastFields * sizes.papers, sums.fields},
          .venues = {sizes.paper_venue - kLeastVenues * sizes.papers, sums.venues},
          .references = {sizes.citations, sums.references}};
}

// Walks the papers in the latent order. What it carries from paper to paper: the quotas, and the
// authors of the current block who wait for their first paper.
class PaperEdgeWriter {
 public:
  PaperEdgeWriter(const AcademicPlan& plan, GraphBuilder& builder, AcademicTruth& truth,
                  const std::vector<uint8_t>& sharers)
      : plan_(plan),
        builder_(builder),
        truth_(truth),
        sharers_(sharers),
        numbers_(builder.schema()) {}

  void write(const ProgressSink& progress);

 private:
  void add_paper(const LatentPaper& paper, PaperQuotas& quotas);
  void draw_authors(const LatentPaper& paper, uint64_t wanted);
  void draw_fields(const LatentPaper& paper, uint64_t wanted);
  void draw_venues(const LatentPaper& paper, uint64_t wanted);
  void draw_references(const LatentPaper& paper, uint64_t wanted);
  void add_person(uint64_t author);
  Range due_debutants(const LatentPaper& paper);

  const AcademicPlan& plan_;
  GraphBuilder& builder_;
  AcademicTruth& truth_;
  const std::vector<uint8_t>& sharers_;
  AcademicNumbers numbers_;
  uint64_t next_debutant_ = 0;
  std::vector<uint64_t> chosen_;
  PaperLinks links_;
};

void PaperEdgeWriter::write(const ProgressSink& progress) {
  PaperQuotas quotas = plan_quotas(plan_, progress);
  Stage stage(progress, "edges of papers", "papers", plan_.sizes.papers);
  for_each_paper(plan_.papers, [&](const LatentPaper& paper) {
    add_paper(paper, quotas);
    stage.step();
  });
  check_settled(quotas.authors, "paper-author");
  check_settled(quotas.fields, "paper-field");
  check_settled(quotas.venues, "paper-venue");
  check_settled(quotas.references, "citation");
  stage.finish();
}

void PaperEdgeWriter::add_paper(const LatentPaper& paper, PaperQuotas& quotas) {
  const PaperWeights weights = plan_.weights(paper);
  const auto take = [&](Quota& quota, uint64_t least, uint64_t weight, auto draw) {
    const uint64_t wanted = least + quota.next(weight);
    (this->*draw)(paper, wanted);
    quota.hand_on(wanted - chosen_.size());
  };
  links_.paper = public_id(plan_.paper_ids, paper.index);
  take(quotas.authors, kLeastAuthors, weights.authors, &PaperEdgeWriter::draw_authors);
  take(quotas.fields, kLeastFields, weights.fields, &PaperEdgeWriter::draw_fields);
  take(quotas.venues, kLeastVenues, weights.venues, &PaperEdgeWriter::draw_venues);
  take(quotas.references, 0, weights.references, &PaperEdgeWriter::draw_references);
  add_paper_edges(builder_, numbers_, links_);
}

// The authors whose career starts with this block's papers come in even steps over the block.
Range PaperEdgeWriter::due_debutants(const LatentPaper& paper) {
  const Range block = plan_.papers.block(paper.year, paper.topic);
  const Range all = plan_.authors.debutants(paper.topic, paper.year);
  if (paper.index == block.begin) next_debutant_ = all.begin;
  const uint64_t papers_done = paper.index + 1 - block.begin;
  return {next_debutant_, all.begin + scaled(all.size(), papers_done, block.size())};
}

void PaperEdgeWriter::draw_authors(const LatentPaper& paper, uint64_t wanted) {
  next_debutant_ += plan_.authors.draw_team(paper, wanted, due_debutants(paper), chosen_);
  links_.authors.clear();
  links_.institutes.clear();
  for (const uint64_t author : chosen_) add_person(author);
}

void PaperEdgeWriter::add_person(uint64_t author) {
  const NodeId id = public_id(plan_.author_ids, author);
  const Career career = plan_.authors.career(author);
  links_.authors.push_back(id);
  const auto name = plan_.author_names.common_name(author, career);
  if (name && sharers_[*name] > 1) truth_.add_mention(links_.paper, id, *name);
  if (!numbers_.shortcuts) return;
  const NodeId home = public_id(plan_.institute_ids, plan_.affiliations.home(author, career));
  auto& institutes = links_.institutes;
  const bool is_new = std::find(institutes.begin(), institutes.end(), home) == institutes.end();
  if (is_new) institutes.push_back(home);
}

void PaperEdgeWriter::draw_fields(const LatentPaper& paper, uint64_t wanted) {
  plan_.fields.draw_fields(paper.index, paper.topic, wanted, chosen_);
  links_.fields.clear();
  for (const uint64_t field : chosen_) {
    links_.fields.push_back({plan_.fields.level_of(field), public_id(plan_.field_ids, field)});
  }
}

void PaperEdgeWriter::draw_venues(const LatentPaper& paper, uint64_t wanted) {
  plan_.venues.draw_venues(paper, wanted, chosen_);
  links_.venues.clear();
  for (const uint64_t venue : chosen_) {
    links_.venues.push_back({plan_.venues[venue].kind, public_id(plan_.venue_ids, venue)});
  }
}

void PaperEdgeWriter::draw_references(const LatentPaper& paper, uint64_t wanted) {
  const uint64_t possible = std::min(wanted, plan_.papers.before(paper.year));
  plan_.citations.draw_references(paper, possible, chosen_);
  links_.references.clear();
  for (const uint64_t cited : chosen_) {
    links_.references.push_back(public_id(plan_.paper_ids, cited));
  }
}

// --- the other edges ---

void add_affiliations(const AcademicPlan& plan, GraphBuilder& builder,
                      const ProgressSink& progress) {
  const AcademicNumbers numbers(builder.schema());
  const AcademicSizes& sizes = plan.sizes;
  uint64_t weight_sum = 0;
  for (uint64_t i = 0; i < sizes.authors; ++i) weight_sum += plan.affiliation_weight(i);
  Quota quota(sizes.author_institute - kLeastAffiliations * sizes.authors, weight_sum);
  Stage stage(progress, "edges of authors", "authors", sizes.authors);
  std::vector<Affiliations::Stay> stays;
  for (uint64_t author = 0; author < sizes.authors; ++author, stage.step()) {
    const uint64_t wanted = kLeastAffiliations + quota.next(plan.affiliation_weight(author));
    plan.affiliations.draw_stays(author, plan.authors.career(author), wanted, stays);
    quota.hand_on(wanted - stays.size());
    for (const auto& [institute, year] : stays) {
      builder.add_edge(numbers.affiliated, {.source = public_id(plan.author_ids, author),
                                            .target = public_id(plan.institute_ids, institute),
                                            .time = plan.year(year)});
    }
  }
  check_settled(quota, "author-institute");
  stage.finish();
}

void add_hierarchy(const AcademicPlan& plan, GraphBuilder& builder) {
  const AcademicNumbers numbers(builder.schema());
  for (uint64_t field = plan.fields.level(1).begin; field < plan.fields.size(); ++field) {
    builder.add_edge(numbers.within,
                     {.source = public_id(plan.field_ids, field),
                      .target = public_id(plan.field_ids, plan.fields.parent(field))});
  }
}

}  // namespace

void write_academic_graph(const AcademicPlan& plan, uint64_t features, GraphBuilder& builder,
                          AcademicTruth& truth, const ProgressSink& progress) {
  std::vector<uint8_t> sharers;
  NodeWriter nodes(plan, builder, truth);
  nodes.add_papers(features, progress);
  nodes.add_authors(sharers, progress);
  nodes.add_fields();
  nodes.add_venues();
  nodes.add_institutes();
  PaperEdgeWriter(plan, builder, truth, sharers).write(progress);
  add_affiliations(plan, builder, progress);
  add_hierarchy(plan, builder);
}

}  // namespace hgt
