#include "hgt/academic/academic_schema.h"

#include <fmt/format.h>

namespace hgt {

namespace {

std::string level_edge(unsigned level) { return fmt::format("in_L{}", level); }

std::string kind_edge(size_t kind) { return fmt::format("pub_{}", kVenueKinds[kind]); }

void declare_placements(Schema& schema, const std::string& source) {
  for (unsigned level = 0; level < kFieldLevels; ++level) {
    schema.add_relation({.source = source, .edge = level_edge(level), .target = "field"});
  }
  for (size_t kind = 0; kind < kVenueKinds.size(); ++kind) {
    schema.add_relation({.source = source, .edge = kind_edge(kind), .target = "venue"});
  }
}

template <typename Placements>
void number_placements(const Schema& schema, std::string_view source, Placements& placements) {
  for (unsigned level = 0; level < kFieldLevels; ++level) {
    placements.in[level] = schema.relation(source, level_edge(level), "field");
  }
  for (size_t kind = 0; kind < kVenueKinds.size(); ++kind) {
    placements.pub[kind] = schema.relation(source, kind_edge(kind), "venue");
  }
}

void add_pairs(Relation relation, const std::vector<NodeId>& nodes,
               std::vector<PlacedEdge>& edges) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t j = i + 1; j < nodes.size(); ++j) {
      edges.push_back({relation, {.source = nodes[i], .target = nodes[j]}});
    }
  }
}

void add_authors(const AcademicNumbers& numbers, const PaperLinks& links,
                 std::vector<PlacedEdge>& edges) {
  for (size_t i = 0; i < links.authors.size(); ++i) {
    const bool last = i + 1 == links.authors.size();
    const Relation writes = i == 0 ? numbers.writes_first
                            : last ? numbers.writes_last
                                   : numbers.writes_other;
    edges.push_back({writes, {.source = links.authors[i], .target = links.paper}});
  }
}

template <typename Placements>
void add_placements(const Placements& placements, NodeId source, const PaperLinks& links,
                    std::vector<PlacedEdge>& edges) {
  for (const auto& [level, field] : links.fields) {
    edges.push_back({placements.in[level], {.source = source, .target = field}});
  }
  for (const auto& [kind, venue] : links.venues) {
    edges.push_back(
        {placements.pub[static_cast<size_t>(kind)], {.source = source, .target = venue}});
  }
}

}  // namespace

Schema academic_schema(bool shortcuts) {
  Schema schema;
  schema.time_unit = TimeUnit::year;
  for (const char* type : {"paper", "author", "field", "venue", "institute"}) {
    const bool is_paper = std::string_view(type) == "paper";
    const NodeType number =
        schema.add_node_type(type, is_paper ? NodeKind::event : NodeKind::plain);
    schema.at(number).names = true;
  }
  for (const char* edge : {"writes_first", "writes_other", "writes_last"}) {
    schema.add_relation({.source = "author", .edge = edge, .target = "paper"});
  }
  declare_placements(schema, "paper");
  schema.add_relation(
      {.source = "author", .edge = "affiliated", .target = "institute", .times = true});
  schema.add_relation({.source = "paper", .edge = "cites", .target = "paper"});
  schema.add_relation({.source = "field", .edge = "within", .target = "field"});
  if (shortcuts) {
    declare_placements(schema, "author");
    for (const char* type : {"author", "institute"}) {
      schema.add_relation({.source = type, .edge = "coauthor", .target = type, .symmetric = true});
    }
  }
  schema.number_relations();
  return schema;
}

AcademicNumbers::AcademicNumbers(const Schema& schema)
    : paper(schema.node_type("paper")),
      author(schema.node_type("author")),
      field(schema.node_type("field")),
      venue(schema.node_type("venue")),
      institute(schema.node_type("institute")),
      writes_first(schema.relation("author", "writes_first", "paper")),
      writes_other(schema.relation("author", "writes_other", "paper")),
      writes_last(schema.relation("author", "writes_last", "paper")),
      affiliated(schema.relation("author", "affiliated", "institute")),
      cites(schema.relation("paper", "cites", "paper")),
      within(schema.relation("field", "within", "field")) {
  number_placements(schema, "paper", *this);
  if (!schema.find_relation(author, "coauthor", author)) return;
  shortcuts.emplace();
  number_placements(schema, "author", *shortcuts);
  shortcuts->author_coauthor = schema.relation("author", "coauthor", "author");
  shortcuts->institute_coauthor = schema.relation("institute", "coauthor", "institute");
}

void add_paper_edges(const AcademicNumbers& numbers, const PaperLinks& links,
                     std::vector<PlacedEdge>& edges) {
  add_authors(numbers, links, edges);
  add_placements(numbers, links.paper, links, edges);
  for (const NodeId cited : links.references) {
    edges.push_back({numbers.cites, {.source = links.paper, .target = cited}});
  }
  if (!numbers.shortcuts) return;
  for (const NodeId author : links.authors) {
    add_placements(*numbers.shortcuts, author, links, edges);
  }
  add_pairs(numbers.shortcuts->author_coauthor, links.authors, edges);
  add_pairs(numbers.shortcuts->institute_coauthor, links.institutes, edges);
}

}  // namespace hgt
