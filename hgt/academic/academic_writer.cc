#include "hgt/academic/academic_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hgt/academic/academic_schema.h"
#include "hgt/academic/paper_edges.h"
#include "hgt/academic/quota_chunks.h"
#include "hgt/error.h"
#include "hgt/graph/text_features.h"

namespace hgt {

namespace {

constexpr uint64_t kNodesPerChunk = 2048;

// How long a part takes on two cores, in units of what an author takes.
constexpr double kPaperTime = 2.5;
constexpr double kPlanningTime = 0.1;  // per paper
constexpr double kEdgeTime = 0.6;
constexpr double kFinishTime = 0.2;  // per edge

// Reports one stage of the work.
class Stage {
 public:
  Stage(ProgressSink sink, std::string name, std::string unit, uint64_t total)
      : sink_(std::move(sink)), progress_{std::move(name), std::move(unit)}, total_(total) {}

  void advance(uint64_t units) {
    progress_.count += units;
    progress_.fraction = static_cast<double>(progress_.count) / static_cast<double>(total_);
    sink_(progress_);
  }
  void finish() {
    progress_.fraction = 1.0;
    progress_.finished = true;
    sink_(progress_);
  }

 private:
  ProgressSink sink_;
  Progress progress_;
  uint64_t total_;
};

std::vector<Range> node_ranges(uint64_t nodes) {
  std::vector<Range> ranges;
  for (uint64_t begin = 0; begin < nodes; begin += kNodesPerChunk) {
    ranges.push_back({begin, std::min(nodes, begin + kNodesPerChunk)});
  }
  return ranges;
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
  NodeWriter(const AcademicPlan& plan, GraphBuilder& builder, AcademicTruth& truth,
             unsigned threads)
      : plan_(plan),
        builder_(builder),
        truth_(truth),
        threads_(threads),
        numbers_(builder.schema()) {}

  void add_papers(uint64_t features, const ProgressSink& progress);
  // Fills in how many authors have each common name; counts end at 255.
  void add_authors(std::vector<uint8_t>& sharers, const ProgressSink& progress);
  void add_fields();
  void add_venues();
  void add_institutes();

 private:
  struct Paper {
    LatentPaper latent;
    std::string title;
    std::vector<float> features;
  };
  struct Author {
    std::string name;
    std::optional<uint64_t> common_name;
    uint64_t early_topic = 0;
    uint64_t late_topic = 0;
  };
  Paper paper(uint64_t id, uint64_t features) const;
  Author author(uint64_t id) const;
  // Calls use(id, node) for all nodes, which make(id) made on several threads.
  template <typename Node, typename Make, typename Use>
  void add_nodes(uint64_t count, const Make& make, Stage stage, const Use& use);

  const AcademicPlan& plan_;
  GraphBuilder& builder_;
  AcademicTruth& truth_;
  unsigned threads_;
  AcademicNumbers numbers_;
};

template <typename Node, typename Make, typename Use>
void NodeWriter::add_nodes(uint64_t count, const Make& make, Stage stage, const Use& use) {
  const std::vector<Range> ranges = node_ranges(count);
  make_in_order<std::vector<Node>>(
      ranges.size(), threads_,
      [&](uint64_t i, std::vector<Node>& nodes) {
        nodes.clear();
        for (uint64_t id = ranges[i].begin; id < ranges[i].end; ++id) nodes.push_back(make(id));
      },
      [&](uint64_t i, const std::vector<Node>& nodes) {
        for (uint64_t at = 0; at < nodes.size(); ++at) use(ranges[i].begin + at, nodes[at]);
        stage.advance(nodes.size());
      });
  stage.finish();
}

NodeWriter::Paper NodeWriter::paper(uint64_t id, uint64_t features) const {
  Paper paper{.latent = plan_.papers.at(plan_.paper_ids.inverse(id)), .title = {}, .features = {}};
  paper.title = plan_.words.title(paper.latent.index, paper.latent.topic);
  paper.features.resize(features);
  if (features > 0) hashed_words(paper.title, paper.features);
  return paper;
}

void NodeWriter::add_papers(uint64_t features, const ProgressSink& progress) {
  if (features > 0) {
    builder_.declare_features(
        numbers_.paper,
        {.width = features, .type = FeatureType::float16, .origin = "hashed words of the title"});
  }
  add_nodes<Paper>(
      plan_.sizes.papers, [&](uint64_t id) { return paper(id, features); },
      Stage(progress, "papers", "papers", plan_.sizes.papers),
      [&](uint64_t id, const Paper& paper) {
        const Time year = plan_.year(paper.latent.year);
        builder_.add_node(numbers_.paper, {.name = paper.title, .time = year});
        truth_.add_paper(paper.latent.topic);
        if (features == 0) return;
        builder_.set_features(numbers_.paper, static_cast<NodeId>(id), paper.features);
      });
}

NodeWriter::Author NodeWriter::author(uint64_t id) const {
  const uint64_t author = plan_.author_ids.inverse(id);
  const Career career = plan_.authors.career(author);
  return {.name = plan_.author_names.name(author, career),
          .common_name = plan_.author_names.common_name(author, career),
          .early_topic = career.topic,
          .late_topic = plan_.authors.late_topic(author, career)};
}

void NodeWriter::add_authors(std::vector<uint8_t>& sharers, const ProgressSink& progress) {
  sharers.assign(plan_.author_names.common_names(), 0);
  add_nodes<Author>(
      plan_.sizes.authors, [&](uint64_t id) { return author(id); },
      Stage(progress, "authors", "authors", plan_.sizes.authors),
      [&](uint64_t /*id*/, const Author& author) {
        builder_.add_node(numbers_.author, {.name = author.name});
        truth_.add_author(author.early_topic, author.late_topic);
        const auto& common = author.common_name;
        if (common && sharers[*common] < 255) ++sharers[*common];
      });
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

// --- edges ---

std::vector<QuotaChunk<4>> plan_papers(const AcademicPlan& plan, const WriteOptions& options) {
  Stage stage(options.work.sink(), "planning", "papers", plan.sizes.papers);
  auto chunks = plan_paper_edges(plan, options.threads,
                                 [&](const Range& papers) { stage.advance(papers.size()); });
  stage.finish();
  return chunks;
}

void add_edges_of_papers(const AcademicPlan& plan, const std::vector<QuotaChunk<4>>& chunks,
                         const std::vector<uint8_t>& sharers, GraphBuilder& builder,
                         AcademicTruth& truth, const WriteOptions& options) {
  const AcademicNumbers numbers(builder.schema());
  Stage stage(options.work.sink(), "edges of papers", "papers", plan.sizes.papers);
  const PaperQuotas left = draw_chunks<DrawnPapers>(
      chunks, options.threads,
      [&](const Range& papers, PaperQuotas& quotas, DrawnPapers& drawn) {
        draw_papers(plan, numbers, sharers, papers, quotas, drawn);
      },
      [&](const DrawnPapers& drawn) {
        builder.add_edges(drawn.edges);
        for (const auto& [paper, author, name] : drawn.mentions) {
          truth.add_mention(paper, author, name);
        }
        stage.advance(drawn.papers);
      });
  constexpr std::array<std::string_view, 4> kKinds = {"paper-author", "paper-field", "paper-venue",
                                                      "citation"};
  for (size_t i = 0; i < kKinds.size(); ++i) check_settled(left[i], kKinds[i]);
  stage.finish();
}

struct DrawnStays {
  uint64_t authors = 0;
  std::vector<PlacedEdge> edges;
};

void draw_affiliations(const AcademicPlan& plan, Relation affiliated, const Range& authors,
                       Quota& quota, DrawnStays& drawn) {
  drawn.authors = authors.size();
  drawn.edges.clear();
  std::vector<Affiliations::Stay> stays;
  for (uint64_t author = authors.begin; author < authors.end; ++author) {
    const uint64_t wanted = kLeastAffiliations + quota.next(plan.affiliation_weight(author));
    plan.affiliations.draw_stays(author, plan.authors.career(author), wanted, stays);
    quota.hand_on(wanted - stays.size());
    for (const auto& [institute, year] : stays) {
      drawn.edges.push_back({affiliated,
                             {.source = public_id(plan.author_ids, author),
                              .target = public_id(plan.institute_ids, institute),
                              .time = plan.year(year)}});
    }
  }
}

void add_affiliations(const AcademicPlan& plan, GraphBuilder& builder,
                      const WriteOptions& options) {
  const Relation affiliated = AcademicNumbers(builder.schema()).affiliated;
  const AcademicSizes& sizes = plan.sizes;
  const Weights<1> total = {sizes.author_institute - kLeastAffiliations * sizes.authors};
  const auto sum = [&](const Range& authors) {
    Weights<1> weights{};
    for (uint64_t i = authors.begin; i < authors.end; ++i) weights[0] += plan.affiliation_weight(i);
    return weights;
  };
  Stage stage(options.work.sink(), "edges of authors", "authors", sizes.authors);
  const Quotas<1> left = draw_chunks<DrawnStays>(
      plan_quotas(node_ranges(sizes.authors), total, options.threads, sum,
                  [](const Range& /*authors*/) {}),
      options.threads,
      [&](const Range& authors, Quotas<1>& quota, DrawnStays& drawn) {
        draw_affiliations(plan, affiliated, authors, quota[0], drawn);
      },
      [&](const DrawnStays& drawn) {
        builder.add_edges(drawn.edges);
        stage.advance(drawn.authors);
      });
  check_settled(left[0], "author-institute");
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

// The parts of the work, as long as they take.
struct Times {
  explicit Times(const AcademicSizes& sizes) {
    const auto number = [](uint64_t count) { return static_cast<double>(count); };
    const uint64_t on_papers =
        sizes.paper_author + sizes.paper_field + sizes.paper_venue + sizes.citations;
    papers = kPaperTime * number(sizes.papers);
    authors = number(sizes.authors);
    planning = kPlanningTime * number(sizes.papers);
    paper_edges = kEdgeTime * number(on_papers);
    affiliations = kEdgeTime * number(sizes.author_institute);
    finish = kFinishTime * number(on_papers + sizes.author_institute);
    all = papers + authors + planning + paper_edges + affiliations + finish;
  }
  double papers, authors, planning, paper_edges, affiliations, finish, all;
};

}  // namespace

void write_academic_graph(const AcademicPlan& plan, GraphBuilder& builder, AcademicTruth& truth,
                          const WriteOptions& options) {
  const Times times(plan.sizes);
  std::vector<uint8_t> sharers;
  NodeWriter nodes(plan, builder, truth, options.threads);
  options.work.begin(times.papers / times.all);
  nodes.add_papers(options.features, options.work.sink());
  options.work.begin(times.authors / times.all);
  nodes.add_authors(sharers, options.work.sink());
  nodes.add_fields();
  nodes.add_venues();
  nodes.add_institutes();
  options.work.begin(times.planning / times.all);
  const std::vector<QuotaChunk<4>> chunks = plan_papers(plan, options);
  options.work.begin(times.paper_edges / times.all);
  add_edges_of_papers(plan, chunks, sharers, builder, truth, options);
  options.work.begin(times.affiliations / times.all);
  add_affiliations(plan, builder, options);
  add_hierarchy(plan, builder);
  options.work.begin(times.finish / times.all);
}

}  // namespace hgt
