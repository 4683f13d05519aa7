// For the tests of features: papers with titles, years, authors and venues, and rows of features.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/features/feature_source.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/progress.h"
#include "hgt/sampling/random_test_graph.h"

namespace hgt {

struct TitledPaper {
  std::string title;
  Time year = kNoTime;
  std::vector<NodeId> authors = {};
  std::optional<NodeId> venue = {};
};

constexpr NodeId kTitledAuthors = 6;
constexpr NodeId kTitledVenues = 3;

// Only papers have names. Authors are joined with papers in two ways, one of which has times.
inline Schema titled_schema() {
  Schema schema;
  schema.add_node_type("author", NodeKind::plain);
  schema.add_node_type("venue", NodeKind::plain);
  schema.at(schema.add_node_type("paper", NodeKind::event)).names = true;
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
  schema.add_relation({.source = "author", .edge = "edits", .target = "paper", .times = true});
  schema.add_relation({.source = "paper", .edge = "appears_in", .target = "venue"});
  schema.number_relations();
  return schema;
}

inline void add_titled_papers(GraphBuilder& builder, const std::vector<TitledPaper>& papers) {
  const Schema& schema = builder.schema();
  for (NodeId i = 0; i < kTitledAuthors; ++i) builder.add_node(schema.node_type("author"), {});
  for (NodeId i = 0; i < kTitledVenues; ++i) builder.add_node(schema.node_type("venue"), {});
  for (NodeId i = 0; i < papers.size(); ++i) {
    builder.add_node(schema.node_type("paper"), {.name = papers[i].title, .time = papers[i].year});
    for (const NodeId author : papers[i].authors) {
      builder.add_edge(schema.relation("author", "writes", "paper"),
                       {.source = author, .target = i});
    }
    if (papers[i].venue) {
      builder.add_edge(schema.relation("paper", "appears_in", "venue"),
                       {.source = i, .target = *papers[i].venue});
    }
  }
}

inline TestGraph titled_graph(const std::vector<TitledPaper>& papers) {
  return TestGraph(titled_schema(),
                   [&](GraphBuilder& builder) { add_titled_papers(builder, papers); });
}

// Eight titles, of which the last two are later than 2014; `later` says what stands in them.
inline std::vector<TitledPaper> eight_papers(const std::string& later = "graphs that change") {
  return {{"Deep learning on graphs", 2010, {0, 1}, 0},
          {"Graphs and their walks", 2011, {1, 2}, 0},
          {"Walks in deep forests", 2012, {0, 2}, 1},
          {"Learning to walk", 2013, {2}, 1},
          {"", 2013, {3}, {}},
          {"Forests of graphs", 2014, {3, 1}, 0},
          {later, 2016, {0, 4}, 1},
          {later + " again", 2018, {4, 1}, 2}};
}

// --- rows ---

using FeatureRows = std::vector<std::vector<float>>;  // an empty row: the node has none

inline FeatureRows rows_of(FeatureSource& source, uint64_t nodes) {
  std::vector<float> numbers(nodes * source.width(), 0.0F);
  std::vector<bool> missing(nodes);
  source.read(0, numbers, missing);
  FeatureRows rows(nodes);
  for (size_t i = 0; i < nodes; ++i) {
    const auto first = numbers.begin() + static_cast<ptrdiff_t>(i * source.width());
    if (!missing[i]) rows[i].assign(first, first + static_cast<ptrdiff_t>(source.width()));
  }
  return rows;
}

// As stored, with the column that flags where there is one.
inline FeatureRows stored_rows(const Path& folder, const std::string& name) {
  const HeteroGraph graph = HeteroGraph::open(folder);
  const NodeType type = graph.schema().node_type(name);
  FeatureRows rows(graph.num_nodes(type), std::vector<float>(graph.features(type).width));
  for (NodeId node = 0; node < rows.size(); ++node) graph.copy_features(type, node, rows[node]);
  return rows;
}

// --- progress that stops ---

// Throws Interrupted with its call number `at`, counted from 1; counts on.
class StopAt {
 public:
  explicit StopAt(uint64_t at) : at_(at) {}
  void operator()(const Progress& /*unused*/) {
    if (++*calls_ == at_) throw Interrupted();
  }
  uint64_t calls() const { return *calls_; }

 private:
  uint64_t at_;
  std::shared_ptr<uint64_t> calls_ = std::make_shared<uint64_t>(0);
};

}  // namespace hgt
