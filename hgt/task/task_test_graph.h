// For the tests of tasks: a small library, and what of its links a sub-graph shows.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hgt/random.h"
#include "hgt/sampling/random_test_graph.h"
#include "hgt/sampling/sampler.h"
#include "hgt/task/task.h"
#include "hgt/task/task_kinds.h"

namespace hgt {

// --- the library ---

constexpr NodeId kLibraryPapers = 60;
constexpr NodeId kLibraryAuthors = 12;
constexpr NodeId kLibraryVenues = 5;
constexpr NodeId kLibraryFields = 6;

inline Schema library_schema() {
  Schema schema;
  schema.add_node_type("field", NodeKind::plain);
  for (const char* type : {"paper", "author", "venue"}) {
    const bool dated = std::string(type) == "paper";
    schema.at(schema.add_node_type(type, dated ? NodeKind::event : NodeKind::plain)).names = true;
  }
  const auto relate = [&](RelationDeclaration declaration) { schema.add_relation(declaration); };
  relate({.source = "author", .edge = "writes_first", .target = "paper"});
  relate({.source = "author", .edge = "writes_other", .target = "paper"});
  relate({.source = "paper", .edge = "thanks", .target = "author"});
  relate({.source = "paper", .edge = "in_L0", .target = "field"});
  relate({.source = "paper", .edge = "in_L1", .target = "field"});
  relate({.source = "paper", .edge = "pub_conference", .target = "venue"});
  relate({.source = "paper", .edge = "pub_journal", .target = "venue"});
  relate({.source = "paper", .edge = "sent_to", .target = "venue"});
  relate({.source = "paper", .edge = "cites", .target = "paper"});
  relate({.source = "author", .edge = "follows", .target = "venue", .times = true});
  relate({.source = "author", .edge = "knows", .target = "author", .symmetric = true});
  schema.number_relations();
  return schema;
}

// Ten years from 2010 on; every thirteenth paper has none.
inline Time library_year(NodeId paper) {
  return paper % 13 == 12 ? kNoTime : 2010 + static_cast<Time>(paper % 10);
}

inline void add_library_nodes(GraphBuilder& builder) {
  const auto add = [&](const char* type, const std::string& id, const std::string& name,
                       Time time = kNoTime) {
    builder.add_node(builder.schema().node_type(type), {.id = id, .name = name, .time = time});
  };
  for (NodeId i = 0; i < kLibraryPapers; ++i) {
    add("paper", "P" + std::to_string(i), "On " + std::to_string(i), library_year(i));
  }
  // Ten authors share five names; one has a name of their own, one has none.
  for (NodeId i = 0; i < kLibraryAuthors; ++i) {
    const std::string name = i < 10 ? "Name " + std::to_string(i % 5) : i == 10 ? "Unique" : "";
    add("author", "A" + std::to_string(i), name);
  }
  for (NodeId i = 0; i < kLibraryVenues; ++i) {
    add("venue", "V" + std::to_string(i), "Venue " + std::to_string(i));
  }
  for (NodeId i = 0; i < kLibraryFields; ++i) add("field", "F" + std::to_string(i), "");
}

// A paper thanks its authors and was sent to its venue. No paper appears in venue 0.
inline void add_library_edges(GraphBuilder& builder) {
  Draws draws(hash(77));
  const Schema& schema = builder.schema();
  const auto add = [&](const char* source, const char* edge, const char* target, Edge ends) {
    builder.add_edge(schema.relation(source, edge, target), ends);
  };
  for (NodeId paper = 0; paper < kLibraryPapers; ++paper) {
    std::set<NodeId> authors;
    for (int i = 0; i < 3; ++i) authors.insert(static_cast<NodeId>(draws.below(kLibraryAuthors)));
    for (const NodeId author : authors) {
      const bool first = author == *authors.begin();
      add("author", first ? "writes_first" : "writes_other", "paper",
          {.source = author, .target = paper});
      add("paper", "thanks", "author", {.source = paper, .target = author});
    }
    if (paper % 11 != 10) {
      const auto venue = static_cast<NodeId>(1 + draws.below(kLibraryVenues - 1));
      add("paper", paper % 2 == 0 ? "pub_conference" : "pub_journal", "venue",
          {.source = paper, .target = venue});
      add("paper", "sent_to", "venue", {.source = paper, .target = venue});
    }
    add("paper", "in_L0", "field", {.source = paper, .target = paper % 2});
    add("paper", "in_L1", "field", {.source = paper, .target = 2 + paper % 4});
    add("paper", "in_L1", "field", {.source = paper, .target = 2 + paper % 3});
    const auto cited = static_cast<NodeId>(draws.below(kLibraryPapers));
    if (cited != paper) add("paper", "cites", "paper", {.source = paper, .target = cited});
  }
  for (NodeId author = 0; author < kLibraryAuthors; ++author) {
    for (NodeId venue = author % 2; venue < kLibraryVenues; venue += 2) {
      add("author", "follows", "venue",
          {.source = author, .target = venue, .time = random_test_year(draws) + 10});
    }
    add("author", "knows", "author", {.source = author, .target = (author + 1) % kLibraryAuthors});
  }
}

// topic: one class, papers for training and testing given. shelf: validation is given, too.
// tags: several classes, no split.
inline void add_library_labels(GraphBuilder& builder) {
  const NodeType paper = builder.schema().node_type("paper");
  const uint32_t topic = builder.declare_label(paper, "topic");
  const uint32_t shelf = builder.declare_label(paper, "shelf");
  const uint32_t tags = builder.declare_label(paper, "tags");
  for (NodeId i = 0; i < kLibraryPapers; ++i) {
    if (i % 9 != 8) builder.add_label(paper, topic, i, "t" + std::to_string(i % 3));
    if (i % 5 != 4) builder.set_split(paper, topic, i, i % 5 == 3 ? Split::test : Split::train);
    builder.add_label(paper, shelf, i, i % 2 == 0 ? "left" : "right");
    builder.set_split(paper, shelf, i, Split(1 + i % 3));
    builder.add_label(paper, tags, i, "old");
    if (i % 4 == 0) builder.add_label(paper, tags, i, "red");
  }
  builder.name_class(paper, topic, "t1", "Topic one");
}

inline TestGraph library() {
  return TestGraph(library_schema(), [](GraphBuilder& builder) {
    add_library_nodes(builder);
    add_library_edges(builder);
    add_library_labels(builder);
  });
}

// --- tasks ---

inline std::unique_ptr<const Task> open_named(const HeteroGraph& graph, const std::string& name) {
  return open_task(graph, find_task(name, graph.schema()));
}

// The library has only a few nodes of some types: too few for examples in every split, or for two
// of one name.
inline bool has_examples(const HeteroGraph& graph, const TaskSpec& spec) {
  const TaskRow& row = row_of(spec.kind);
  if (row.draws_negatives) return true;
  const std::string& type = row.answers == Answers::classes ? spec.node : spec.other;
  return graph.num_nodes(graph.schema().node_type(type)) >= 10;
}

inline std::vector<uint32_t> all_examples(const Task& task, Split split) {
  std::vector<uint32_t> examples(task.num_examples(split));
  std::iota(examples.begin(), examples.end(), 0U);
  return examples;
}

inline std::vector<std::string> descriptions(const Task& task, Split split) {
  std::vector<std::string> texts;
  for (const uint32_t example : all_examples(task, split)) {
    texts.push_back(task.describe_example(split, example));
  }
  return texts;
}

// --- links ---

using Ends = std::pair<NodeId, NodeId>;  // source, target
using Links = std::set<Ends>;

inline Links links_of(const HeteroGraph& graph, Relation relation) {
  Links links;
  const NodeType type = graph.schema().at(relation).target;
  for (NodeId target = 0; target < graph.num_nodes(type); ++target) {
    for (const NodeId source : graph.incoming(relation, target).sources) {
      links.emplace(source, target);
    }
  }
  return links;
}

// The links of a relation that a sub-graph shows, in whichever direction.
inline Links links_seen(const Schema& schema, const Subgraph& subgraph, Relation relation) {
  Links links;
  const Relation reverse = schema.reverse(relation);
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    for (uint64_t edge = subgraph.edge_offsets[row]; edge < subgraph.edge_offsets[row + 1];
         ++edge) {
      const NodeId source = subgraph.nodes[subgraph.sources[edge]];
      const NodeId target = subgraph.nodes[row];
      if (subgraph.relations[edge] == relation) links.emplace(source, target);
      if (subgraph.relations[edge] == reverse) links.emplace(target, source);
    }
  }
  return links;
}

inline Subgraph sampled_for(const Task& task, Split split, const Question& question,
                            const SamplingOptions& options = {}) {
  const SamplingOptions guarded = task.sampling(options, split);
  Subgraph subgraph;
  Sampler(task.graph(), guarded).sample(question.request, 3, subgraph);
  return subgraph;
}

}  // namespace hgt
