#include "hgt/features/walk_vectors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hgt/features/titled_test_graph.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

// Forty papers, every fourth of them later than 2014. Author 4 and venue 2 have late papers only,
// author 5 none.
std::vector<TitledPaper> forty_papers(bool late_links = true) {
  Draws draws(hash(3));
  std::vector<TitledPaper> papers;
  for (int i = 0; i < 40; ++i) {
    const bool late = i % 4 == 3;
    TitledPaper paper{.title = "t", .year = late ? 2015 + i % 3 : 2010 + i % 5};
    const auto author = static_cast<NodeId>(draws.below(4));
    const auto venue = static_cast<NodeId>(draws.below(2));
    if (!late) paper.authors = {author, (author + 1) % 4};
    if (!late) paper.venue = venue;
    if (late && late_links) paper.authors = {author, 4};
    if (late && late_links) paper.venue = 2 * venue;
    papers.push_back(paper);
  }
  return papers;
}

class WalkVectorsTest : public testing::Test {
 protected:
  static FeatureStep step_for(const Texts& types, const Texts& paths) {
    FeatureStep step{.types = types};
    step.metapath2vec = paths;
    step.walks = 5;
    step.length = 5;
    step.window = 2;
    step.negatives = 2;
    step.width = 4;
    return step;
  }
  static FeatureStep usual_step() { return step_for({"author", "venue"}, {"VPAPV", "APA"}); }

  // The rows of all authors and then all venues; trains to the end.
  FeatureRows train(const HeteroGraph& graph, const FeatureStep& step,
                    const std::string& kept = "walks") const {
    WalkTraining training(graph, step, reach_of(step, graph), folder_ / kept, no_progress);
    training.train(no_progress);
    return rows(graph, training);
  }
  static FeatureRows rows(const HeteroGraph& graph, const WalkTraining& training) {
    FeatureRows all;
    for (const char* type : {"author", "venue"}) {
      WalkVectors source(training, graph.schema().node_type(type));
      const NodeType number = graph.schema().node_type(type);
      for (auto& row : rows_of(source, graph.num_nodes(number))) all.push_back(row);
    }
    return all;
  }
  std::string error_for(const HeteroGraph& graph, const FeatureStep& step) const {
    return error_of([&] { train(graph, step); });
  }

  const TestFolder folder_;
};

// --- paths ---

TEST_F(WalkVectorsTest, PathsMayBeInitials) {
  const TestGraph graph = titled_graph({{"a", 2010, {0}, 0}});
  const Schema& schema = graph->schema();
  const Reach all = reach_of({}, *graph);
  const auto short_paths = walk_paths({"VPAPV", "pvp"}, schema, all);
  const auto long_paths =
      walk_paths({"venue-paper-author-paper-venue", "paper-venue-paper"}, schema, all);
  ASSERT_EQ(short_paths.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(short_paths[i].type, long_paths[i].type);
    EXPECT_EQ(short_paths[i].steps, long_paths[i].steps);
  }
  EXPECT_EQ(short_paths[0].type, schema.node_type("venue"));
  ASSERT_EQ(short_paths[0].steps.size(), 4U);
  EXPECT_EQ(short_paths[0].steps[0],
            std::vector<Relation>{graph.relation("paper", "appears_in", "venue")});
  EXPECT_EQ(short_paths[0].steps[1].size(), 2U) << "writes and edits";
  const auto narrow = walk_paths({"paper-(writes)-author-(writes)-paper"}, schema, all);
  EXPECT_EQ(narrow[0].steps[0], std::vector<Relation>{graph.relation("author", "writes", "paper")});
}

