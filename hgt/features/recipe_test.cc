#include "hgt/features/recipe.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/features/titled_test_graph.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/options/settings_file.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

class RecipeTest : public testing::Test {
 protected:
  std::vector<FeatureStep> read(const std::string& text) const {
    write_bytes(file_, text);
    return read_recipe(file_);
  }
  std::string error_for(const std::string& text) const {
    return error_of([&] { read(text); });
  }
  std::string at_line(int line) const { return file_.string() + ":" + std::to_string(line) + ": "; }

  const TestFolder folder_;
  const Path file_ = folder_ / "recipe.toml";
};

// --- files ---

TEST_F(RecipeTest, StepsComeInTheOrderOfTheFile) {
  const auto steps = read(
      "[[features]]\ntype = 'paper'\nencoder = 'hashed'\n\n"
      "[[features]]\ntype = 'author'\nmean-of = 'paper'\nvia = ['writes']\n\n"
      "[[features]]\ntypes = ['field', 'venue']\nmetapath2vec = ['VPAPV', 'FPF']\nwalks = 3\n");
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].types, Texts{"paper"});
  EXPECT_EQ(steps[0].encoder, TextEncoder::hashed);
  EXPECT_EQ(steps[0].kind(), StepKind::text);
  EXPECT_EQ(steps[1].mean_of, "paper");
  EXPECT_EQ(steps[1].via, Texts{"writes"});
  EXPECT_EQ(steps[1].encoder, TextEncoder::fasttext) << "of the other step";
  EXPECT_EQ(steps[2].types, (Texts{"field", "venue"}));
  EXPECT_EQ(steps[2].metapath2vec, (Texts{"VPAPV", "FPF"}));
  EXPECT_EQ(steps[2].walks, 3U);
}

TEST_F(RecipeTest, CommonKeysHoldForAllStepsThatSayNothingElse) {
  const auto steps = read(
      "until = '2012'\nwidth = 32\nseed = 7\n[[features]]\ntype = 'paper'\n"
      "[[features]]\ntype = 'venue'\nwidth = 64\n");
  ASSERT_EQ(steps.size(), 2U);
  for (const FeatureStep& step : steps) {
    EXPECT_EQ(step.until, "2012");
    EXPECT_EQ(step.seed, 7U);
  }
  EXPECT_EQ(steps[0].width, 32U);
  EXPECT_EQ(steps[1].width, 64U);
}

TEST_F(RecipeTest, FilesAreRelativeToTheRecipe) {
  const auto steps = read(
      "vectors = 'all.txt'\n[[features]]\ntype = 'a'\n"
      "[[features]]\ntype = 'b'\nvectors = 'sub/own.txt'\nxlnet = '/models/xlnet'\nbert = "
      "'minilm'\n"
      "task = 'mine.toml'\n[[features]]\ntype = 'c'\ntask = 'paper-venue'\n");
  EXPECT_EQ(steps[0].vectors, (folder_ / "all.txt").string());
  EXPECT_EQ(steps[0].xlnet, "");
  EXPECT_EQ(steps[1].vectors, (folder_ / "sub/own.txt").string());
  EXPECT_EQ(steps[1].xlnet, "/models/xlnet");
  EXPECT_EQ(steps[1].bert, (folder_ / "minilm").string());
  EXPECT_EQ(steps[1].task, (folder_ / "mine.toml").string());
  EXPECT_EQ(steps[2].task, "paper-venue") << "a name, no file";
}

