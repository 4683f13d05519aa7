#include "hgt/features/make_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/features/made_set_test.h"
#include "hgt/features/recipe.h"
#include "hgt/features/titled_test_graph.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

// Of little work.
FeatureStep small_step(const Texts& types) {
  FeatureStep step{.types = types};
  step.width = 6;
  step.epochs = 1;
  step.walks = 2;
  step.length = 4;
  step.window = 2;
  step.negatives = 2;
  return step;
}
FeatureStep hashed_step() {
  FeatureStep step = small_step({"paper"});
  step.encoder = TextEncoder::hashed;
  return step;
}
FeatureStep mean_step() {
  FeatureStep step = small_step({"author"});
  step.mean_of = "paper";
  return step;
}
FeatureStep walk_step() {
  FeatureStep step = small_step({"author", "venue"});
  step.metapath2vec = {"VPAPV"};
  return step;
}

// All files but the lock.
std::map<std::string, std::string> files_of(const Path& graph) {
  auto files = folder_bytes(graph);
  files.erase(".features.lock");
  files.erase("verified.json");
  return files;
}
// Without what tells how a set came about.
std::map<std::string, std::string> arrays_of(const Path& graph) {
  auto files = files_of(graph);
  files["schema.json"] = HeteroGraph::open(graph).schema().to_json();
  return files;
}

class MakeFeaturesTest : public testing::Test {
 protected:
  const Path& path() const { return path_; }
  FeatureSpec spec(const std::string& type) const {
    const HeteroGraph graph = HeteroGraph::open(path());
    return graph.schema().at(graph.schema().node_type(type)).features.value();
  }
  std::string error_for(const FeatureStep& step) const {
    return error_of([&] { make(path(), step); });
  }

  const TestGraph graph_ = titled_graph(eight_papers());
  const Path path_ = graph_.path();
};

// --- the whole recipe ---

class WholeRecipe : public testing::Test {
 protected:
  WholeRecipe() { generate_academic_graph(path(), {.papers = 600, .features = 0}); }
  Path path() const { return folder_ / "graph"; }
  std::vector<MadeFeatures> make_all(const FeatureStep& base) const {
    const FeatureLock lock(path());
    const auto steps = default_recipe(HeteroGraph::open(path(), "imported"), base);
    return make_feature_set(lock, steps, {}, no_progress);
  }
  const TestFolder folder_;
};

TEST_F(WholeRecipe, GivesEveryTypeFeatures) {
  const auto made = make_all(small_step({}));
  Texts types;
  for (const MadeFeatures& one : made) {
    types.push_back(one.type);
    EXPECT_FALSE(one.already) << one.type;
    EXPECT_EQ(one.spec.width, 6U + (one.spec.flagged ? 1 : 0)) << one.type;
    EXPECT_EQ(one.spec.until, 2014) << one.type;
    EXPECT_EQ(one.spec.type, FeatureType::float16);
    for (const auto& row : stored_rows(path(), one.type)) {
      EXPECT_TRUE(std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); }));
      EXPECT_TRUE(!one.spec.flagged || row.back() == 0 || row.back() == 1);
    }
  }
  EXPECT_EQ(types, (Texts{"paper", "author", "field", "venue", "institute"}));
  verify(HeteroGraph::open(path()));
  for (const auto& [name, bytes] : files_of(path())) {
    EXPECT_FALSE(contains(name, "walks_") || contains(name, "fasttext_") ||
                 contains(name, "partial") || contains(name, "position"))
        << name;
  }
  const auto before = files_of(path());
  for (const MadeFeatures& one : make_all(small_step({}))) EXPECT_TRUE(one.already) << one.type;
  EXPECT_EQ(files_of(path()), before);
}

TEST_F(WholeRecipe, OfATaskCanLeaveOutWhatItPredicts) {
  FeatureStep base = small_step({});
  base.task = "paper-venue";
  for (const MadeFeatures& one : make_all(base)) {
    EXPECT_EQ(one.spec.mean.has_value(), one.type == "venue") << one.type;
  }
  verify(HeteroGraph::open(path()));
}

// --- what is said of them ---

