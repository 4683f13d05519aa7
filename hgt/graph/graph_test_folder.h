// For the tests of the graph store: one small graph that has a bit of everything.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/error.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

// The names right inside the folder, sorted.
inline std::vector<std::string> names_in(const Path& folder) {
  std::map<std::string, int> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names[entry.path().filename().string()] = 0;
  }
  std::vector<std::string> sorted;
  for (const auto& [name, unused] : names) sorted.push_back(name);
  return sorted;
}

// The text of the Error that the call throws; "" when it throws none. Other exceptions pass.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// --- the small graph ---

// paper (event): text ids, names, fp16 features, a label with several classes and a split.
// author: text ids, names, fp32 features, a label. venue: ids 7, 8 and nothing else.
inline Schema small_schema() {
  Schema schema;
  schema.at(schema.add_node_type("paper", NodeKind::event)).names = true;
  schema.at(schema.add_node_type("author", NodeKind::plain)).names = true;
  schema.add_node_type("venue", NodeKind::plain);
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper", .weights = true});
  schema.add_relation({.source = "paper",
                       .edge = "cites",
                       .target = "paper",
                       .reverse = "is_cited_by",
                       .unique = true});
  schema.add_relation({.source = "paper", .edge = "appears_in", .target = "venue", .times = true});
  schema.add_relation({.source = "author",
                       .edge = "knows",
                       .target = "author",
                       .symmetric = true,
                       .times = true,
                       .weights = true});
  schema.origin["made"] = "by hand";
  schema.number_relations();
  return schema;
}

inline void add_small_papers(GraphBuilder& builder) {
  using std::string_view_literals::operator""sv;
  const NodeType paper = builder.schema().node_type("paper");
  builder.add_node(paper, {.id = "P19-1001", .name = "Attention", .time = 2017});
  builder.add_node(paper, {.id = "P 2", .name = ""});
  builder.add_node(paper, {.id = "07", .name = "a\n\"\xff\0z"sv, .time = 2019});
  builder.add_node(paper, {.id = "\xc3\xa9", .name = "The last", .time = 2020});
  builder.declare_features(
      paper, {.width = 3, .type = FeatureType::float16, .origin = "by hand", .missing = 0});
  builder.set_features(paper, 2, std::vector<float>{0.5F, -1.0F, 65504.0F});
  builder.set_features(paper, 0, std::vector<float>{0.1F, 0.0F, 1.0F});
  const uint32_t topic = builder.declare_label(paper, "topic");
  builder.add_label(paper, topic, 0, "10");
  builder.add_label(paper, topic, 0, "9");
  builder.add_label(paper, topic, 2, "9");
  builder.add_label(paper, topic, 3, "100");
  builder.name_class(paper, topic, "9", "nine");
  builder.set_split(paper, topic, 0, Split::train);
  builder.set_split(paper, topic, 2, Split::validation);
  builder.set_split(paper, topic, 3, Split::test);
}

inline void add_small_authors_and_venues(GraphBuilder& builder) {
  const NodeType author = builder.schema().node_type("author");
  const NodeType venue = builder.schema().node_type("venue");
  builder.add_node(author, {.id = "ada", .name = "Ada L."});
  builder.add_node(author, {.id = "bob", .name = "Bob"});
  builder.add_node(author, {.id = "cy", .name = "Cy"});
  builder.declare_features(
      author, {.width = 2, .type = FeatureType::float32, .origin = "by hand", .missing = 0});
  builder.set_features(author, 0, std::vector<float>{1.5F, -2.25F});
  builder.set_features(author, 2, std::vector<float>{0.1F, 3e38F});
  const uint32_t country = builder.declare_label(author, "country");
  builder.add_label(author, country, 0, "se");
  builder.add_label(author, country, 1, "at");
  builder.add_label(author, country, 2, "10");
  builder.add_node(venue, {.id = "7"});
  builder.add_node(venue, {.id = "8"});
}

inline void add_small_edges(GraphBuilder& builder) {
  const Schema& schema = builder.schema();
  const Relation writes = schema.relation("author", "writes", "paper");
  builder.add_edge(writes, {.source = 1, .target = 0, .weight = 0.5F});
  builder.add_edge(writes, {.source = 0, .target = 0, .weight = 1.0F});
  builder.add_edge(writes, {.source = 1, .target = 2, .weight = 2.0F});
  builder.add_edge(writes, {.source = 1, .target = 2, .weight = 2.0F});  // repeated, kept
  builder.add_edge(writes, {.source = 2, .target = 3, .weight = -1.5F});
  const Relation cites = schema.relation("paper", "cites", "paper");
  builder.add_edge(cites, {.source = 3, .target = 0});
  builder.add_edge(cites, {.source = 2, .target = 0});
  builder.add_edge(cites, {.source = 2, .target = 0});  // repeated, dropped
  builder.add_edge(cites, {.source = 3, .target = 2});
  const Relation appears = schema.relation("paper", "appears_in", "venue");
  builder.add_edge(appears, {.source = 3, .target = 1, .time = 2021});
  builder.add_edge(appears, {.source = 0, .target = 0, .time = 2017});
  builder.add_edge(appears, {.source = 2, .target = 1, .time = 2019});
  builder.add_edge(appears, {.source = 1, .target = 1});  // no time given
  const Relation knows = schema.relation("author", "knows", "author");
  builder.add_edge(knows, {.source = 0, .target = 1, .time = 2018, .weight = 1.0F});
  builder.add_edge(knows, {.source = 2, .target = 1, .time = 2016, .weight = 0.5F});
  builder.add_edge(knows, {.source = 1, .target = 1, .weight = 3.0F});  // with itself: one entry
}

// Writes the small graph to the folder and returns its schema as written.
inline Schema build_small_graph(const Path& folder, const BuildOptions& options = {}) {
  GraphBuilder builder(folder, small_schema(), options);
  add_small_papers(builder);
  add_small_authors_and_venues(builder);
  add_small_edges(builder);
  return builder.finish();
}

}  // namespace hgt
