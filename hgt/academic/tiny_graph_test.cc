// The tiny graph, checked by hand: 4 papers, 3 authors, 3 fields, 2 venues, 1 institute.
#include "hgt/academic/tiny_graph.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hgt/academic/academic_test_graph.h"
#include "hgt/error.h"
#include "hgt/graph/graph_check.h"

namespace hgt {
namespace {

using Nodes = std::vector<NodeId>;

AcademicGraph generate(GenerateOptions options) {
  options.preset = "tiny";
  options.build.replace = true;
  generate_academic_graph(workplace() / "tiny", options);
  return AcademicGraph(workplace() / "tiny");
}

const AcademicGraph& tiny() {
  static const AcademicGraph graph = generate({});
  return graph;
}

Nodes into(const AcademicGraph& academic, const std::string& source, const std::string& edge,
           const std::string& target, NodeId node) {
  const auto found = academic.graph.incoming(academic.relation(source, edge, target), node).sources;
  return {found.begin(), found.end()};
}

template <typename T>
std::vector<T> truth(const std::string& name) {
  const auto items = tiny().truth.as<T>(name);
  return {items.begin(), items.end()};
}

TEST(TinyGraph, HasThirteenNodes) {
  EXPECT_EQ(tiny().nodes("paper"), 4U);
  EXPECT_EQ(tiny().nodes("author"), 3U);
  EXPECT_EQ(tiny().nodes("field"), 3U);
  EXPECT_EQ(tiny().nodes("venue"), 2U);
  EXPECT_EQ(tiny().nodes("institute"), 1U);
}

TEST(TinyGraph, HasItsPapersInTheirYears) {
  const std::vector<Time> years = {2000, 2005, 2010, 2010};
  for (NodeId paper = 0; paper < 4; ++paper) EXPECT_EQ(tiny().year(paper), years[paper]);
  EXPECT_EQ(tiny().graph.name(tiny().paper, 2), "Attention over typed edges");
  EXPECT_EQ(tiny().graph.features(tiny().paper).width, 64U);
}

TEST(TinyGraph, LinksAuthorsByTheirPlaceOnThePaper) {
  EXPECT_EQ(into(tiny(), "author", "writes_first", "paper", 0), (Nodes{0}));
  EXPECT_EQ(into(tiny(), "author", "writes_last", "paper", 0), (Nodes{}));
  EXPECT_EQ(into(tiny(), "author", "writes_first", "paper", 1), (Nodes{0}));
  EXPECT_EQ(into(tiny(), "author", "writes_last", "paper", 1), (Nodes{1}));
  EXPECT_EQ(into(tiny(), "author", "writes_first", "paper", 2), (Nodes{1}));
  EXPECT_EQ(into(tiny(), "author", "writes_other", "paper", 2), (Nodes{0}));
  EXPECT_EQ(into(tiny(), "author", "writes_last", "paper", 2), (Nodes{2}));
  EXPECT_EQ(into(tiny(), "author", "writes_first", "paper", 3), (Nodes{2}));
  EXPECT_EQ(into(tiny(), "paper", "rev_writes_first", "author", 0), (Nodes{0, 1}));
}

TEST(TinyGraph, LinksFieldsAndVenues) {
  EXPECT_EQ(into(tiny(), "paper", "in_L0", "field", 0), (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(into(tiny(), "paper", "in_L1", "field", 1), (Nodes{1, 2}));
  EXPECT_EQ(into(tiny(), "paper", "in_L1", "field", 2), (Nodes{0, 1, 3}));
  EXPECT_EQ(into(tiny(), "field", "within", "field", 0), (Nodes{1, 2}));
  EXPECT_EQ(into(tiny(), "paper", "pub_conference", "venue", 0), (Nodes{1, 2}));
  EXPECT_EQ(into(tiny(), "paper", "pub_journal", "venue", 1), (Nodes{0, 3}));
  EXPECT_EQ(tiny().edges("paper", "pub_preprint", "venue"), 0U);
}

TEST(TinyGraph, CitesEarlierPapersOnly) {
  EXPECT_EQ(into(tiny(), "paper", "cites", "paper", 0), (Nodes{1, 2, 3}));
  EXPECT_EQ(into(tiny(), "paper", "cites", "paper", 1), (Nodes{2, 3}));
  EXPECT_EQ(tiny().edges("paper", "cites", "paper"), 5U);
}

TEST(TinyGraph, HasAffiliationsWithTimes) {
  const auto stays = tiny().graph.incoming(tiny().relation("author", "affiliated", "institute"), 0);
  EXPECT_EQ(Nodes(stays.sources.begin(), stays.sources.end()), (Nodes{0, 1, 2}));
  EXPECT_EQ(times_of(stays), (std::vector<Time>{1998, 2004, 2009}));
  EXPECT_EQ(*tiny().graph.schema().time_range, (std::pair<Time, Time>{1998, 2010}));
}

TEST(TinyGraph, HasTwoAuthorsOfOneName) {
  const NodeType author = tiny().type("author");
  EXPECT_EQ(tiny().graph.name(author, 0), tiny().graph.name(author, 2));
  EXPECT_NE(tiny().graph.name(author, 0), tiny().graph.name(author, 1));
}

TEST(TinyGraph, WritesItsTruth) {
  EXPECT_EQ(truth<int32_t>("paper_topic"), (std::vector<int32_t>{1, 0, 0, 1}));
  EXPECT_EQ(truth<NodeId>("topic_l1"), (Nodes{1, 2}));
  EXPECT_EQ(truth<int32_t>("author_topic_early"), (std::vector<int32_t>{1, 0, 0}));
  EXPECT_EQ(truth<int32_t>("author_topic_late"), (std::vector<int32_t>{0, 0, 1}));
  EXPECT_EQ(tiny().truth.shape("venue_topic"), (std::vector<uint64_t>{2, 11}));
  EXPECT_EQ(truth<NodeId>("mention_paper"), (Nodes{0, 1, 2, 2, 3}));
  EXPECT_EQ(truth<NodeId>("mention_author"), (Nodes{0, 0, 0, 2, 2}));
  EXPECT_EQ(truth<int32_t>("mention_name"), (std::vector<int32_t>(5, 0)));
}

TEST(TinyGraph, DerivesShortcuts) {
  const AcademicGraph academic = generate({.shortcuts = true, .features = 0});
  EXPECT_EQ(into(academic, "author", "coauthor", "author", 0), (Nodes{1, 1, 2}));
  EXPECT_EQ(into(academic, "author", "coauthor", "author", 2), (Nodes{0, 1}));
  EXPECT_EQ(into(academic, "author", "pub_journal", "venue", 1), (Nodes{0, 2}));
  EXPECT_EQ(into(academic, "author", "in_L1", "field", 2), (Nodes{0, 0, 1, 2}));
  EXPECT_EQ(academic.edges("institute", "coauthor", "institute"), 0U);
  EXPECT_EQ(academic.graph.features(academic.paper).width, 0U);
  verify(academic.graph);
}

TEST(TinyGraph, IgnoresTheSeedAndRefusesANumberOfPapers) {
  generate_academic_graph(workplace() / "seeded", {.preset = "tiny", .seed = 1});
  generate_academic_graph(workplace() / "other", {.preset = "tiny", .seed = 2});
  EXPECT_EQ(bytes_of(workplace() / "seeded" / "schema.json"),
            bytes_of(workplace() / "other" / "schema.json"));
  try {
    generate_academic_graph(workplace() / "more", {.preset = "tiny", .papers = 5});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("preset tiny has a fixed size; "), 0U);
  }
}

}  // namespace
}  // namespace hgt