TEST_F(MakeFeaturesTest, SaysWhereTheyComeFrom) {
  make(path(), hashed_step());
  EXPECT_EQ(spec("paper").origin, "hashed words of names");
  EXPECT_EQ(spec("paper").until, std::nullopt) << "each row knows its own title only";
  EXPECT_EQ(spec("paper").missing, 1U);
  make(path(), mean_step());
  EXPECT_EQ(spec("author").origin, "mean of paper up to 2014");
  EXPECT_EQ(spec("author").until, 2014);
  make(path(), walk_step());
  EXPECT_EQ(spec("venue").origin, "metapath2vec along VPAPV up to 2014");
  make(path(), small_step({"paper"}));
  EXPECT_EQ(spec("paper").origin, "fasttext of names, trained on those up to 2014");
  const TestFolder folder;
  write_bytes(folder / "small.txt", "graphs 1 2\nwalks 3 -4\n");
  FeatureStep vectors = small_step({"paper"});
  vectors.encoder = TextEncoder::vectors;
  vectors.vectors = (folder / "small.txt").string();
  vectors.until = "2012";
  vectors.precision = FeatureType::float32;
  make(path(), vectors);
  EXPECT_EQ(spec("paper").origin, "word vectors small.txt of names, weighted by those up to 2012");
  EXPECT_EQ(spec("paper").until, 2012);
  EXPECT_EQ(spec("paper").width, 3U) << "that of the file, and the flag";
  EXPECT_EQ(spec("paper").type, FeatureType::float32);
}

TEST_F(MakeFeaturesTest, KeepsTheEdgesThatTheyCameBy) {
  make(path(), hashed_step());
  EXPECT_EQ(spec("paper").edges, Texts{});
  make(path(), mean_step());
  EXPECT_EQ(spec("author").edges, (Texts{"edits", "writes"})) << "as they were declared";
  FeatureStep venue = small_step({"venue"});
  venue.metapath2vec = {"VPV"};
  make(path(), venue);
  EXPECT_EQ(spec("venue").edges, Texts{"appears_in"});
  FeatureStep beyond = small_step({"paper"});
  beyond.mean_of = "venue";
  make(path(), beyond);
  make(path(), mean_step());
  EXPECT_EQ(spec("author").edges, (Texts{"appears_in", "edits", "writes"})) << "its papers' too";
}

TEST_F(MakeFeaturesTest, WithoutABoundTheyKnowAllTimes) {
  const TestFolder folder;
  write_bytes(folder / "task.toml",
              "predict = 'edge'\nnode = 'paper'\nother = 'venue'\nedges = ['appears_in']\n"
              "split = 'random'\n");
  FeatureStep step = small_step({"paper"});
  step.task = (folder / "task.toml").string();
  make(path(), step);
  EXPECT_EQ(spec("paper").until, 2018) << "too late for a task that is split by time";
  EXPECT_EQ(spec("paper").origin, "fasttext of names, trained on those");
}

TEST_F(MakeFeaturesTest, AMeanIsAsLateAsItsSource) {
  FeatureStep late = small_step({"paper"});
  late.until = "2018";
  make(path(), late);
  make(path(), mean_step());
  EXPECT_EQ(spec("author").until, 2018) << "although no later paper is part of it";
  EXPECT_EQ(outdated_means(HeteroGraph::open(path()).schema()), Texts{});
  make(path(), small_step({"paper"}));
  EXPECT_EQ(spec("author").until, 2018) << "not made again";
  EXPECT_EQ(outdated_means(HeteroGraph::open(path()).schema()), Texts{"author"});
  make(path(), mean_step());
  EXPECT_EQ(spec("author").until, 2014);
  EXPECT_EQ(outdated_means(HeteroGraph::open(path()).schema()), Texts{});
}

// --- again, or not ---

TEST_F(MakeFeaturesTest, DoesNotMakeWhatIsThere) {
  for (const FeatureStep& step : {small_step({"paper"}), mean_step(), walk_step()}) {
    for (const MadeFeatures& one : make(path(), step)) EXPECT_FALSE(one.already);
    const auto before = arrays_of(path());
    const auto second = make(path(), step, false, [](const Progress& /*unused*/) {
      ADD_FAILURE() << "there is nothing to do";
    });
    ASSERT_EQ(second.size(), step.types.size());
    for (const MadeFeatures& one : second) EXPECT_TRUE(one.already);
    EXPECT_EQ(arrays_of(path()), before);
    for (const MadeFeatures& one : make(path(), step, true)) EXPECT_FALSE(one.already);
    EXPECT_EQ(arrays_of(path()), before) << "made again, they are the same";
  }
}

