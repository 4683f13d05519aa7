#include "hgt/viewer/node_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/words.h"

namespace hgt {
namespace {

const auto kNever = std::chrono::steady_clock::time_point::max();

struct NamedNode {
  std::string id, name;
};

// Types "paper" and "author" with names, "venue" without.
class NodeSearchTest : public testing::Test {
 protected:
  HeteroGraph graph_of(const std::vector<NamedNode>& papers,
                       const std::vector<NamedNode>& authors = {},
                       const std::vector<std::string>& venues = {}) {
    Schema schema;
    const NodeType paper = schema.add_node_type("paper", NodeKind::plain);
    const NodeType author = schema.add_node_type("author", NodeKind::plain);
    const NodeType venue = schema.add_node_type("venue", NodeKind::plain);
    schema.at(paper).names = true;
    schema.at(author).names = true;
    schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
    schema.number_relations();
    const Path folder = folder_.path() / ("graph" + std::to_string(graphs_++));
    GraphBuilder builder(folder, schema);
    for (const auto& [id, name] : papers) builder.add_node(paper, {.id = id, .name = name});
    for (const auto& [id, name] : authors) builder.add_node(author, {.id = id, .name = name});
    for (const auto& id : venues) builder.add_node(venue, {.id = id});
    builder.finish();
    return HeteroGraph::open(folder);
  }

  // The ids found among papers, separated by spaces.
  static std::string papers(const HeteroGraph& graph, std::string_view text, size_t limit = 100) {
    std::string ids;
    for (const FoundNode& found : NodeSearch(graph).find(NodeType{0}, text, limit, kNever).nodes) {
      ids += (ids.empty() ? "" : " ") + graph.id(found.type, found.node);
    }
    return ids;
  }

  // For people to read: every name, every place of the text in it.
  static std::vector<FoundNode> reference(const HeteroGraph& graph, std::string_view text,
                                          size_t limit);

