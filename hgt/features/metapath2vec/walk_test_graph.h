// For tests of walks: a graph given as a list of edges, from which tests also compute the
// expected results. Papers are events; authors have two relations to papers; edges to venues have
// times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/features/metapath2vec/walks.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/random.h"

namespace hgt {

struct ListedEdge {
  std::string edge;  // writes or edits: author to paper; appears_in: paper to venue
  NodeId source = 0;
  NodeId target = 0;
  Time time = kNoTime;
};

struct ListedGraph {
  std::vector<Time> papers;
  uint64_t authors = 0;
  uint64_t venues = 0;
  std::vector<ListedEdge> edges;
};

inline Schema walk_test_schema() {
  Schema schema;
  schema.add_node_type("paper", NodeKind::event);
  schema.add_node_type("author", NodeKind::plain);
  schema.add_node_type("venue", NodeKind::plain);
  for (const char* edge : {"writes", "edits", "reads"}) {
    schema.add_relation({.source = "author", .edge = edge, .target = "paper"});
  }
  schema.add_relation({.source = "paper", .edge = "appears_in", .target = "venue", .times = true});
  schema.number_relations();
  return schema;
}

inline std::string source_type(const std::string& edge) {
  return edge == "appears_in" ? "paper" : "author";
}
inline std::string target_type(const std::string& edge) {
  return edge == "appears_in" ? "venue" : "paper";
}

inline HeteroGraph build_listed(const Path& folder, const ListedGraph& listed) {
  GraphBuilder builder(folder, walk_test_schema());
  const Schema& schema = builder.schema();
  for (const Time time : listed.papers) builder.add_node(schema.node_type("paper"), {.time = time});
  for (uint64_t i = 0; i < listed.authors; ++i) builder.add_node(schema.node_type("author"), {});
  for (uint64_t i = 0; i < listed.venues; ++i) builder.add_node(schema.node_type("venue"), {});
  for (const ListedEdge& edge : listed.edges) {
    const Relation relation =
        schema.relation(source_type(edge.edge), edge.edge, target_type(edge.edge));
    builder.add_edge(relation, {.source = edge.source, .target = edge.target, .time = edge.time});
  }
  builder.finish();
  return HeteroGraph::open(folder);
}

// From papers to sources (authors) of these relations; rev: from authors to papers, and so on.
inline std::vector<Relation> relations_of(const Schema& schema,
                                          const std::vector<std::string>& edges,
                                          bool reverse = false) {
  std::vector<Relation> relations;
  for (const std::string& edge : edges) {
    const Relation relation = schema.relation(source_type(edge), edge, target_type(edge));
    relations.push_back(reverse ? schema.reverse(relation) : relation);
  }
  return relations;
}

// author - paper - venue - paper - author; writing and reading alike (their lists do not touch).
inline WalkPath author_path(const Schema& schema) {
  return {
      .type = schema.node_type("author"),
      .steps = {relations_of(schema, {"writes", "edits"}, true),
                relations_of(schema, {"appears_in"}, true), relations_of(schema, {"appears_in"}),
                relations_of(schema, {"writes", "edits"})}};
}

inline WalkPath venue_path(const Schema& schema) {
  return {
      .type = schema.node_type("venue"),
      .steps = {relations_of(schema, {"appears_in"}), relations_of(schema, {"appears_in"}, true)}};
}

inline WalkPath paper_path(const Schema& schema) {
  return {.type = schema.node_type("paper"),
          .steps = {relations_of(schema, {"writes", "reads"}),
                    relations_of(schema, {"reads", "writes"}, true)}};
}

// Papers of 2000 to 2019, four of them without a time; venue 0 is a hub with a third of the papers.
inline ListedGraph random_listed(uint64_t papers, uint64_t seed) {
  ListedGraph listed{.papers = {}, .authors = papers / 3 + 2, .venues = 6, .edges = {}};
  Draws draws(hash(seed, papers));
  const auto add = [&](const char* edge, uint64_t source, uint64_t target, Time time) {
    listed.edges.push_back({edge, static_cast<NodeId>(source), static_cast<NodeId>(target), time});
  };
  for (uint64_t paper = 0; paper < papers; ++paper) {
    const Time year = 2000 + static_cast<Time>(draws.below(20));
    listed.papers.push_back(paper % (papers / 4) == 1 ? kNoTime : year);
    for (uint64_t i = draws.below(4); i > 0; --i)
      add("writes", draws.below(listed.authors), paper, kNoTime);
    for (uint64_t i = draws.below(3); i > 0; --i)
      add("edits", draws.below(listed.authors), paper, kNoTime);
    for (uint64_t i = draws.below(3); i > 0; --i)
      add("reads", draws.below(listed.authors), paper, kNoTime);
    const uint64_t venue = draws.below(3) == 0 ? 0 : draws.below(listed.venues);
    add("appears_in", paper, venue,
        draws.below(5) == 0 ? kNoTime : year + static_cast<Time>(draws.below(4)));
  }
  return listed;
}

inline std::vector<std::vector<WalkNode>> all_walks(const Walks& walks) {
  std::vector<std::vector<WalkNode>> all(walks.size());
  for (uint64_t i = 0; i < walks.size(); ++i) walks.walk(i, all[i]);
  return all;
}

}  // namespace hgt