TEST_F(MakeFeaturesTest, AnotherOptionMakesThemAnew) {
  make(path(), hashed_step());
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"width", "7"}, {"encoder", "fasttext"}, {"until", "2012"}, {"precision", "float32"}}) {
    FeatureStep step = hashed_step();
    step_table(step).set(key, {value});
    EXPECT_FALSE(make(path(), step)[0].already) << key;
    EXPECT_FALSE(make(path(), hashed_step())[0].already) << key;
  }
  FeatureStep step = hashed_step();
  step.threads = 2;
  EXPECT_TRUE(make(path(), step)[0].already) << "threads change nothing that counts";
  step.until = "2014";
  EXPECT_TRUE(make(path(), step)[0].already) << "the bound that it had anyway";
  step.task = "paper-venue";
  EXPECT_FALSE(make(path(), step)[0].already) << "hides something";
}

TEST_F(MakeFeaturesTest, MeansAreMadeAnewWhenTheirSourceChanges) {
  make(path(), hashed_step());
  make(path(), mean_step());
  make(path(), walk_step());  // changes authors, not papers
  make(path(), mean_step());
  EXPECT_TRUE(make(path(), mean_step())[0].already);
  FeatureStep wider = hashed_step();
  wider.width = 9;
  make(path(), wider);
  EXPECT_FALSE(make(path(), mean_step())[0].already);
  EXPECT_EQ(spec("author").width, 10U);
  make(path(), walk_step());
  EXPECT_TRUE(make(path(), wider)[0].already) << "titles do not depend on other features";
}

TEST_F(MakeFeaturesTest, AnotherVectorFileMakesThemAnew) {
  const TestFolder folder;
  write_bytes(folder / "v.txt", "graphs 1 2\nwalks 3 -4\n");
  FeatureStep step = small_step({"paper"});
  step.encoder = TextEncoder::vectors;
  step.vectors = (folder / "v.txt").string();
  make(path(), step);
  EXPECT_TRUE(make(path(), step)[0].already);
  write_bytes(folder / "v.txt", "graphs 1 2\nwalks 3 -4\ndeep 1 1\n");
  EXPECT_FALSE(make(path(), step)[0].already);
}

// --- stopped everywhere ---

// Stops with the first report, goes on and stops with the second, and so on until nothing is left
// to report. Returns how often it was stopped.
uint64_t make_in_pieces(const Path& graph, const FeatureStep& step) {
  const auto schema = read_bytes(graph / "schema.json");
  for (uint64_t stops = 0;; ++stops) {
    try {
      make(graph, step, false, StopAt(stops + 1));
      return stops;
    } catch (const Interrupted&) {
      HeteroGraph::open(graph);
      EXPECT_TRUE(step.types.size() > 1 || read_bytes(graph / "schema.json") == schema);
    }
  }
}

TEST_F(MakeFeaturesTest, StoppedAtAnyReportTheyBecomeTheSame) {
  FeatureStep fasttext = small_step({"paper"});
  fasttext.epochs = 50;
  const TestGraph other = titled_graph(eight_papers());
  for (const FeatureStep& step : {hashed_step(), mean_step(), walk_step(), fasttext}) {
    make(path(), step);
    EXPECT_GE(make_in_pieces(other.path(), step), 1U);
    const auto expected = files_of(path());
    const auto got = files_of(other.path());
    for (const auto& [name, bytes] : expected) {
      ASSERT_TRUE(got.contains(name)) << name;
      EXPECT_TRUE(got.at(name) == bytes) << name;
    }
    EXPECT_EQ(got.size(), expected.size()) << "nothing is left behind";
  }
  verify(HeteroGraph::open(other.path()));
}

TEST_F(MakeFeaturesTest, WhatWasStoppedAndIsNotWantedAnyMoreIsRemoved) {
  for (FeatureStep step : {walk_step(), small_step({"paper"}), hashed_step()}) {
    const auto stop = [](const Progress& progress) {  // when most is done
      if (progress.stage.starts_with("features of")) throw Interrupted();
    };
    EXPECT_THROW(make(path(), step, false, stop), Interrupted);
    step.seed = 4;
    make(path(), step);
  }
  for (const auto& [name, bytes] : files_of(path())) {
    EXPECT_TRUE(name.ends_with(".npy") || name == "schema.json") << name;
  }
}