  TestFolder folder_;
  int graphs_ = 0;
};

// Case folding of what the random names are made of.
std::string folded_by_hand(std::string_view text) {
  std::string folded;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view pair = text.substr(i, 2);
    if (pair == "\xc3\x9f") {
      folded += "ss";  // sharp s
    } else if (pair == "\xc3\x9c") {
      folded += "\xc3\xbc";  // U with two dots
    } else if (text[i] >= 'A' && text[i] <= 'Z') {
      folded += static_cast<char>(text[i] - 'A' + 'a');
      continue;
    } else {
      folded += text[i];
      continue;
    }
    ++i;
  }
  return folded;
}

int rank_by_hand(const std::string& name, const std::string& text) {
  if (name == text) return 0;
  if (name.starts_with(text)) return 1;
  int rank = 4;
  for (size_t at = 0; at + text.size() <= name.size(); ++at) {
    if (name.substr(at, text.size()) != text) continue;
    rank = std::min(rank, word_byte(name[at - 1]) == '\0' ? 2 : 3);
  }
  return rank;
}

std::vector<FoundNode> NodeSearchTest::reference(const HeteroGraph& graph, std::string_view text,
                                                 size_t limit) {
  std::vector<std::tuple<int, NodeId, uint32_t>> all;
  for (uint32_t type = 0; type < 3; ++type) {
    for (NodeId node = 0; node < graph.num_nodes(NodeType(type)); ++node) {
      const std::string name = folded_by_hand(graph.name(NodeType(type), node));
      int rank = type == 2 ? 4 : rank_by_hand(name, folded_by_hand(text));
      if (text.empty() || graph.id(NodeType(type), node) == text) rank = 0;
      if (rank < 4) all.emplace_back(rank, node, type);
    }
  }
  std::ranges::sort(all);
  std::vector<FoundNode> found;
  for (size_t i = 0; i < std::min(limit, all.size()); ++i) {
    found.push_back({NodeType(std::get<2>(all[i])), std::get<1>(all[i])});
  }
  return found;
}

TEST_F(NodeSearchTest, PutsWholeNamesAndIdsBeforeBeginningsBeforeWordsBeforeTheRest) {
  const HeteroGraph graph = graph_of({{"a", "Paragraphs"},
                                      {"b", "On graph theory"},
                                      {"c", "Graphs"},
                                      {"d", "GRAPH"},
                                      {"graph", "Something else"},
                                      {"e", "nothing"},
                                      {"f", "A paragraph on sub-graphs"},
                                      {"g", "graph learning"},
                                      {"h", "graph"}});
  EXPECT_EQ(papers(graph, "graph"), "d graph h c g b f a");
  EXPECT_EQ(papers(graph, "GrApH"), "d h c g b f a");
  EXPECT_EQ(papers(graph, "graph", 3), "d graph h");
  EXPECT_EQ(papers(graph, "graph", 0), "");
  EXPECT_EQ(papers(graph, "graph th"), "b");
  EXPECT_EQ(papers(graph, "quantum"), "");
}

TEST_F(NodeSearchTest, GivesTheFirstNodesWithoutText) {
  const HeteroGraph graph = graph_of({{"a", ""}, {"b", "B"}, {"c", "C"}}, {{"d", "D"}}, {"e"});
  EXPECT_EQ(papers(graph, "", 2), "a b");
  const std::vector<FoundNode> all = {
      {NodeType{0}, 0}, {NodeType{1}, 0}, {NodeType{2}, 0}, {NodeType{0}, 1}, {NodeType{0}, 2}};
  EXPECT_EQ(NodeSearch(graph).find(std::nullopt, "", 9, kNever).nodes, all);
}

TEST_F(NodeSearchTest, FoldsCaseBeyondAscii) {
  const HeteroGraph graph = graph_of({{"a", "M\xc3\x9cLLER"},
                                      {"b", "m\xc3\xbcller"},
                                      {"c", "Muller"},
                                      {"d",
                                       "Stra\xc3\x9f"
                                       "e"},
                                      {"e", "STRASSE"},
                                      {"f", "\xce\xa3\xce\x9f\xce\xa6\xce\x99\xce\x91"},
                                      {"g", "\xe5\x9b\xbe"},
                                      {"h", "\xff\xfe broken \xc3"}});
  EXPECT_EQ(papers(graph, "M\xc3\xbcLLer"), "a b");
  EXPECT_EQ(papers(graph, "strasse"), "d e");
  EXPECT_EQ(papers(graph, "\xcf\x83\xce\xbf\xcf\x86"), "f");
  EXPECT_EQ(papers(graph, "\xe5\x9b\xbe"), "g");
  EXPECT_EQ(papers(graph, "BROKEN"), "h");
  EXPECT_EQ(papers(graph, "\xff\xfe"), "h");
}

TEST_F(NodeSearchTest, FindsTypesWithoutNamesByTheirIdAlone) {
  const HeteroGraph graph = graph_of({{"x1", "kdd"}}, {}, {"KDD", "kdd99"});
  const auto find = [&](NodeType type, std::string_view text) {
    return NodeSearch(graph).find(type, text, 9, kNever).nodes;
  };
  EXPECT_EQ(find(NodeType{2}, "KDD"), (std::vector<FoundNode>{{NodeType{2}, 0}}));
  EXPECT_TRUE(find(NodeType{2}, "kdd").empty());
  EXPECT_EQ(NodeSearch(graph).find(std::nullopt, "KDD", 9, kNever).nodes,
            (std::vector<FoundNode>{{NodeType{0}, 0}, {NodeType{2}, 0}}));
}

TEST_F(NodeSearchTest, SaysThatItStoppedEarlyAndStillFindsIds) {
  std::vector<NamedNode> many;
  for (int i = 0; i < 10000; ++i) many.push_back({"p" + std::to_string(i), "graph"});
  const HeteroGraph graph = graph_of(many);
  const FoundNodes late = NodeSearch(graph).find(NodeType{0}, "p9999", 20, {});
  EXPECT_TRUE(late.stopped_early);
  EXPECT_EQ(late.nodes, (std::vector<FoundNode>{{NodeType{0}, 9999}}));
  EXPECT_FALSE(NodeSearch(graph).find(NodeType{0}, "p9999", 20, kNever).stopped_early);
  EXPECT_FALSE(NodeSearch(graph).find(NodeType{0}, "", 20, {}).stopped_early);
}

std::string random_text(std::mt19937& random, size_t longest) {
  static const std::vector<std::string> kPieces = {"a", "b",        "A",        "B",        " ",
                                                   "-", "\xc3\xbc", "\xc3\x9c", "\xc3\x9f", "s"};
  std::string text;
  for (size_t i = random() % (longest + 1); i > 0; --i) text += kPieces[random() % kPieces.size()];
  return text;
}

TEST_F(NodeSearchTest, AgreesWithTheReferenceOnRandomNames) {
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    std::vector<NamedNode> papers, authors;
    for (int i = 0; i < 150; ++i) {
      papers.push_back({"p" + std::to_string(i), random_text(random, 8)});
      authors.push_back({i == 3 ? "a" : "n" + std::to_string(i), random_text(random, 40)});
    }
    const HeteroGraph graph = graph_of(papers, authors, {"ab", "b"});
    for (int query = 0; query < 100; ++query) {
      const std::string text = random_text(random, 3);
      const size_t limit = random() % 30;
      EXPECT_EQ(NodeSearch(graph).find(std::nullopt, text, limit, kNever).nodes,
                reference(graph, text, limit))
          << '"' << text << "\" " << limit;
    }
  }
}

}  // namespace
}  // namespace hgt
