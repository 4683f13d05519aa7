#include "hgt/task/task_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

std::string kinds_of_tasks() { return fmt::format("{}", fmt::join(all_words<TaskKind>(), ", ")); }

// --- files ---

class TaskFileTest : public testing::Test {
 protected:
  TaskSpec read(const std::string& text) const {
    write_bytes(file_, text);
    return read_task(file_);
  }
  std::string error_of_text(const std::string& text) const {
    return error_of([&] { read(text); });
  }

  const TestFolder folder_;
  const Path file_ = folder_ / "movies.toml";
};

TEST_F(TaskFileTest, SaysEverything) {
  const TaskSpec spec = read(R"(
name = "who rates what"
predict = "link"
node = "user"
other = "movie"
edges = ["rates", "likes"]
label = "genre"
loss = "binary"
split = "random"
train-end = "2010-06"
validation-end = 2012
validation-share = 0.15
test-share = 0.3
validation-draw = 4
split-seed = 18446744073709551
guard = false
hide-links = "batch"
also-hide = ["watches"]
leave-out = ["likes"]
meta-paths = ["movie-user-movie"]
min-links = 3
max-candidates = 9
negatives = 7
test-negatives = 50
)");
  const TaskSpec wanted{.name = "who rates what",
                        .kind = TaskKind::link,
                        .node = "user",
                        .other = "movie",
                        .edges = {"rates", "likes"},
                        .label = "genre",
                        .loss = Loss::binary,
                        .split = SplitRule::random,
                        .train_end = "2010-06",
                        .validation_end = "2012",
                        .validation_share = 0.15,
                        .test_share = 0.3,
                        .validation_draw = 4,
                        .split_seed = 18446744073709551U,
                        .guard = false,
                        .hide_links = Hidden::batch,
                        .also_hide = {"watches"},
                        .leave_out = {"likes"},
                        .meta_paths = {"movie-user-movie"},
                        .min_links = 3,
                        .max_candidates = 9,
                        .negatives = 7,
                        .test_negatives = 50};
  EXPECT_EQ(spec, wanted);
}

TEST_F(TaskFileTest, IsCalledLikeItsFileAndOtherwiseAsDefault) {
  EXPECT_EQ(read("predict = 'name'\n"), (TaskSpec{.name = "movies", .kind = TaskKind::name}));
}

TEST_F(TaskFileTest, MayNameOneEdgeTypeWithoutAList) {
  EXPECT_EQ(read("predict = 'edge'\nedges = 'rates'\n").edges, Texts{"rates"});
}

TEST_F(TaskFileTest, WithAnUnknownKeyIsRefusedWithTheKnownOnes) {
  const std::string error = error_of_text("predict = 'link'\nnegative = 7\n");
  EXPECT_TRUE(error.starts_with(file_.string() + ":2: unknown key 'negative'")) << error;
  for (const char* key : {"name",
                          "predict",
                          "node",
                          "other",
                          "edges",
                          "label",
                          "loss",
                          "split",
                          "train-end",
                          "validation-end",
                          "validation-share",
                          "test-share",
                          "validation-draw",
                          "split-seed",
                          "guard",
                          "hide-links",
                          "also-hide",
                          "leave-out",
                          "meta-paths",
                          "min-links",
                          "max-candidates",
                          "negatives",
                          "test-negatives"}) {
    EXPECT_TRUE(contains(error, key)) << key;
  }
}