// Rows are made 4,096 at a time: what is stopped between two pieces goes on with the second.
TEST(MakeManyFeatures, GoOnInTheMiddleOfAType) {
  std::vector<TitledPaper> papers;
  for (int i = 0; i < 9000; ++i) papers.push_back({"title " + std::to_string(i), 2010});
  const TestGraph graph = titled_graph(papers);
  EXPECT_THROW(make(graph.path(), hashed_step(), false, StopAt(3)), Interrupted);
  std::vector<uint64_t> counts;
  make(graph.path(), hashed_step(), false,
       [&](const Progress& progress) { counts.push_back(progress.count); });
  EXPECT_EQ(counts, (std::vector<uint64_t>{8192, 9000})) << "first what was there";
  const FeatureRows rows = stored_rows(graph.path(), "paper");
  make(graph.path(), hashed_step(), true);
  EXPECT_EQ(stored_rows(graph.path(), "paper"), rows);
}

TEST_F(MakeFeaturesTest, AFolderIsNoUnfinishedFile) {
  fs::create_directories(path() / "walks_of_life" / "inner");
  make(path(), walk_step());
  EXPECT_TRUE(fs::exists(path() / "walks_of_life" / "inner"));
}

// --- sets ---

TEST_F(MakeFeaturesTest, ASetThatIsThereIsNotMadeAgain) {
  const FeatureLock lock(path());
  const std::vector<FeatureStep> steps = {hashed_step(), mean_step()};
  EXPECT_FALSE(plan_feature_set(path(), steps, {}).exists);
  make_feature_set(lock, steps, {}, no_progress);
  const auto before = files_of(path());
  EXPECT_TRUE(plan_feature_set(path(), steps, {}).exists);
  const auto second = make_feature_set(lock, steps, {}, no_progress);
  ASSERT_EQ(second.size(), 2U);
  for (const MadeFeatures& one : second) EXPECT_TRUE(one.already) << one.type;
  EXPECT_EQ(files_of(path()), before);
  const std::vector<FeatureStep> others = {hashed_step()};
  for (const auto& refused : {error_of([&] { plan_feature_set(path(), others, {}); }),
                              error_of([&] { make_feature_set(lock, others, {}, no_progress); })}) {
    EXPECT_TRUE(contains(refused, "has a feature set 'made' already")) << refused;
  }
  EXPECT_EQ(files_of(path()), before);
}

TEST_F(MakeFeaturesTest, SetsShareWhatIsMadeInTheSameWay) {
  const FeatureLock lock(path());
  make_feature_set(lock, {hashed_step()}, {.name = "one"}, no_progress);
  const std::vector<FeatureStep> steps = {hashed_step(), mean_step()};
  const FeatureSetPlan plan = plan_feature_set(path(), steps, {.name = "two"});
  ASSERT_EQ(plan.types.size(), 2U);
  EXPECT_TRUE(plan.types[0].already);
  EXPECT_EQ(plan.types[0].seconds, 0);
  EXPECT_FALSE(plan.types[1].already);
  EXPECT_EQ(plan.types[1].origin, "mean of paper up to 2014");
  EXPECT_EQ(plan.types[1].nodes, kTitledAuthors);
  EXPECT_GT(plan.types[1].seconds, 0);
  const auto made = make_feature_set(lock, steps, {.name = "two"}, no_progress);
  EXPECT_TRUE(made[0].already);
  EXPECT_FALSE(made[1].already);
  const HeteroGraph one = HeteroGraph::open(path(), "one");
  const HeteroGraph two = HeteroGraph::open(path(), "two");
  const NodeType paper = one.schema().node_type("paper");
  EXPECT_EQ(one.schema().at(paper).features->file, two.schema().at(paper).features->file);
  EXPECT_FALSE(one.schema().at(one.schema().node_type("author")).features.has_value());
  const auto again =
      make_feature_set(lock, steps, {.name = "two", .replace = true, .again = true}, no_progress);
  for (const MadeFeatures& each : again) EXPECT_FALSE(each.already);
}

