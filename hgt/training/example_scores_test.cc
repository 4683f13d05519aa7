// The metrics of single examples: how they are written, and how two runs are compared by them.
#include "hgt/run/example_scores.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/training/run.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

class ExampleScores : public testing::Test {
 protected:
  // The table of a seed: lines of ids and NDCG.
  void score(const std::string& run, int seed, const std::vector<std::string>& lines) {
    std::string text = "user\tmovie\tndcg\tmrr\thits@1\n";
    for (const std::string& line : lines) text += line + "\t0.5\t0\n";
    const Path folder = folder_ / run / ("seed-" + std::to_string(seed));
    fs::create_directories(folder);
    write_text(folder / "test.tsv", text);
  }
  PairedTest compare() const {
    return compare_runs(RunFolder(folder_ / "a"), RunFolder(folder_ / "b"), Split::test, "ndcg");
  }

  TestFolder folder_;
};

// A rating that is repeated is as many examples, each of which counts once.
TEST_F(ExampleScores, OfRepeatedLinksCountEachForItself) {
  score("a", 1, {"u\tm\t0.5", "u\tm\t0.7", "u\tn\t0"});
  score("b", 1, {"u\tm\t0.1", "u\tm\t0.3", "u\tn\t0.5"});
  EXPECT_NEAR(compare().difference, (0.4 + 0.4 - 0.5) / 3, 1e-12);
  score("b", 1, {"u\tm\t0.1", "u\tn\t0.5", "u\tn\t0.3"});
  EXPECT_TRUE(contains(error_of([&] { compare(); }), "b were scored on different examples"));
}

TEST_F(ExampleScores, OfSeedsOnDifferentExamplesAreNotAveraged) {
  score("a", 1, {"u\tm\t0.5", "u\tn\t0.5"});
  score("b", 1, {"u\tm\t0.5", "u\tn\t0.5"});
  score("b", 2, {"u\tm\t0.3", "u\tn\t0.5"});
  EXPECT_NEAR(compare().difference, 0.05, 1e-12);
  score("b", 2, {"u\tm\t0.3"});  // evaluate was killed after one seed, with another --limit
  const std::string error = error_of([&] { compare(); });
  EXPECT_TRUE(contains(error,
                       "b: its seeds were scored on different examples of test; run: hgt "
                       "evaluate "))
      << error;
  score("b", 1, {"u\tn\t0.5"});
  EXPECT_NE(error_of([&] { compare(); }), "");
}

// A cell of the table may hold neither, whatever the user's ids do.
TEST_F(ExampleScores, OfIdsWithTabsAndLinesAreATableStill) {
  Schema schema;
  schema.add_node_type("user", NodeKind::plain);
  schema.add_node_type("movie", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "rates", .target = "movie"});
  schema.number_relations();
  GraphBuilder builder(folder_ / "graph", schema);
  for (int i = 0; i < 12; ++i) {
    builder.add_node(schema.node_type("user"), {.id = "u\t" + std::to_string(i)});
    builder.add_node(schema.node_type("movie"), {.id = "m\n" + std::to_string(i)});
  }
  for (NodeId i = 0; i < 60; ++i) {
    builder.add_edge(schema.relation("user", "rates", "movie"),
                     {.source = i % 12, .target = i / 12 + i % 7});
  }
  builder.finish();
  TaskSpec spec = find_task("link:rates", schema);
  spec.split = SplitRule::random;
  const auto task = open_task(HeteroGraph::open(folder_ / "graph"), spec);
  const std::vector<uint32_t> numbers = {0, 1};
  const std::vector<Ranking> rankings(2);
  for (const char* run : {"a", "b"}) {
    const Path folder = folder_ / run / "seed-1";
    fs::create_directories(folder);
    write_text(folder / "test.tsv", example_scores(*task, Split::test, numbers, rankings));
  }
  EXPECT_EQ(error_of([&] { compare(); }), "");
}

}  // namespace
}  // namespace hgt