TEST_F(TaskFileTest, WithAValueThatDoesNotFitIsRefusedWithItsLine) {
  for (const char* bad :
       {"name = ['a', 'b']", "node = []", "predict = 'nodes'", "loss = 'mse'", "split = 'years'",
        "hide-links = true", "guard = 1", "guard = 'yes'", "min-links = -1", "min-links = 1.5",
        "min-links = 4294967296", "negatives = 'many'", "test-negatives = [1, 2]",
        "validation-share = 'half'", "test-share = ''", "split-seed = -1"}) {
    const std::string error = error_of_text(std::string("# a task\n") + bad + "\npredict = 'edge'");
    EXPECT_TRUE(error.starts_with(file_.string() + ":2: ") ||
                (contains(bad, "predict") && error.starts_with(file_.string() + ":3: ")))
        << bad << ": " << error;
    if (contains(bad, "predict")) continue;
    const std::string key = std::string(bad).substr(0, std::string(bad).find(' '));
    EXPECT_TRUE(contains(error, key)) << error;
  }
  const std::string error = error_of_text("predict = 'nodes'\n");
  EXPECT_TRUE(error.starts_with(file_.string() + ":1: ")) << error;
  EXPECT_TRUE(contains(error, kinds_of_tasks())) << error;
}

TEST_F(TaskFileTest, ThatDoesNotSayWhatToPredictIsRefused) {
  const std::string error = error_of_text("node = 'paper'\n");
  EXPECT_TRUE(contains(error, file_.string() + ": 'predict' is missing")) << error;
  EXPECT_TRUE(contains(error, kinds_of_tasks())) << error;
}

TEST_F(TaskFileTest, ThatIsNoTomlOrMissingIsRefused) {
  EXPECT_TRUE(error_of_text("predict = 'edge'\nnode paper\n").starts_with(file_.string() + ":2: "));
  const Path missing = folder_ / "missing.toml";
  EXPECT_TRUE(contains(error_of([&] { read_task(missing); }), missing.string()));
  EXPECT_TRUE(contains(error_of([&] { find_task(missing.string(), Schema()); }), missing.string()));
}

std::string random_text(Draws& draws) {
  constexpr std::string_view kLetters = "abz-_09 \"\\\n\t'#=[]\x7f";
  std::string text;
  for (uint64_t i = draws.below(6); i > 0; --i) text += kLetters[draws.below(kLetters.size())];
  return text;
}

Texts random_texts(Draws& draws) {
  Texts texts(draws.below(4));
  for (std::string& text : texts) text = random_text(draws);
  return texts;
}