// The mean of a type over itself takes the place of what it is the mean of.
TEST_F(MakeFeaturesTest, AStepThatReplacesItsSourceIsMadeOnceHoweverOftenItIsStopped) {
  Schema schema;
  const NodeType type = schema.add_node_type("word", NodeKind::plain);
  schema.at(type).names = true;
  schema.add_relation({.source = "word", .edge = "near", .target = "word", .symmetric = true});
  schema.number_relations();
  const auto fill = [&](GraphBuilder& builder) {
    for (const char* word : {"red", "green", "blue"}) builder.add_node(type, {.name = word});
    const Relation near = builder.schema().relation("word", "near", "word");
    builder.add_edge(near, {.source = 0, .target = 1});
    builder.add_edge(near, {.source = 1, .target = 2});
  };
  FeatureStep words = small_step({"word"});
  words.encoder = TextEncoder::hashed;
  FeatureStep smooth = small_step({"word"});
  smooth.mean_of = "word";
  const std::vector<FeatureStep> steps = {words, smooth, smooth};
  const TestGraph whole(schema, fill);
  const TestGraph pieces(schema, fill);
  make_feature_set(FeatureLock(whole.path()), steps, {}, no_progress);
  for (uint64_t stop = 1;; ++stop) {
    const FeatureLock lock(pieces.path());
    try {
      make_feature_set(lock, steps, {}, StopAt(2));
      EXPECT_GT(stop, 3U) << "each step was stopped at least once";
      break;
    } catch (const Interrupted&) {
      ASSERT_LT(stop, 20U);
    }
  }
  EXPECT_EQ(stored_rows(pieces.path(), "word"), stored_rows(whole.path(), "word"));
  EXPECT_EQ(outdated_means(HeteroGraph::open(whole.path()).schema()), Texts{});
}

TEST_F(MakeFeaturesTest, ARecipeThatIsCorrectedKeepsWhatWasMade) {
  const FeatureLock lock(path());
  FeatureStep nothing = mean_step();
  nothing.until = "1990";
  EXPECT_THROW(make_feature_set(lock, {hashed_step(), nothing}, {}, no_progress), NoFeatures);
  EXPECT_EQ(HeteroGraph::open(path()).feature_set(), "imported");
  const auto made = make_feature_set(lock, {hashed_step(), mean_step()}, {}, no_progress);
  EXPECT_TRUE(made[0].already);
  EXPECT_FALSE(made[1].already);
  const auto sets = all_feature_sets(read_schema(path()));
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[1].name, "made");
}

TEST_F(MakeFeaturesTest, KnowNothingLaterThanTheTrainingOfTheTaskAsItIsSplit) {
  FeatureStep step = small_step({"paper"});
  step.task = "paper-venue";
  step_table(step).set("train-end", {"2011"});
  step_table(step).set("validation-end", {"2013"});
  make(path(), step);
  EXPECT_EQ(spec("paper").until, 2011);
  FeatureStep drawn = small_step({"paper"});
  drawn.task = "paper-venue";
  step_table(drawn).set("split", {"random"});
  make(path(), drawn);
  EXPECT_EQ(spec("paper").until, 2018) << "such a split has no bound";
  FeatureStep hidden = mean_step();
  hidden.task = "paper-venue";
  step_table(hidden).set("leave-out", {"edits"});
  make(path(), hidden);
  EXPECT_EQ(spec("author").edges, Texts{"writes"});
  hidden.task.clear();
  const std::string error = error_for(hidden);
  EXPECT_TRUE(contains(error, "train-end") && contains(error, "--task")) << error;
}

// --- leakage ---

TEST_F(MakeFeaturesTest, WhatIsLateChangesNoRowOfWhatIsNot) {
  const TestGraph other = titled_graph(eight_papers("forests deep walks changed"));
  for (const Path& graph : {path(), other.path()}) {
    make(graph, small_step({"paper"}));
    make(graph, mean_step());
  }
  const FeatureRows one = stored_rows(path(), "paper");
  const FeatureRows two = stored_rows(other.path(), "paper");
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(one[i], two[i]) << i;
  EXPECT_NE(one[6], two[6]);
  EXPECT_EQ(stored_rows(path(), "author"), stored_rows(other.path(), "author"));
}

// --- errors ---

TEST_F(MakeFeaturesTest, SaysWhenNoNodeWouldGetFeatures) {
  const TestGraph blank = titled_graph({{"...", 2010, {0}, 0}, {"", 2011, {1}, 1}});
  for (int time = 1; time <= 2; ++time) {
    const std::string error = error_of([&] { make(blank.path(), hashed_step()); });
    EXPECT_TRUE(
        contains(error, "no node of type paper would get features from hashed words of names"))
        << time << error;
    EXPECT_FALSE(HeteroGraph::open(blank.path()).schema().at(blank.type("paper")).features);
  }
  make(path(), hashed_step());
  FeatureStep early = mean_step();
  early.until = "1990";
  const std::string error = error_for(early);
  EXPECT_TRUE(
      contains(error, "no node of type author would get features from mean of paper up to 1990"));
  EXPECT_TRUE(contains(error, "--until")) << error;
  EXPECT_NE(error_for(early), "") << "the second time, too";
}

