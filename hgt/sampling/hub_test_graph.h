// For tests of the sampler: a graph with lists on both sides of the length from which they are
// searched instead of read (kHeavy in adjacency.cc, 512), with repeated edges, times and weights.
#pragma once

#include <cstdint>

#include "hgt/graph/graph_builder.h"
#include "hgt/sampling/random_test_graph.h"

namespace hgt {

constexpr NodeId kHubTestPapers = 1200;
constexpr NodeId kTestAuthors = 32;
constexpr NodeId kTestHubs = 24;      // authors 0 .. 23, who know each other
constexpr uint64_t kTestHeavy = 512;  // the longest list that is read
constexpr NodeId kAtHeavy = 24;       // authors 24 and 25: lists of 512 entries
constexpr NodeId kAboveHeavy = 26;    // authors 26 and 27: lists of 513 entries

inline Schema hub_test_schema() {
  Schema schema;
  schema.add_node_type("paper", NodeKind::event);
  schema.add_node_type("author", NodeKind::plain);
  schema.add_node_type("venue", NodeKind::plain);
  schema.add_relation({.source = "author", .edge = "reads", .target = "paper", .weights = true});
  schema.add_relation({.source = "paper", .edge = "cites", .target = "paper"});
  schema.add_relation({.source = "paper", .edge = "appears_in", .target = "venue", .times = true});
  schema.add_relation({.source = "author",
                       .edge = "knows",
                       .target = "author",
                       .symmetric = true,
                       .times = true,
                       .weights = true});
  schema.number_relations();
  return schema;
}

inline Time hub_test_year(uint64_t number) {
  return kFirstTestYear + static_cast<Time>(number % 10);
}

// Venue 0 has 1,600 entries, venue 1 has 800, venue 2 has 8; a paper has a few.
inline void add_hub_venues(GraphBuilder& builder) {
  const Relation appears = builder.schema().relation("paper", "appears_in", "venue");
  const auto add = [&](NodeId paper, NodeId venue, uint64_t year) {
    builder.add_edge(appears, {.source = paper, .target = venue, .time = hub_test_year(year)});
  };
  for (NodeId paper = 0; paper < 800; ++paper) {
    add(paper, 0, paper);
    add(paper, 0, paper + 5);  // and again
    add(paper + 400, 1, paper);
    if (paper < 8) add(paper, 2, paper);
  }
}

// Every two of the first authors 25 times: lists of 575 entries and one for knowing oneself.
inline void add_hub_friends(GraphBuilder& builder) {
  const Relation knows = builder.schema().relation("author", "knows", "author");
  const auto add = [&](NodeId a, NodeId b, uint64_t copies) {
    for (uint64_t copy = 0; copy < copies; ++copy) {
      builder.add_edge(knows, {.source = a,
                               .target = b,
                               .time = hub_test_year(a + b + copy),
                               .weight = static_cast<float>(copy)});
    }
  };
  for (NodeId a = 0; a < kTestHubs; ++a) {
    for (NodeId b = a + 1; b < kTestHubs; ++b) add(a, b, 25);
    add(a, a, 1);
  }
  add(kAtHeavy, kAtHeavy + 1, kTestHeavy);
  add(kAboveHeavy, kAboveHeavy + 1, kTestHeavy + 1);
  add(0, 30, 2);  // hubs and one who is none
  add(1, 30, 1);
}

// Author 0 reads paper 0 six hundred times: long lists at both ends, and short ones beside.
inline void add_hub_readers(GraphBuilder& builder) {
  const Relation reads = builder.schema().relation("author", "reads", "paper");
  const auto add = [&](NodeId author, NodeId paper, uint64_t copies) {
    for (uint64_t copy = 0; copy < copies; ++copy) {
      builder.add_edge(
          reads, {.source = author, .target = paper, .weight = static_cast<float>(copy) + 0.5F});
    }
  };
  add(0, 0, 600);
  add(1, 1, 550);
  add(0, 1, 1);
  add(1, 0, 3);
  add(30, 0, 2);  // whose own list is short
  for (NodeId paper = 2; paper < 40; ++paper) add(0, paper, paper % 3);
}

// Paper 5 cites itself 520 times; paper 6 is cited by 600 papers, paper 7 cites 600, and both each
// other.
inline void add_hub_citations(GraphBuilder& builder) {
  const Relation cites = builder.schema().relation("paper", "cites", "paper");
  const auto add = [&](NodeId from, NodeId to) {
    builder.add_edge(cites, {.source = from, .target = to});
  };
  for (int copy = 0; copy < 520; ++copy) add(5, 5);
  for (NodeId paper = 100; paper < 700; ++paper) {
    add(paper, 6);
    add(7, paper);
  }
  for (int copy = 0; copy < 2; ++copy) add(7, 6);
  add(6, 7);
  add(5, 6);
  add(6, 6);
}

inline TestGraph hub_test_graph() {
  return TestGraph(hub_test_schema(), [](GraphBuilder& builder) {
    const Schema& schema = builder.schema();
    for (NodeId paper = 0; paper < kHubTestPapers; ++paper) {
      builder.add_node(schema.node_type("paper"),
                       {.time = paper % 7 == 3 ? kNoTime : hub_test_year(paper)});
    }
    for (NodeId i = 0; i < kTestAuthors; ++i) builder.add_node(schema.node_type("author"), {});
    for (NodeId i = 0; i < 3; ++i) builder.add_node(schema.node_type("venue"), {});
    add_hub_venues(builder);
    add_hub_friends(builder);
    add_hub_readers(builder);
    add_hub_citations(builder);
  });
}

}  // namespace hgt