TaskSpec random_spec(Draws& draws) {
  TaskSpec spec{.name = random_text(draws),
                .kind = TaskKind(draws.below(4)),
                .node = random_text(draws),
                .loss = Loss(draws.below(3)),
                .split = SplitRule(draws.below(4)),
                .train_end = random_text(draws),
                .validation_end = random_text(draws),
                .validation_share = draws.unit(),
                .test_share = draws.below(3) == 0 ? 1.0 : draws.unit(),
                .validation_draw = static_cast<uint32_t>(draws.below(1'000'001)),
                .split_seed = draws.bits() >> draws.below(64),
                .guard = draws.below(2) == 0,
                .hide_links = Hidden(draws.below(3)),
                .also_hide = random_texts(draws),
                .min_links = static_cast<uint32_t>(draws.below(1'000'000'001)),
                .max_candidates = static_cast<uint32_t>(draws.below(1'000'000'001)),
                .negatives = static_cast<uint32_t>(draws.below(1'000'001)),
                .test_negatives = static_cast<uint32_t>(draws.below(10'000'001))};
  if (spec.kind == TaskKind::label) {
    spec.label = random_text(draws);
  } else {
    spec.other = random_text(draws);
    spec.edges = random_texts(draws);
  }
  return spec;
}

TEST_F(TaskFileTest, GivesBackTheTaskThatWasWritten) {
  Draws draws(hash(1));
  for (int round = 0; round < 300; ++round) {
    const TaskSpec spec = random_spec(draws);
    const std::string text = to_toml(spec);
    EXPECT_EQ(read(text), spec) << text;
    EXPECT_EQ(to_toml(read(text)), text);
  }
}

TEST(TaskWords, AreReadBack) {
  for (const SplitRule rule :
       {SplitRule::automatic, SplitRule::time, SplitRule::random, SplitRule::given}) {
    EXPECT_EQ(from_word<SplitRule>(to_string(rule)), rule);
  }
  for (const Loss each : {Loss::automatic, Loss::softmax, Loss::binary}) {
    EXPECT_EQ(from_word<Loss>(to_string(each)), each);
  }
  for (const Hidden each : {Hidden::automatic, Hidden::batch, Hidden::split}) {
    EXPECT_EQ(from_word<Hidden>(to_string(each)), each);
  }
  EXPECT_EQ(to_string(SplitRule::random), "random");
  EXPECT_EQ(to_string(TaskKind::label), "label");
  EXPECT_TRUE(
      contains(error_of([] { from_word<SplitRule>("year"); }), "automatic, time, random, given"));
  EXPECT_TRUE(contains(error_of([] { from_word<Loss>("Softmax"); }), "automatic, softmax, binary"));
  EXPECT_TRUE(contains(error_of([] { from_word<Hidden>(""); }), "automatic, batch, split"));
}

// --- names ---

// Papers, their authors, fields and venues, talks about papers; some with names and labels.
Schema academic_names() {
  Schema schema;
  for (const char* type : {"paper", "talk"}) schema.add_node_type(type, NodeKind::event);
  for (const char* type : {"author", "field", "venue"}) {
    schema.at(schema.add_node_type(type, NodeKind::plain)).names = std::string(type) == "author";
  }
  const auto relate = [&](const char* source, const char* edge, const char* target) {
    schema.add_relation({.source = source, .edge = edge, .target = target});
  };
  relate("author", "gives", "talk");
  relate("author", "writes_first", "paper");
  relate("author", "writes_other", "paper");
  relate("paper", "in_L0", "field");
  relate("paper", "in_L1", "field");
  relate("author", "in_L1", "field");
  relate("paper", "pub_journal", "venue");
  relate("paper", "cites", "paper");
  relate("talk", "about", "paper");
  schema.number_relations();
  schema.at(schema.node_type("paper")).labels = {{.name = "topic"}, {.name = "a:b"}};
  schema.at(schema.node_type("author")).labels = {{.name = "topic"}};
  return schema;
}

Texts sorted(Texts texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

class TaskNameTest : public testing::Test {
 protected:
  void expect_task(const std::string& name, TaskSpec wanted) const {
    TaskSpec found = find_task(name, schema_);
    found.edges = sorted(found.edges);
    wanted.name = name;
    EXPECT_EQ(found, wanted) << to_toml(found);
  }

  const Schema schema_ = academic_names();
};

TEST_F(TaskNameTest, OfTwoTypesIsTheOtherEndOfAllTheirEdges) {
  expect_task("paper-venue", {.node = "paper", .other = "venue", .edges = {"pub_journal"}});
  expect_task("paper-field", {.node = "paper", .other = "field", .edges = {"in_L0", "in_L1"}});
  expect_task("field-paper", {.node = "field", .other = "paper", .edges = {"in_L0", "in_L1"}});
  expect_task("paper-author",
              {.node = "paper", .other = "author", .edges = {"writes_first", "writes_other"}});
}

TEST_F(TaskNameTest, MayEndLikeAnEdgeType) {
  expect_task("paper-field-L1", {.node = "paper", .other = "field", .edges = {"in_L1"}});
  expect_task("author-field-L1", {.node = "author", .other = "field", .edges = {"in_L1"}});
  expect_task("paper-author-first",
              {.node = "paper", .other = "author", .edges = {"writes_first"}});
}

TEST_F(TaskNameTest, WithAColonIsALabel) {
  expect_task("paper:topic", {.kind = TaskKind::label, .node = "paper", .label = "topic"});
  expect_task("author:topic", {.kind = TaskKind::label, .node = "author", .label = "topic"});
  expect_task("paper:a:b", {.kind = TaskKind::label, .node = "paper", .label = "a:b"});
}

TEST_F(TaskNameTest, OfDisambiguationTakesTheEventTypeWithMostEdgeTypes) {
  expect_task("author-disambiguation", {.kind = TaskKind::name,
                                        .node = "paper",
                                        .other = "author",
                                        .edges = {"writes_first", "writes_other"}});
}

TEST_F(TaskNameTest, OfALinkIsItsEdgeTypeInEitherDirection) {
  expect_task("link:about",
              {.kind = TaskKind::link, .node = "talk", .other = "paper", .edges = {"about"}});
  expect_task("link:rev_about",
              {.kind = TaskKind::link, .node = "paper", .other = "talk", .edges = {"rev_about"}});
  expect_task("link:cites",
              {.kind = TaskKind::link, .node = "paper", .other = "paper", .edges = {"cites"}});
}

TEST_F(TaskNameTest, AreAllListedAndAllFound) {
  Texts names;  // of the first kinds; further ones list theirs in tests of their own
  for (const std::string& name : task_names(schema_)) {
    const TaskSpec found = find_task(name, schema_);
    EXPECT_EQ(found.name, name);
    if (found.kind <= TaskKind::link) names.push_back(name);
  }
  const Texts wanted = {"author-disambiguation",
                        "author-field",
                        "author-paper",
                        "author-talk",
                        "author:topic",
                        "field-author",
                        "field-paper",
                        "link:about",
                        "link:cites",
                        "link:gives",
                        "link:in_L0",
                        "link:in_L1",
                        "link:pub_journal",
                        "link:writes_first",
                        "link:writes_other",
                        "paper-author",
                        "paper-field",
                        "paper-talk",
                        "paper-venue",
                        "paper:a:b",
                        "paper:topic",
                        "talk-author",
                        "talk-paper",
                        "venue-paper"};
  EXPECT_EQ(sorted(names), wanted);
}

TEST_F(TaskNameTest, ThatFitNothingAreRefusedWithThoseThatWould) {
  for (const char* bad :
       {"", "paper", "paper-", "paper-venues", "paper-field-L7", "paper-fieldL1", "paper-field_L1",
        "paper-field.L1", "paper-paper", "paper:year", "papers:topic", "venue-disambiguation",
        "nobody-disambiguation", "link:", "link:writes", "toml"}) {
    const std::string error = error_of([&] { find_task(bad, schema_); });
    EXPECT_TRUE(contains(error, "there is no task named '" + std::string(bad) + "'"))
        << bad << ": " << error;
    for (const std::string& name : task_names(schema_)) {
      EXPECT_TRUE(contains(error, name)) << name;
    }
  }
}

// Types whose names begin alike, or look like a type with an ending.
Schema dashed_names(const Texts& types) {
  Schema schema;
  for (const std::string& type : types) schema.add_node_type(type, NodeKind::plain);
  const auto relate = [&](const char* source, const char* edge, const char* target) {
    schema.add_relation({.source = source, .edge = edge, .target = target});
  };
  relate("paper", "in_L1", "field");
  relate("paper", "of", "field-L1");
  relate("paper-back", "sold_in", "shop");
  relate("paper", "is", "paper-back");
  relate("paperweight", "lies_on", "paper");
  schema.number_relations();
  return schema;
}

TEST(TaskNames, OfTypesWithDashesMeanTheTypesWhateverTheirOrder) {
  Texts types = {"field", "field-L1", "paper", "paper-back", "paperweight", "shop"};
  do {
    const Schema schema = dashed_names(types);
    for (const auto& [name, node, other] :
         std::vector<std::array<std::string, 3>>{{"paper-field", "paper", "field"},
                                                 {"paper-field-L1", "paper", "field-L1"},
                                                 {"field-L1-paper", "field-L1", "paper"},
                                                 {"paper-back-shop", "paper-back", "shop"},
                                                 {"paper-paper-back", "paper", "paper-back"},
                                                 {"paper-back-paper", "paper-back", "paper"},
                                                 {"paperweight-paper", "paperweight", "paper"},
                                                 {"paper-paperweight", "paper", "paperweight"}}) {
      const TaskSpec spec = find_task(name, schema);
      ASSERT_EQ(spec.node, node) << name;
      ASSERT_EQ(spec.other, other) << name;
      ASSERT_EQ(spec.edges.size(), 1U) << name;
    }
  } while (std::next_permutation(types.begin(), types.end()));
}

}  // namespace
}  // namespace hgt