// The only report is late, and nobody is a reader.
TEST(LeftOut, TypesThatGetNothingDoNotStopTheOthers) {
  Schema schema;
  schema.add_node_type("author", NodeKind::plain);
  schema.add_node_type("reader", NodeKind::plain);
  schema.at(schema.add_node_type("paper", NodeKind::event)).names = true;
  schema.at(schema.add_node_type("report", NodeKind::event)).names = true;
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
  schema.add_relation({.source = "reader", .edge = "reads", .target = "paper"});
  schema.number_relations();
  const TestGraph graph(schema, [](GraphBuilder& builder) {
    const Schema& types = builder.schema();
    builder.add_node(types.node_type("author"), {});
    for (const char* title : {"deep walks", "walks in forests"}) {
      builder.add_node(types.node_type("paper"), {.name = title, .time = 2010});
    }
    builder.add_node(types.node_type("report"), {.name = "too late", .time = 2016});
    for (const NodeId paper : {0U, 1U}) {
      builder.add_edge(types.relation("author", "writes", "paper"), {.source = 0, .target = paper});
    }
  });
  const auto expect_left_out = [&](const FeatureStep& step, const std::string& type) {
    const auto made = make(graph.path(), step);
    ASSERT_EQ(made.size(), 2U);
    for (const MadeFeatures& one : made) {
      EXPECT_EQ(one.left_out.empty(), one.type != type) << one.type << one.left_out;
    }
    const auto names = files_of(graph.path());
    for (const auto& [name, bytes] : names) {
      EXPECT_TRUE(name.ends_with(".npy") || name == "schema.json") << name;
    }
  };
  expect_left_out(small_step({"report", "paper"}), "report");
  FeatureStep walks = small_step({"reader", "author"});
  walks.metapath2vec = {"auto"};
  expect_left_out(walks, "reader");
  walks.types = {"author", "paper"};
  walks.metapath2vec = {"APA"};
  walks.until = "2009";
  EXPECT_THROW(make(graph.path(), walks), NoFeatures) << "no walk has a second node";
  walks.metapath2vec = {"PAP"};
  EXPECT_THROW(make(graph.path(), walks), NoFeatures) << "no walk starts";
  FeatureStep mean = small_step({"author"});
  mean.mean_of = "paper";
  mean.until = "2009";
  EXPECT_THROW(make(graph.path(), mean), NoFeatures);
}

TEST_F(MakeFeaturesTest, RefusesWhatATaskHides) {
  make(path(), hashed_step());
  FeatureStep mean = small_step({"venue"});
  mean.mean_of = "paper";
  mean.task = "paper-venue";
  mean.task_options.leave_out = {"appears_in"};
  EXPECT_EQ(error_for(mean),
            "no edges lead from paper to venue except those that the task paper-venue predicts or "
            "leaves out");
  FeatureStep walks = walk_step();
  walks.task = "paper-venue";
  EXPECT_TRUE(contains(error_for(walks), "the task predicts")) << error_for(walks);
  walks.types = {"venue"};
  walks.metapath2vec = {"auto"};
  EXPECT_TRUE(contains(error_for(walks), "lead to venue")) << error_for(walks);
}

TEST_F(MakeFeaturesTest, WalksProposedFromTheSchemaLeaveOutWhatIsHidden) {
  FeatureStep walks = small_step({"author"});
  walks.metapath2vec = {"auto"};
  walks.task = "paper-venue";
  make(path(), walks);
  EXPECT_EQ(spec("author").origin, "metapath2vec along author-paper-author up to 2014");
}

TEST_F(MakeFeaturesTest, ChecksTheStepFirst) {
  EXPECT_TRUE(contains(error_for(small_step({"author"})), "nodes of type author have no name"));
  EXPECT_TRUE(contains(error_for(mean_step()), "nodes of type paper have no features"));
  FeatureStep step = hashed_step();
  step.task = "paper-moon";
  EXPECT_TRUE(contains(error_for(step), "paper-moon"));
}

}  // namespace
}  // namespace hgt