TEST_F(WalkVectorsTest, InitialsMustMeanOneType) {
  Schema schema;
  schema.add_node_type("paper", NodeKind::plain);
  schema.add_node_type("person", NodeKind::plain);
  schema.add_relation({.source = "person", .edge = "reads", .target = "paper"});
  schema.number_relations();
  const Reach all{.hidden = std::vector<bool>(schema.relations().size())};
  const auto error = [&](const std::string& path) {
    return error_of([&] { walk_paths({path}, schema, all); });
  };
  EXPECT_TRUE(contains(error("PPP"), "both paper and person begin with 'P'")) << error("PPP");
  EXPECT_TRUE(contains(error("PPP"), "paper-person-paper"));
  EXPECT_TRUE(contains(error("XYX"), "no type begins with 'X'; the types are paper, person"));
  EXPECT_TRUE(contains(error("paper-cat-paper"), "cat"));
  EXPECT_EQ(error("paper-person-paper"), "");
}

TEST_F(WalkVectorsTest, HiddenRelationsAreNotWalked) {
  const TestGraph graph = titled_graph(eight_papers());
  const Schema& schema = graph->schema();
  FeatureStep step = usual_step();
  step.task = "paper-venue";
  const Reach reach = reach_of(step, *graph);
  const std::string error = error_of([&] { walk_paths({"APA", "VPV"}, schema, reach); });
  EXPECT_TRUE(contains(error, "venue-paper-venue") && contains(error, "the task predicts"))
      << error;
  EXPECT_TRUE(contains(error_for(*graph, step), "the task predicts"));
  Reach without_writes = reach_of({}, *graph);
  const Relation writes = graph.relation("author", "writes", "paper");
  without_writes.hidden[index(writes)] = true;
  without_writes.hidden[index(schema.reverse(writes))] = true;
  const auto paths = walk_paths({"PAP"}, schema, without_writes);
  EXPECT_EQ(paths[0].steps[0], std::vector<Relation>{graph.relation("author", "edits", "paper")});
}

TEST_F(WalkVectorsTest, WantsAPathThatMeetsEachType) {
  const TestGraph graph = titled_graph(forty_papers());
  EXPECT_EQ(error_for(*graph, step_for({"author", "venue"}, {"APA"})),
            "no meta path passes through venue; give one that does");
}

// --- vectors ---

TEST_F(WalkVectorsTest, NodesThatNoWalkMeetsAreMissing) {
  const TestGraph graph = titled_graph(forty_papers());
  const FeatureRows all = train(*graph, usual_step());
  for (NodeId author = 0; author < 4; ++author) EXPECT_EQ(all[author].size(), 4U);
  for (NodeId venue = 0; venue < 2; ++venue) EXPECT_EQ(all[kTitledAuthors + venue].size(), 4U);
  EXPECT_TRUE(all[4].empty()) << "a walk that ends where it starts meets nobody";
  EXPECT_TRUE(all[5].empty());
  EXPECT_TRUE(all[kTitledAuthors + 2].empty());
  const FeatureRows by_venue = train(*graph, step_for({"author"}, {"VPAPV"}), "by_venue");
  EXPECT_TRUE(by_venue[4].empty()) << "all its papers are late";
  EXPECT_TRUE(by_venue[5].empty()) << "it has no papers";
}

TEST_F(WalkVectorsTest, WhatIsLateChangesNoVector) {
  const TestGraph with = titled_graph(forty_papers(true));
  const TestGraph without = titled_graph(forty_papers(false));
  EXPECT_EQ(train(*with, usual_step(), "a"), train(*without, usual_step(), "b"));
  FeatureStep later = usual_step();
  later.until = "2019";
  EXPECT_NE(train(*with, later, "c"), train(*without, later, "d")) << "within the bound it does";
}

TEST_F(WalkVectorsTest, DependsOnEachOption) {
  const TestGraph graph = titled_graph(forty_papers());
  const FeatureRows usual = train(*graph, usual_step(), "usual");
  EXPECT_EQ(train(*graph, usual_step(), "again"), usual);
  const std::vector<std::pair<const char*, const char*>> changes = {
      {"seed", "2"},   {"walks", "6"},     {"length", "6"},
      {"window", "1"}, {"negatives", "3"}, {"learning-rate", "0.05"}};
  for (const auto& [key, value] : changes) {
    FeatureStep step = usual_step();
    step_table(step).set(key, {value});
    EXPECT_NE(train(*graph, step, key), usual) << key;
  }
}

