// The schema of academic graphs (the paper's Open Academic Graph), and how one paper becomes edges.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hgt/academic/academic_fields.h"
#include "hgt/academic/academic_venues.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/schema.h"

namespace hgt {

// Node types paper (event), author, field, venue, institute; the relations among them; with
// `shortcuts` also those that follow from them: author in_L* field, author pub_* venue, author
// coauthor author, institute coauthor institute. The relations are numbered.
Schema academic_schema(bool shortcuts);

// The numbers of the types and relations of such a schema.
struct AcademicNumbers {
  explicit AcademicNumbers(const Schema& schema);

  NodeType paper, author, field, venue, institute;
  Relation writes_first, writes_other, writes_last;
  std::array<Relation, kFieldLevels> in;         // paper in_L* field
  std::array<Relation, kVenueKinds.size()> pub;  // paper pub_* venue, by VenueKind
  Relation affiliated, cites, within;

  struct Shortcuts {
    std::array<Relation, kFieldLevels> in;
    std::array<Relation, kVenueKinds.size()> pub;
    Relation author_coauthor, institute_coauthor;
  };
  std::optional<Shortcuts> shortcuts;
};

// What hangs on one paper, by public ids; each list without repetition.
struct PaperLinks {
  struct Field {
    unsigned level = 0;
    NodeId field = 0;
  };
  struct Venue {
    VenueKind kind{};
    NodeId venue = 0;
  };
  NodeId paper = 0;
  std::vector<NodeId> authors;  // in their order on the paper
  std::vector<Field> fields;
  std::vector<Venue> venues;
  std::vector<NodeId> references;
  std::vector<NodeId> institutes;  // of the authors; only for shortcuts
};

// Appends the edges of one paper. With shortcuts in the schema, also those that follow from this
// paper, each once per paper; another paper may add the same pair again.
void add_paper_edges(const AcademicNumbers& numbers, const PaperLinks& links,
                     std::vector<PlacedEdge>& edges);

}  // namespace hgt