TEST_F(RecipeTest, ErrorsNameFileAndLine) {
  EXPECT_TRUE(error_for("[[features]]\ntype = 'a'\nwidht = 3\n").starts_with(at_line(3)));
  EXPECT_TRUE(contains(error_for("widht = 3\n[[features]]\ntype = 'a'\n"), "widht"));
  EXPECT_TRUE(error_for("[[features]]\n\nencoder = 'gpt'\n")
                  .starts_with(at_line(3) + "encoder: unknown encoder 'gpt'"));
  EXPECT_TRUE(error_for("[[features]]\nwidth = 'wide'\n").starts_with(at_line(2)));
  EXPECT_TRUE(error_for("[[features]\n").starts_with(at_line(1)));
  EXPECT_TRUE(error_for("seed = 1\n[features]\ntype = 'a'\n")
                  .starts_with(at_line(2) + "'features' must be sections"));
  EXPECT_TRUE(error_for("features = 'all'\n").starts_with(at_line(1)));
  EXPECT_TRUE(error_for("[[features]]\ntype = {}\n").starts_with(at_line(2)));
  EXPECT_TRUE(error_for("[[other]]\ntype = 'a'\n").starts_with(at_line(1)));
  EXPECT_EQ(error_for("[[features]]\ntype = 'a'\ntypes = ['b']\n"),
            at_line(3) + "type and types mean the same; give one of them");
  EXPECT_EQ(error_for("seed = 1\n"),
            file_.string() + ": contains no steps; each step begins with [[features]]");
  EXPECT_TRUE(contains(error_of([&] { read_recipe(folder_ / "none.toml"); }), "none.toml"));
  EXPECT_TRUE(contains(error_of([&] { read_recipe(folder_.path()); }), "it is a folder"));
}

TEST_F(RecipeTest, SectionsKeepTheirLines) {
  write_bytes(file_, "a = 1\n[[x]]\nc = 2\nb = [3, 4]\n[[x]]\n[[x]]\nd = 5\n");
  const SettingSections found = read_setting_sections(file_, "x");
  ASSERT_EQ(found.common.size(), 1U);
  EXPECT_EQ(found.common[0].key, "a");
  ASSERT_EQ(found.sections.size(), 3U);
  ASSERT_EQ(found.sections[0].size(), 2U);
  EXPECT_EQ(found.sections[0][0].key, "c");
  EXPECT_EQ(found.sections[0][1].values, (Texts{"3", "4"}));
  EXPECT_EQ(found.sections[0][1].line, 4U);
  EXPECT_TRUE(found.sections[1].empty());
  EXPECT_EQ(found.sections[2][0].line, 7U);
}

// --- proposals ---

Reach reach_without(const HeteroGraph& graph, const std::string& task) {
  FeatureStep step;
  step.task = task;
  return reach_of(step, graph);
}

TEST(ProposeWalks, GoByNeighborsAndTheirNeighbors) {
  const TestGraph graph = titled_graph(eight_papers());
  const Schema& schema = graph->schema();
  const Reach all = reach_without(*graph, "");
  EXPECT_EQ(propose_walks({"venue"}, schema, all),
            (Texts{"venue-paper-venue", "venue-paper-author-paper-venue"}));
  EXPECT_EQ(propose_walks({"paper", "venue"}, schema, all),
            (Texts{"paper-author-paper", "paper-venue-paper", "venue-paper-venue",
                   "venue-paper-author-paper-venue"}));
  const Reach without = reach_without(*graph, "paper-venue");
  EXPECT_EQ(propose_walks({"venue"}, schema, without), Texts{});
  EXPECT_EQ(propose_walks({"author"}, schema, without), Texts{"author-paper-author"});
}

TEST(ProposeWalks, KnowEdgesWithinAType) {
  Schema schema;
  schema.add_node_type("user", NodeKind::plain);
  schema.add_node_type("item", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "buys", .target = "item"});
  schema.add_relation({.source = "item", .edge = "like", .target = "item", .symmetric = true});
  schema.number_relations();
  const Reach all{.hidden = std::vector<bool>(schema.relations().size())};
  EXPECT_EQ(propose_walks({"item"}, schema, all), (Texts{"item-user-item", "item-item"}));
  EXPECT_EQ(propose_walks({"user"}, schema, all), (Texts{"user-item-user", "user-item-item-user"}));
}

// --- the paper's recipe ---

class DefaultRecipe : public testing::Test {
 protected:
  static const HeteroGraph& academic() {
    static const TestFolder folder;
    static const HeteroGraph graph = [] {
      generate_academic_graph(folder / "graph", {.papers = 600, .features = 0});
      return HeteroGraph::open(folder / "graph");
    }();
    return graph;
  }
};

