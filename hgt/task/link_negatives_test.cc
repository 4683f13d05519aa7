// What links are compared with: by time, and where there is nothing.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hgt/task/link_task.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

// Films without a time of their own: without a link that may be seen, they would be told by that
// alone.
TEST(UndatedFilms, AreNotDrawnBeforeTheirFirstLink) {
  Schema schema;
  schema.add_node_type("user", NodeKind::plain);
  schema.add_node_type("film", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "rates", .target = "film", .times = true});
  schema.number_relations();
  // Film i is rated first in 2008 + i, once a year from then on.
  const TestGraph graph(schema, [](GraphBuilder& builder) {
    for (const char* type : {"user", "film"}) {
      for (int i = 0; i < 10; ++i) builder.add_node(builder.schema().node_type(type), {});
    }
    const Relation rates = builder.schema().relation("user", "rates", "film");
    for (NodeId film = 0; film < 10; ++film) {
      for (Time year = 2008 + static_cast<Time>(film); year < 2018; ++year) {
        builder.add_edge(
            rates,
            {.source = static_cast<NodeId>((film + year) % 10), .target = film, .time = year});
      }
    }
  });
  const auto task = open_task(*graph, find_task("link:rates", graph->schema()));
  const std::map<Split, NodeId> last = {
      {Split::train, 6}, {Split::validation, 8}, {Split::test, 9}};
  for (const Split split : kSplits) {
    std::set<NodeId> drawn;
    for (const uint64_t draw : {Task::kNoDraw, uint64_t{1}, uint64_t{2}}) {
      const Question question = task->question(split, all_examples(*task, split), draw);
      for (size_t i = 0; i < question.right.size(); ++i) {
        if (question.relevant[i] == 0) drawn.insert(question.request.seeds[question.right[i]].node);
      }
    }
    ASSERT_FALSE(drawn.empty());
    EXPECT_EQ(*drawn.rbegin(), last.at(split)) << to_string(split);
    EXPECT_EQ(drawn.size(), last.at(split)) << "all by then but film 0, which everybody rates";
  }
}

// A user who rated every movie: there is nothing to tell the true one from.
TEST(CompleteLinkTask, HasNoPairsForANodeThatIsLinkedToAll) {
  Schema schema;
  schema.add_node_type("user", NodeKind::plain);
  schema.add_node_type("movie", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "rates", .target = "movie"});
  schema.number_relations();
  const TestGraph graph(schema, [](GraphBuilder& builder) {
    for (const char* type : {"user", "movie"}) {
      for (int i = 0; i < 20; ++i) builder.add_node(builder.schema().node_type(type), {});
    }
    const Relation rates = builder.schema().relation("user", "rates", "movie");
    for (NodeId movie = 0; movie < 20; ++movie) {
      builder.add_edge(rates, {.source = 0, .target = movie});
      builder.add_edge(rates, {.source = 1 + movie % 19, .target = movie});
    }
  });
  TaskSpec spec = find_task("link:rates", graph->schema());
  spec.split = SplitRule::random;
  const auto task = open_task(*graph, spec);
  uint64_t without = 0;
  for (const Split split : kSplits) {
    const Question question = task->question(split, all_examples(*task, split), Task::kNoDraw);
    ASSERT_EQ(question.num_examples(), task->num_examples(split));
    const std::vector<std::string> texts = descriptions(*task, split);
    for (size_t i = 0; i < texts.size(); ++i) {
      const uint32_t pairs = question.pair_offsets[i + 1] - question.pair_offsets[i];
      const bool all = texts[i].starts_with("0\t");
      EXPECT_EQ(pairs == 0, all) << texts[i];
      without += all ? 1 : 0;
    }
    for (const uint32_t left : question.left) EXPECT_NE(question.request.seeds[left].node, 0U);
    EXPECT_NO_THROW(sampled_for(*task, split, question));
  }
  EXPECT_EQ(without, 20U);
}

}  // namespace
}  // namespace hgt