TEST_F(WalkVectorsTest, AFewNodesMakeManyWalks) {
  const TestGraph graph = titled_graph(forty_papers());
  uint64_t walks = 0;
  const FeatureStep step = usual_step();
  WalkTraining training(*graph, step, reach_of(step, *graph), folder_ / "walks", no_progress);
  training.train([&](const Progress& progress) { walks = progress.count; });
  EXPECT_GE(walks, 20'000U) << "10,000 of each path";
  EXPECT_LE(walks, 20'100U);
}

TEST_F(WalkVectorsTest, LatePapersDoNotCountAmongTheFew) {
  const TestGraph graph = titled_graph(forty_papers());
  uint64_t walks = 0;
  FeatureStep step = step_for({"author"}, {"PAP"});
  step.walks = 300;
  const auto count = [&](const Progress& progress) { walks = progress.count; };
  WalkTraining(*graph, step, reach_of(step, *graph), folder_ / "walks", count);
  EXPECT_EQ(walks, 18'000U) << "30 papers make 9,000, too few; with the late ones 12,000";
}

// --- stopping and going on ---

TEST_F(WalkVectorsTest, GoesOnExactlyWhereItStopped) {
  const TestGraph graph = titled_graph(forty_papers());
  const FeatureStep step = usual_step();
  const Reach reach = reach_of(step, *graph);
  const FeatureRows expected = train(*graph, step, "whole");
  for (int stops = 0;; ++stops) {
    ASSERT_LT(stops, 100);
    WalkTraining training(*graph, step, reach, folder_ / "parts", no_progress);
    StopAt stop(3);
    try {
      training.train(stop);
    } catch (const Interrupted&) {
      continue;
    }
    EXPECT_GT(stops, 3);
    EXPECT_EQ(rows(*graph, training), expected);
    break;
  }
  EXPECT_EQ(train(*graph, step, "parts"), expected) << "finished: nothing is trained again";
}

TEST_F(WalkVectorsTest, CanBeStoppedBeforeItTrains) {
  const TestGraph graph = titled_graph(forty_papers());
  const FeatureStep step = usual_step();
  EXPECT_THROW(WalkTraining(*graph, step, reach_of(step, *graph), folder_ / "walks", StopAt(1)),
               Interrupted);
  EXPECT_EQ(train(*graph, step), train(*graph, step, "whole"));
}

TEST_F(WalkVectorsTest, RemovesItsFiles) {
  const TestGraph graph = titled_graph(forty_papers());
  const FeatureStep step = usual_step();
  WalkTraining training(*graph, step, reach_of(step, *graph), folder_ / "walks", no_progress);
  training.train(no_progress);
  EXPECT_EQ(names_in(folder_.path()), (Texts{"walks.inputs", "walks.outputs", "walks.position"}));
  training.remove_files();
  EXPECT_EQ(names_in(folder_.path()), Texts{});
}

TEST_F(WalkVectorsTest, StartsAnewWhereATableIsGoneOrDamaged) {
  const TestGraph graph = titled_graph(forty_papers());
  const FeatureRows expected = train(*graph, usual_step());
  for (const char* name : {"walks.inputs", "walks.outputs"}) {
    std::filesystem::remove(folder_ / name);
    EXPECT_EQ(train(*graph, usual_step()), expected) << name;
    std::filesystem::resize_file(folder_ / name, 8);
    EXPECT_EQ(train(*graph, usual_step()), expected) << name;
  }
  write_bytes(folder_ / "walks.position", "99999999\n");
  EXPECT_EQ(train(*graph, usual_step()), expected);
}

}  // namespace
}  // namespace hgt
