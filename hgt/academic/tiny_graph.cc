#include "hgt/academic/tiny_graph.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "hgt/academic/academic_schema.h"
#include "hgt/academic/academic_truth.h"
#include "hgt/error.h"
#include "hgt/graph/text_features.h"

namespace hgt {

namespace {

// Nodes are numbered by their place in these tables.
struct Paper {
  const char* title;
  Time year;
  uint64_t topic;
};
constexpr std::array<Paper, 4> kPapers = {{
    {"Indexing large graphs on disk", 2000, 1},
    {"Sampling neighbors of large graphs", 2005, 0},
    {"Attention over typed edges", 2010, 0},
    {"Storing graphs that change", 2010, 1},
}};

struct Author {
  const char* name;
  uint64_t early_topic, late_topic;
};
constexpr std::array<Author, 3> kAuthors = {{
    {"Wei Zhang", 1, 0}, {"Maria Novak", 0, 0}, {"Wei Zhang", 0, 1},  // another one
}};

struct Field {
  const char* name;
  unsigned level;
};
constexpr std::array<Field, 3> kFields = {{
    {"Computer science", 0},
    {"Machine learning", 1},
    {"Databases", 1},
}};

struct Venue {
  const char* name;
  VenueKind kind;
  int32_t topic;
};
constexpr std::array<Venue, 2> kVenues = {{
    {"Conference on Graph Learning", VenueKind::conference, 0},
    {"Journal of Data Systems", VenueKind::journal, 1},
}};

constexpr std::array<const char*, 1> kInstitutes = {"University of Ljubljana"};

// Topic 0 is machine learning, topic 1 is databases.
constexpr std::array<NodeId, 2> kTopicFields = {1, 2};

enum class Link { author, field, venue, cited };

// One row for each edge of a paper: authors in their order; first, others, last.
struct PaperEdge {
  NodeId paper;
  Link link;
  NodeId other;
};
constexpr std::array<PaperEdge, 25> kPaperEdges = {{
    {0, Link::author, 0},  // first and only
    {1, Link::author, 0},  // first
    {1, Link::author, 1},  // last
    {2, Link::author, 1},  // first
    {2, Link::author, 0},  // other
    {2, Link::author, 2},  // last
    {3, Link::author, 2},  // first and only
    {0, Link::field, 0},   // L0
    {0, Link::field, 2},   // L1
    {1, Link::field, 0},   // L0
    {1, Link::field, 1},   // L1
    {1, Link::field, 2},   // L1
    {2, Link::field, 0},   // L0
    {2, Link::field, 1},   // L1
    {3, Link::field, 0},   // L0
    {3, Link::field, 2},   // L1
    {0, Link::venue, 1},   // journal
    {1, Link::venue, 0},   // conference
    {2, Link::venue, 0},   // conference
    {3, Link::venue, 1},   // journal
    {1, Link::cited, 0},  {2, Link::cited, 0}, {2, Link::cited, 1},
    {3, Link::cited, 0},  {3, Link::cited, 1},
}};

struct Stay {
  NodeId author, institute;
  Time year;
};
constexpr std::array<Stay, 3> kStays = {{{0, 0, 1998}, {1, 0, 2004}, {2, 0, 2009}}};

struct Within {
  NodeId child, parent;
};
constexpr std::array<Within, 2> kHierarchy = {{{1, 0}, {2, 0}}};

constexpr uint64_t kFeatures = 64;
constexpr Time kFirstYear = 2000;
constexpr Time kLastYear = 2010;

void add_papers(GraphBuilder& builder, NodeType type, uint64_t features) {
  if (features > 0) {
    builder.declare_features(
        type,
        {.width = features, .type = FeatureType::float16, .origin = "hashed words of the title"});
  }
  std::vector<float> row(features);
  for (const Paper& paper : kPapers) {
    const auto id = builder.add_node(type, {.name = paper.title, .time = paper.year});
    if (features == 0) continue;
    hashed_words(paper.title, row);
    builder.set_features(type, *id, row);
  }
}

void add_plain_nodes(GraphBuilder& builder, const AcademicNumbers& numbers) {
  const uint32_t level = builder.declare_label(numbers.field, "level");
  const uint32_t kind = builder.declare_label(numbers.venue, "kind");
  for (const Author& author : kAuthors) builder.add_node(numbers.author, {.name = author.name});
  for (const Field& field : kFields) {
    const auto id = builder.add_node(numbers.field, {.name = field.name});
    builder.add_label(numbers.field, level, *id, std::to_string(field.level));
  }
  for (const Venue& venue : kVenues) {
    const auto id = builder.add_node(numbers.venue, {.name = venue.name});
    builder.add_label(numbers.venue, kind, *id, kVenueKinds[static_cast<size_t>(venue.kind)]);
  }
  for (const char* name : kInstitutes) builder.add_node(numbers.institute, {.name = name});
}

PaperLinks links_of(NodeId paper) {
  PaperLinks links;
  links.paper = paper;
  for (const auto& [from, link, other] : kPaperEdges) {
    if (from != paper) continue;
    if (link == Link::author) links.authors.push_back(other);
    if (link == Link::field) links.fields.push_back({kFields[other].level, other});
    if (link == Link::venue) links.venues.push_back({kVenues[other].kind, other});
    if (link == Link::cited) links.references.push_back(other);
  }
  links.institutes = {0};  // everybody works there
  return links;
}

void add_edges(GraphBuilder& builder, const AcademicNumbers& numbers) {
  std::vector<PlacedEdge> edges;
  for (NodeId paper = 0; paper < kPapers.size(); ++paper) {
    add_paper_edges(numbers, links_of(paper), edges);
  }
  builder.add_edges(edges);
  for (const auto& [author, institute, year] : kStays) {
    builder.add_edge(numbers.affiliated, {.source = author, .target = institute, .time = year});
  }
  for (const auto& [child, parent] : kHierarchy) {
    builder.add_edge(numbers.within, {.source = child, .target = parent});
  }
}

// The only shared name, number 0, is that of authors 0 and 2.
void add_truth(AcademicTruth& truth) {
  for (const Paper& paper : kPapers) truth.add_paper(paper.topic);
  for (const Author& author : kAuthors) truth.add_author(author.early_topic, author.late_topic);
  for (const auto& [paper, link, author] : kPaperEdges) {
    if (link == Link::author && author != 1) truth.add_mention(paper, author, 0);
  }
  truth.set_topics(kTopicFields);
  std::vector<int32_t> topics;
  for (const Venue& venue : kVenues)
    topics.insert(topics.end(), kLastYear - kFirstYear + 1, venue.topic);
  truth.set_venues(topics, std::array<NodeId, 2>{0, 1});
}

}  // namespace

Schema write_tiny_graph(const Path& folder, const GenerateOptions& options) {
  if (options.papers) {
    throw Error("preset tiny has a fixed size; --papers applies to small, cs, med and oag");
  }
  Schema schema = academic_schema(options.shortcuts);
  schema.origin = {{"generator", "hgt generate"}, {"preset", "tiny"}};
  GraphBuilder builder(folder, schema, options.build);
  AcademicTruth truth(builder);
  const AcademicNumbers numbers(builder.schema());
  add_papers(builder, numbers.paper, options.features.value_or(kFeatures));
  add_plain_nodes(builder, numbers);
  add_edges(builder, numbers);
  add_truth(truth);
  auto about = schema.origin;
  about["first_year"] = std::to_string(kFirstYear);
  about["last_year"] = std::to_string(kLastYear);
  truth.finish(about);
  return builder.finish();
}

}  // namespace hgt