TEST_F(DefaultRecipe, IsTitlesThenMeansThenWalks) {
  FeatureStep base;
  base.encoder = TextEncoder::hashed;
  base.until = "2012";
  const auto steps = default_recipe(academic(), base);
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(steps[0].types, Texts{"paper"});
  EXPECT_EQ(steps[0].kind(), StepKind::text);
  EXPECT_EQ(steps[0].encoder, TextEncoder::hashed);
  const std::vector<std::string> beside = {"author", "field", "venue"};
  for (size_t i = 0; i < beside.size(); ++i) {
    EXPECT_EQ(steps[i + 1].types, Texts{beside[i]});
    EXPECT_EQ(steps[i + 1].mean_of, "paper");
  }
  EXPECT_EQ(steps[4].types, Texts{"institute"});
  EXPECT_EQ(steps[4].metapath2vec, Texts{"auto"});
  for (const FeatureStep& step : steps) EXPECT_EQ(step.until, "2012");
}

TEST_F(DefaultRecipe, TakesMeansOverLinksThatATaskPredictsWhereThereAreNoOthers) {
  FeatureStep base;
  base.task = "paper-venue";
  const auto steps = default_recipe(academic(), base);
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(steps[3].types, Texts{"venue"}) << "nothing else leads to venues";
  EXPECT_EQ(steps[3].mean_of, "paper");
  EXPECT_EQ(steps[4].types, Texts{"institute"});
  for (const FeatureStep& step : steps) EXPECT_EQ(step.task, "paper-venue");
  base.task = "author-disambiguation";
  const auto of_writers = default_recipe(academic(), base);
  EXPECT_EQ(of_writers[1].types, Texts{"author"});
  EXPECT_EQ(of_writers[1].mean_of, "paper");
}

TEST_F(DefaultRecipe, WalksWhereNothingHasATitle) {
  Schema schema;
  schema.at(schema.add_node_type("user", NodeKind::plain)).names = true;
  schema.add_node_type("item", NodeKind::event);
  schema.add_node_type("lonely", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "buys", .target = "item"});
  schema.number_relations();
  const TestGraph graph(schema, [](GraphBuilder& builder) {
    builder.add_node(NodeType(0), {.name = "U"});
    builder.add_node(NodeType(1), {.time = 2010});
  });
  const auto steps = default_recipe(*graph, {});
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].types, (Texts{"user", "item"})) << "plain names are no titles";
  EXPECT_EQ(steps[0].kind(), StepKind::walks);
}

TEST_F(DefaultRecipe, SaysWhenNothingCanBeMade) {
  Schema schema;
  schema.add_node_type("dot", NodeKind::plain);
  schema.number_relations();
  const TestGraph graph(schema, [](GraphBuilder& builder) { builder.add_node(NodeType(0), {}); });
  EXPECT_TRUE(contains(error_of([&] { default_recipe(*graph, {}); }), "names or edges"));
}

// --- plans ---

class PlanTest : public testing::Test {
 protected:
  static FeatureStep walk_step(const Texts& types, const Texts& paths) {
    FeatureStep step{.types = types};
    step.metapath2vec = paths;
    return step;
  }
  static FeatureStep mean_step(const std::string& type, const std::string& of) {
    FeatureStep step{.types = {type}};
    step.mean_of = of;
    return step;
  }
  std::string error_for(const std::vector<FeatureStep>& steps) const {
    return error_of([&] { plan_steps(steps, *graph_); });
  }

  const TestGraph graph_ = titled_graph(eight_papers());
  const FeatureStep titles_{.types = {"paper"}};
};

TEST_F(PlanTest, ReplacesAutoByPaths) {
  const Texts proposed = {"venue-paper-venue", "venue-paper-author-paper-venue"};
  EXPECT_EQ(plan_step(walk_step({"venue"}, {"auto"}), *graph_).step.metapath2vec, proposed);
  EXPECT_EQ(plan_step(walk_step({"venue"}, {"APA", "auto", "PAP"}), *graph_).step.metapath2vec,
            (Texts{"APA", proposed[0], proposed[1], "PAP"}));
}

