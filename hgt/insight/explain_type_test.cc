// explain_type on trained runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "hgt/insight/explain.h"
#include "hgt/insight/explained_runs_test.h"

namespace hgt {
namespace {

TEST(ExplainType, EqualsTheSumsOverTracesOfAllPathsOfEdges) {
  const hgt::Run& run = whole_run();
  const Task& task = run.task();
  std::vector<uint32_t> all(task.num_examples(Split::test));
  std::iota(all.begin(), all.end(), 0U);
  const AttentionTree tree = explain_type(run, {.batches = 1, .batch_size = all.size() + 5}).shares;
  EXPECT_EQ(tree.examples, all.size());
  EXPECT_EQ(tree.layers, 2U);
  EXPECT_EQ(tree.target, task.node_type());
  expect_same_shares(path_shares(tree),
                     slow_shares(traced(run, task.question(Split::test, all, Task::kNoDraw))),
                     1e-6);
  expect_whole(tree, 1e-5);
}

TEST(ExplainType, HasTheMeanAttentionOfEachRelationInTheFirstLayers) {
  const hgt::Run& run = whole_run();
  const Task& task = run.task();
  std::vector<uint32_t> all(task.num_examples(Split::test));
  std::iota(all.begin(), all.end(), 0U);
  const TracedSubgraph slow = traced(run, task.question(Split::test, all, Task::kNoDraw));
  for (const uint32_t layers : {1U, 2U}) {
    const AttentionTree tree =
        explain_type(run, {.layers = layers, .batches = 1, .batch_size = all.size() + 5}).means;
    EXPECT_EQ(tree.form, AttentionForm::means);
    EXPECT_EQ(tree.examples, all.size());
    EXPECT_EQ(tree.layers, layers);
    EXPECT_EQ(tree.from_layer, layers);
    EXPECT_GT(tree.children.size(), 5U);
    expect_means(slow, task.graph().schema(), task.node_type(), layers - 1, tree.children);
  }
}

// In a model of three layers, shares begin at the third and means at the second.
TEST(ExplainType, TellsFromWhichLayerOnItsTreesUnfold) {
  const AttentionTrees trees = explain_type(tiny_run(), {.batches = 1, .batch_size = 4});
  EXPECT_EQ(trees.shares.from_layer, 3U);
  EXPECT_EQ(trees.means.from_layer, 2U);
  EXPECT_EQ(trees.shares.layers, 2U);
  EXPECT_EQ(trees.means.layers, 2U);
  EXPECT_EQ(trees.of(AttentionForm::means), trees.means);
  EXPECT_EQ(trees.of(AttentionForm::shares), trees.shares);
}

TEST(ExplainType, AveragesOverAsManyBatchesAsAskedFor) {
  const hgt::Run& run = trained_run("paper-venue");
  const uint64_t examples = run.task().num_examples(Split::test);
  std::vector<Progress> reports;
  const auto sink = [&](const Progress& progress) { reports.push_back(progress); };
  const AttentionTree few = explain_type(run, {.batches = 3, .batch_size = 4}, sink).shares;
  EXPECT_EQ(few.examples, 12U);
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_EQ(reports[0].count, 4U);
  EXPECT_FALSE(reports[1].finished);
  EXPECT_TRUE(reports[2].finished);
  expect_whole(few, 1e-5);
  const AttentionTree all = explain_type(run, {.batches = 1000, .batch_size = 7}).shares;
  EXPECT_EQ(all.examples, examples);
  expect_whole(all, 1e-5);
  EXPECT_FALSE(few == all);
  EXPECT_EQ(
      explain_type(run, {.split = Split::train, .batches = 1, .batch_size = 9}).shares.examples,
      9U);
}

TEST(ExplainType, AnswersTheSameWithOtherThreads) {
  const ExplainOptions options{.batches = 6, .batch_size = 8};
  const hgt::Run& run = trained_run("paper-venue");
  hgt::Run again = hgt::Run::open(run.folder());
  again.set_pipeline({.threads = 1, .workers = 2});
  const AttentionTree tree = explain_type(run, options).shares;
  EXPECT_EQ(explain_type(again, options).shares, tree);
  EXPECT_EQ(explain_type(run, options).shares, tree);
}

TEST(ExplainType, FollowsShorterPathsToTheSameShares) {
  const hgt::Run& run = trained_run("paper-venue");
  const AttentionTree longer = explain_type(run, {.layers = 2, .batches = 2}).shares;
  AttentionTree shorter = explain_type(run, {.layers = 1, .batches = 2}).shares;
  ASSERT_EQ(shorter.children.size(), longer.children.size());
  for (size_t i = 0; i < shorter.children.size(); ++i) {
    EXPECT_EQ(shorter.children[i].relation, longer.children[i].relation);
    EXPECT_NEAR(shorter.children[i].attention, longer.children[i].attention, 1e-12);
    EXPECT_TRUE(shorter.children[i].children.empty());
  }
}

// Names of the relations that enter the targets.
std::set<std::string> first_steps(const AttentionTree& tree, const Schema& schema) {
  std::set<std::string> edges;
  for (const AttentionBranch& branch : tree.children) {
    edges.insert(relation_names(schema, branch.relation).edge);
  }
  return edges;
}

TEST(ExplainType, HidesWhatIsPredictedFromTheTasksTypeAlone) {
  const hgt::Run& run = trained_run("paper-field-L1");
  const Schema& schema = run.task().graph().schema();
  const auto seen = first_steps(explain_type(run, {}).shares, schema);
  EXPECT_TRUE(seen.contains("self"));
  EXPECT_GT(seen.size(), 3U);
  ASSERT_FALSE(run.task().predicted().empty());
  for (const Relation relation : run.task().predicted()) {
    EXPECT_FALSE(seen.contains(schema.at(relation).edge)) << schema.describe(relation);
  }
  const NodeType field = type_in(run, "field");
  const AttentionTree tree = explain_type(run, {.type = field}).shares;
  EXPECT_EQ(tree.target, field);
  expect_whole(tree, 1e-5);
  const auto of_fields = first_steps(tree, schema);
  EXPECT_TRUE(std::any_of(run.task().predicted().begin(), run.task().predicted().end(),
                          [&](Relation relation) {
                            return of_fields.contains(schema.at(schema.reverse(relation)).edge);
                          }));
  EXPECT_EQ(tree.examples, run.task().graph().num_nodes(field));
}

TEST(ExplainType, DrawsNodesOfAnyOtherType) {
  const hgt::Run& run = trained_run("paper-venue");
  for (const char* name : {"author", "field"}) {
    const ExplainOptions options{.type = type_in(run, name), .batches = 2, .batch_size = 5};
    const AttentionTree tree = explain_type(run, options).shares;
    EXPECT_EQ(tree.examples, 10U);
    EXPECT_EQ(index(tree.target), index(type_in(run, name)));
    EXPECT_EQ(tree.layers, 1U) << "the second layer was trained for papers alone";
    expect_whole(tree, 1e-5);
  }
  EXPECT_TRUE(contains(error_of([&] { explain_type(run, {.type = type_in(run, "institute")}); }),
                       "was never trained"));
  EXPECT_TRUE(
      contains(error_of([&] { explain_type(run, {.layers = 2, .type = type_in(run, "author")}); }),
               "has 1 layer that was trained for author"));
}

TEST(ExplainType, ReadsGraphAttentionAndTasksOfPairs) {
  expect_whole(explain_type(trained_run("paper-venue", ModelKind::gat), {}).shares, 1e-5);
  const hgt::Run& links = trained_run("link:cites");
  const AttentionTree tree = explain_type(links, {.batches = 2, .batch_size = 3}).shares;
  EXPECT_GT(tree.examples, 6U);  // both ends, and those that were drawn
  expect_whole(tree, 1e-5);
  const hgt::Run& names = trained_run("author-disambiguation");
  const AttentionTree papers = explain_type(names, {.batches = 1, .batch_size = 3}).shares;
  EXPECT_EQ(papers.examples, 3U);  // authors are seeds, too, but no targets
  expect_whole(papers, 1e-5);
}

// --- errors ---

TEST(Explain, SaysWhatItCannotExplain) {
  const hgt::Run& gcn = trained_run("paper-venue", ModelKind::gcn);
  for (const std::string& error : {error_of([&] { explain_type(gcn, {}); }),
                                   error_of([&] { explain_node(gcn, test_paper(gcn), {}); })}) {
    EXPECT_TRUE(contains(error, "the model gcn has no attention over neighbors")) << error;
    EXPECT_TRUE(contains(error, "hgt and gat can be explained")) << error;
  }
  const hgt::Run& han = trained_run("paper-venue", ModelKind::han);
  EXPECT_TRUE(contains(error_of([&] { explain_type(han, {}); }), "attends along meta paths"));
  const hgt::Run& run = trained_run("paper-venue");
  const Seed paper = test_paper(run);
  for (const std::string& error : {error_of([&] { explain_type(run, {.layers = 9}); }),
                                   error_of([&] { explain_node(run, paper, {.layers = 9}); })}) {
    EXPECT_TRUE(contains(error, "--layers 9: the model of ")) << error;
    EXPECT_TRUE(contains(error, " has 2 layers")) << error;
  }
  EXPECT_TRUE(contains(error_of([&] { explain_node(run, {.type = paper.type, .node = 300}, {}); }),
                       "node type paper has no node 300; it has 300 nodes"));
  EXPECT_TRUE(contains(error_of([&] { explain_node(run, paper, {.samples = 0}); }), "--samples 0"));
  EXPECT_TRUE(contains(error_of([&] { explain_type(run, {.batches = 0}); }), "--batches 0"));
  EXPECT_TRUE(contains(error_of([&] { explain_type(run, {.batch_size = 0}); }), "--batch-size 0"));
  EXPECT_NE(error_of([&] { explain_node(run, paper, {.split = Split::train}); }), "");
}

TEST(Explain, AsksToTrainFirst) {
  const TestFolder folder;
  const HeteroGraph graph = HeteroGraph::open(training_graph());
  const hgt::Run run =
      hgt::Run::create(folder / "run", {.graph = training_graph().string(),
                                        .task = find_task("paper-venue", graph.schema()),
                                        .training = quick_options()});
  EXPECT_TRUE(contains(error_of([&] { explain_type(run, {}); }), "train it with: hgt train --run"));
}

}  // namespace
}  // namespace hgt