TEST_F(PlanTest, AutoLeavesOutTypesThatOnlyHiddenLinksLeadTo) {
  FeatureStep step = walk_step({"author", "venue"}, {"auto"});
  EXPECT_EQ(plan_step(step, *graph_).unmet, Texts{});
  step.task = "paper-venue";
  const PlannedStep plan = plan_step(step, *graph_);
  EXPECT_EQ(plan.step.types, Texts{"author"});
  EXPECT_EQ(plan.step.metapath2vec, Texts{"author-paper-author"});
  EXPECT_EQ(plan.unmet, Texts{"venue"});
  step.types = {"venue"};
  EXPECT_TRUE(contains(error_for({step}), "no edges that may be used lead to venue"));
}

TEST_F(PlanTest, FindsWhatIsWrongWithAnyStep) {
  EXPECT_EQ(error_for({titles_, mean_step("author", "paper")}), "");
  EXPECT_EQ(error_for({mean_step("author", "paper")}),
            "nodes of type paper have no features to take the mean of; make them in an earlier "
            "step, or build on a set that has them with --base");
  EXPECT_TRUE(
      error_for({titles_, mean_step("author", "venue")}).starts_with("step 2 of 2: no edges"));
  EXPECT_TRUE(contains(error_for({titles_, {.types = {"papre"}}}), "papre"));
  EXPECT_TRUE(contains(error_for({titles_, walk_step({"venue"}, {"APA"})}),
                       "no meta path passes through venue"));
  EXPECT_TRUE(contains(error_for({titles_, walk_step({"venue"}, {"VXV"})}), "'X'"));
  FeatureStep lost = titles_;
  lost.until = "soon";
  EXPECT_TRUE(contains(error_for({titles_, lost}), "until is 'soon'"));
}

TEST_F(PlanTest, FindsFilesThatAreMissing) {
  FeatureStep step = titles_;
  step.encoder = TextEncoder::vectors;
  step.vectors = "/none/glove.txt";
  EXPECT_TRUE(contains(error_for({titles_, step}), "/none/glove.txt: there is no such file"));
  step.encoder = TextEncoder::xlnet;
  step.xlnet = "/none/xlnet";
  EXPECT_TRUE(contains(error_for({titles_, step}), "/none/xlnet: has no config.json"));
  step.encoder = TextEncoder::bert;
  step.bert = "/none/bert";
  EXPECT_TRUE(contains(error_for({titles_, step}), "/none/bert: has no config.json"));
}

TEST_F(PlanTest, NumbersOutOfRangeAreNotEvenSet) {
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"width", "0"},
                                                        {"width", "70000"},
                                                        {"threads", "0"},
                                                        {"threads", "2000"},
                                                        {"walks", "0"},
                                                        {"length", "1"},
                                                        {"window", "0"},
                                                        {"negatives", "0"},
                                                        {"learning-rate", "7"}}) {
    FeatureStep step = walk_step({"venue"}, {"VPV"});
    EXPECT_EQ(error_for({step}), "");
    const std::string error =
        error_of([&, &key = key, &value = value] { step_table(step).set(key, {value}); });
    EXPECT_TRUE(contains(error, "'" + value + "' is not a")) << key << ": " << error;
  }
}

TEST_F(PlanTest, KnowsTheRelationsOfAMeanAndOfWalks) {
  const Schema& schema = graph_->schema();
  const PlannedStep mean = plan_step(mean_step("venue", "paper"), *graph_);
  EXPECT_EQ(relations_used(mean, "venue", schema),
            std::vector<Relation>{graph_.relation("paper", "appears_in", "venue")});
  const PlannedStep walks = plan_step(walk_step({"venue"}, {"VPV"}), *graph_);
  EXPECT_EQ(relations_used(walks, "venue", schema).size(), 2U) << "there and back";
  EXPECT_TRUE(relations_used(plan_step(titles_, *graph_), "paper", schema).empty());
}

}  // namespace
}  // namespace hgt
