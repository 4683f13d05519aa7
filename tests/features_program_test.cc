// `hgt features` as a stranger meets it: recipes, messages, exit codes, Ctrl-C.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "hgt/graph/graph_builder.h"
#include "hgt/graph/graph_test_folder.h"
#include "tests/run_program.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class FeaturesProgram : public testing::Test {
 protected:
  // Generated once, copied for each test.
  void SetUp() override {
    static const TestFolder once;
    if (!fs::exists(once / "graph")) {
      const Outcome made =
          run_program(once.path(), {"generate", "--preset", "small", "--papers", "600",
                                    "--features", "0", "--out", (once / "graph").string()});
      ASSERT_EQ(made.exit_code, 0) << made.err;
    }
    fs::copy(once / "graph", graph(), fs::copy_options::recursive);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string graph() const { return path("graph"); }
  Outcome hgt(const Words& words, const std::function<void(pid_t)>& while_running = {}) const {
    return run_program(folder_.path(), words, while_running);
  }
  // What the program prints; it must not fail.
  std::string text(const Words& words) const {
    const Outcome outcome = hgt(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }
  Words features(const Words& more) const {
    return Words{"features", graph(),   "--quiet", "--width",  "8", "--epochs",
                 "1",        "--walks", "1",       "--length", "4"} +
           more;
  }
  Words step(const Words& more) const { return Words{"features", graph(), "--quiet"} + more; }
  void expect_error(const Words& words, int code, const std::string& message) const {
    const Outcome outcome = hgt(words);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << message << "\nis not in\n" << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  // All that the graph consists of; not what is remembered about its files.
  std::map<std::string, std::string> graph_bytes() const {
    auto files = folder_bytes(graph());
    files.erase("verified.json");
    return files;
  }
  // By type, what `hgt inspect` says of features.
  Json inspected() const {
    const Json json = Json::parse(text({"inspect", graph(), "--json", "--verify", "--quiet"}));
    Json found;
    for (const Json& type : json.at("node_types")) {
      found[type.at("name")] = type.value("features", Json());
    }
    return found;
  }

  const TestFolder folder_;
};

TEST_F(FeaturesProgram, MakesTheDefaultRecipe) {
  const std::string out = text(features({}));
  for (const char* type : {"paper", "author", "field", "venue", "institute"}) {
    EXPECT_TRUE(contains(out, type)) << out;
  }
  EXPECT_FALSE(contains(out, "as before")) << out;
  const Json found = inspected();
  EXPECT_EQ(found["paper"]["origin"], "fasttext of names, trained on those up to 2014");
  EXPECT_EQ(found["author"]["origin"], "mean of paper up to 2014");
  EXPECT_EQ(found["venue"]["origin"], "mean of paper up to 2014");
  EXPECT_TRUE(contains(found["institute"]["origin"].get<std::string>(), "metapath2vec along"));
  const std::string table = text({"inspect", graph()});
  EXPECT_TRUE(contains(table, "mean of paper up to 2014")) << table;

  const std::string again = text(features({}));
  size_t before = 0;
  for (size_t at = 0; (at = again.find("as before", at)) != std::string::npos; ++at) ++before;
  EXPECT_EQ(before, 5U) << again;
}

TEST_F(FeaturesProgram, TheAuditOfATaskSaysWhatTheyKnow) {
  const Words audit = {"train", graph(), "--task", "paper-venue", "--width", "8", "--audit", "4"};
  text(step({"--task", "paper-venue", "--encoder", "hashed", "--width", "8", "--walks", "1",
             "--length", "4"}));
  const std::string out = text(audit);
  EXPECT_TRUE(contains(out,
                       "features of author (mean of paper up to 2014): made with nothing "
                       "later than 2014"))
      << out;
  EXPECT_TRUE(contains(out, "features of paper (hashed words of names): each belongs to a node"))
      << out;
  EXPECT_TRUE(contains(out, "features of venue (mean of paper up to 2014")) << out;
  const Words earlier = {"--train-end", "2012", "--validation-end", "2014"};
  const std::string what =
      "made with data up to 2014, but training ends with 2012; make them again with --until 2012";
  const Outcome late = hgt(audit + earlier);
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_TRUE(contains(late.out, what)) << late.out;
  const Words train = {"train",     graph(), "--task",  "paper-venue", "--run",  path("run"),
                       "--batches", "1",     "--width", "4",           "--quiet"};
  const Outcome refused = hgt(train + earlier);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, what)) << refused.err;
  text(train + earlier + Words{"--no-guard"});
}

TEST_F(FeaturesProgram, TheAuditOfATaskFindsLinksThatItPredicts) {
  const Words audit = {"train", graph(), "--task", "paper-venue", "--width", "8", "--audit", "4"};
  text(step({"--type", "paper", "--encoder", "hashed", "--width", "8"}));
  text(step({"--set", "two", "--base", "made", "--type", "author", "--mean-of", "paper"}));
  text(audit);
  text(step({"--set", "three", "--base", "two", "--type", "venue", "--mean-of", "paper"}));
  text(audit + Words{"--features", "two"});
  const Outcome found = hgt(audit);
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_TRUE(contains(found.out,
                       "features of venue (mean of paper up to 2014): made along edges of type "))
      << found.out;
  EXPECT_TRUE(contains(found.out, "make them again with --task paper-venue")) << found.out;
}

TEST_F(FeaturesProgram, MakesOneTypeAsItIsTold) {
  const std::string out = text(step(
      {"--type", "paper,venue", "--encoder", "hashed", "--width", "8", "--precision", "float32"}));
  EXPECT_TRUE(contains(out, "hashed words of names") && contains(out, "float32")) << out;
  const Json found = inspected();
  EXPECT_EQ(found["paper"]["width"], 8);
  EXPECT_EQ(found["venue"]["type"], "float32");
  EXPECT_TRUE(found["author"].is_null());
  const Words walks = {"--type", "venue", "--metapath2vec", "VPAPV", "--width", "8"};
  text(step(walks + Words{"--set", "walks", "--base", "made"}));
  EXPECT_EQ(inspected()["venue"]["origin"], "metapath2vec along VPAPV up to 2014");
  EXPECT_EQ(inspected()["paper"]["width"], 8) << "those of the base";
}

TEST_F(FeaturesProgram, ReadsTitlesWithXlnet) {
  const Path model = Path(HGT_SHARED_DIR) / "golden/xlnet";
  if (!fs::exists(model / "model.safetensors")) GTEST_SKIP() << model << " is not there";
  const Words words = {"--type", "paper", "--encoder", "xlnet", "--xlnet"};
  text(step(words + Words{model.string() + "/"}));
  EXPECT_EQ(inspected()["paper"]["origin"], "xlnet xlnet of names");
  EXPECT_EQ(inspected()["paper"]["missing"], 0);
  EXPECT_TRUE(contains(text(step(words + Words{model.string() + "/"})), "as before"));
  fs::create_directory(folder_ / "half");
  fs::copy(model / "config.json", folder_ / "half");
  expect_error(step(words + Words{path("half")}), 1,
               path("half") + ": has no model.safetensors, spiece.model; give a folder with");
}

TEST_F(FeaturesProgram, FollowsARecipe) {
  write_bytes(folder_ / "recipe.toml",
              "until = '2010'\n"
              "[[features]]\ntype = 'paper'\nencoder = 'hashed'\nwidth = 33\n"
              "[[features]]\ntypes = ['field', 'venue']\nmean-of = 'paper'\n");
  text(step({"--recipe", path("recipe.toml")}));
  const Json found = inspected();
  EXPECT_EQ(found["paper"]["width"], 33);
  EXPECT_EQ(found["field"]["origin"], "mean of paper up to 2010");
  EXPECT_EQ(found["venue"]["origin"], "mean of paper up to 2010");
  EXPECT_EQ(found["venue"]["until"], 2010);
  text(step({"--recipe", path("recipe.toml"), "--until", "2008", "--replace"}));
  EXPECT_EQ(inspected()["venue"]["until"], 2008) << "a flag goes before the file";
  expect_error(step({"--recipe", path("recipe.toml"), "--encoder", "fasttext"}), 2,
               "--encoder: belongs to a step; write it into the recipe");
  expect_error(features({"--recipe", path("recipe.toml")}), 2, "belongs to a step");
}

TEST_F(FeaturesProgram, FindsWhatIsWrongWithTheLastStepBeforeTheFirst) {
  write_bytes(folder_ / "recipe.toml",
              "[[features]]\ntype = 'paper'\nencoder = 'hashed'\n"
              "[[features]]\ntype = 'author'\nmean-of = 'papre'\n");
  expect_error(step({"--recipe", path("recipe.toml")}), 1, "step 2 of 2: ");
  EXPECT_TRUE(inspected()["paper"].is_null());
}

TEST_F(FeaturesProgram, TheRecipeOfThePaperLeavesOutWhatATaskPredicts) {
  std::string recipe = read_bytes(Path(HGT_SOURCE_DIR) / "data/recipes/paper.toml");
  const std::string encoder = "encoder = \"xlnet\"\nxlnet = \"xlnet-base-cased\"\n";
  ASSERT_NE(recipe.find(encoder), std::string::npos);
  recipe.replace(recipe.find(encoder), encoder.size(), "encoder = \"hashed\"\n");
  recipe += "width = 8\nwalks = 1\nlength = 4\n";
  write_bytes(folder_ / "paper.toml", recipe);
  const Outcome outcome = hgt(step({"--recipe", path("paper.toml"), "--task", "paper-venue"}));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "hgt: left out: no edges that may be used lead to venue\n");
  const Json found = inspected();
  EXPECT_TRUE(found["venue"].is_null());
  EXPECT_FALSE(found["field"].is_null() || found["institute"].is_null());
}

TEST_F(FeaturesProgram, TheDefaultLeavesOutTypesThatGetNothing) {
  Schema schema;
  schema.add_node_type("author", NodeKind::plain);
  schema.add_node_type("reader", NodeKind::plain);
  for (const char* type : {"paper", "report"}) {
    schema.at(schema.add_node_type(type, NodeKind::event)).names = true;
  }
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
  schema.add_relation({.source = "reader", .edge = "reads", .target = "report"});
  schema.number_relations();
  GraphBuilder builder(folder_ / "odd", schema);
  builder.add_node(builder.schema().node_type("author"), {});
  builder.add_node(builder.schema().node_type("paper"), {.name = "deep walks", .time = 2010});
  builder.add_node(builder.schema().node_type("report"), {.name = "too late", .time = 2016});
  builder.add_edge(builder.schema().relation("author", "writes", "paper"),
                   {.source = 0, .target = 0});
  builder.finish();
  const Outcome outcome = hgt({"features", path("odd"), "--quiet", "--width", "8"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* type : {"author", "paper"}) EXPECT_TRUE(contains(outcome.out, type));
  EXPECT_TRUE(contains(outcome.err, "left out: no node of type report up to the end of training"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "left out: nodes of type report have no features"))
      << outcome.err;
}

TEST_F(FeaturesProgram, SaysWhenAMeanIsOutdated) {
  const Words papers = {"--type", "paper", "--encoder", "hashed", "--width"};
  const Words mean = {"--type", "author", "--mean-of", "paper"};
  text(step(papers + Words{"8", "--set", "a"}));
  text(step(mean + Words{"--set", "b", "--base", "a"}));
  const Outcome outcome = hgt(step(papers + Words{"9", "--set", "c", "--base", "b"}));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err,
            "hgt: features of author are the mean of features of paper that the set 'c' does not "
            "have; make a set where they fit with --base c --type author --mean-of paper\n");
  text(step(mean + Words{"--set", "d", "--base", "c"}));
}

// --- sets ---

TEST_F(FeaturesProgram, NeverOverwritesASetUnlessToldTo) {
  const Words hashed = {"--type", "paper", "--encoder", "hashed", "--width"};
  text(step(hashed + Words{"8"}));
  const auto before = graph_bytes();
  expect_error(step(hashed + Words{"9"}), 1,
               graph() +
                   ": has a feature set 'made' already; give the new one another name with "
                   "--set (and --base made to build on that one), or replace it with "
                   "--replace");
  expect_error(step(hashed + Words{"9", "--set", "imported", "--replace"}), 1,
               "'imported' cannot be the name of a new feature set");
  expect_error(step(hashed + Words{"9", "--base", "maid", "--set", "two"}), 1,
               "there is no feature set 'maid'; the sets are imported, made");
  EXPECT_EQ(graph_bytes(), before);
  EXPECT_TRUE(contains(text(step(hashed + Words{"8"})), "as before"));
  EXPECT_EQ(graph_bytes(), before);
  text(step(hashed + Words{"9", "--replace"}));
  EXPECT_EQ(inspected()["paper"]["width"], 9);
}

TEST_F(FeaturesProgram, InspectExportAndRemoveNameSets) {
  const Words hashed = {"--type", "paper", "--encoder", "hashed", "--width"};
  text(step(hashed + Words{"8", "--set", "narrow"}));
  text(step(hashed + Words{"9", "--set", "wide"}));
  const Json json = Json::parse(text({"inspect", graph(), "--json"}));
  EXPECT_EQ(json.at("feature_set"), "wide");
  Words names;
  for (const Json& set : json.at("feature_sets")) names.push_back(set.at("name"));
  EXPECT_EQ(names, (Words{"imported", "narrow", "wide"}));
  const Json narrow = json.at("feature_sets").at(1).at("types").at("paper");
  EXPECT_EQ(narrow.at("width"), 8);
  EXPECT_EQ(narrow.at("bytes"), 128 + 600 * 8 * 2);
  const std::string table = text({"inspect", graph(), "--verify", "--quiet"});
  EXPECT_TRUE(contains(table, "narrow") && contains(table, "hashed words of names")) << table;
  const std::string out =
      text({"export", graph(), "--out", path("tables"), "--features", "narrow", "--quiet"});
  EXPECT_TRUE(contains(out, "feature set 'narrow'")) << out;
  EXPECT_EQ(fs::file_size(folder_ / "tables" / "features_paper.npy"), 128 + 600 * 8 * 2);
  expect_error({"features", graph(), "--remove", "wide", "--type", "paper"}, 2, "--type");
  expect_error({"features", graph(), "--remove", "wide", "--set", "wide"}, 2, "--set");
  EXPECT_TRUE(contains(text({"features", graph(), "--remove", "wide"}),
                       "removed the feature set 'wide'; what is left: imported, narrow"));
  EXPECT_EQ(inspected()["paper"]["width"], 8);
  expect_error({"features", graph(), "--remove", "wide"}, 1, "there is no feature set 'wide'");
  expect_error({"features", graph(), "--remove", "imported"}, 1, "cannot be removed");
}

TEST_F(FeaturesProgram, ShowsThePlanFirst) {
  const auto before = graph_bytes();
  const Words words = {"features", graph(), "--type", "paper", "--encoder", "hashed"};
  const std::string plan = text(words + Words{"--dry-run"});
  EXPECT_TRUE(contains(plan, "feature set 'made', with all else from 'imported'")) << plan;
  EXPECT_TRUE(contains(plan, "hashed words of names") && contains(plan, "about 0 s in all"))
      << plan;
  EXPECT_EQ(graph_bytes(), before);
  const Outcome made = hgt(words);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(made.out.starts_with(plan)) << made.out;
  EXPECT_TRUE(contains(text(words + Words{"--dry-run"}), "is there already, made in this way"));
  expect_error(words + Words{"--width", "9", "--dry-run"}, 1, "has a feature set 'made' already");
}

TEST_F(FeaturesProgram, TakesTheSplitOfItsTask) {
  const Words split = {"--task", "paper-venue", "--train-end", "2010", "--validation-end", "2012"};
  text(features(split));
  EXPECT_EQ(inspected()["paper"]["until"], 2010);
  text(Words{"train", graph(), "--width", "8", "--audit", "4"} + split);
  expect_error(features({"--set", "two", "--train-end", "2010"}), 1, "name it with --task");
  expect_error(features({"--set", "two", "--task", "paper-venue", "--split", "random",
                         "--train-end", "2010"}),
               1, "train-end");
}

TEST_F(FeaturesProgram, ARunNamesItsSetAndStaysUsableWhenOthersAreAdded) {
  const Words train = {"train", graph(),   "--task", "paper-venue", "--batches",
                       "1",     "--width", "4",      "--run"};
  text(step({"--type", "paper", "--encoder", "hashed", "--width", "8", "--set", "one"}));
  const std::string out = text(train + Words{path("run"), "--quiet"});
  EXPECT_TRUE(contains(out, "feature set 'one'")) << out;
  const Words score = {"evaluate", path("run"), "--quiet"};
  const std::string scores = text(score);
  text(step({"--type", "paper", "--encoder", "hashed", "--width", "9", "--set", "two"}));
  EXPECT_EQ(text(score), scores);
  const Outcome imported = hgt(train + Words{path("other"), "--features", "imported", "--quiet"});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;  // which may warn: it has no features
  EXPECT_TRUE(contains(imported.out, "feature set 'imported'")) << imported.out;
  text(step(
      {"--type", "paper", "--encoder", "hashed", "--width", "7", "--set", "one", "--replace"}));
  expect_error(score, 1, "the feature set 'one' has changed since the run");
}

TEST_F(FeaturesProgram, SaysWhatIsWrong) {
  expect_error({"features", path("none")}, 1, path("none"));
  expect_error(features({"--mean-of", "paper"}), 2, "--type");
  expect_error(step({"--type", "author", "--mean-of", "paper"}), 1,
               "nodes of type paper have no features to take the mean of");
  expect_error(step({"--type", "paper", "--encoder", "gpt"}), 2, "gpt");
  expect_error(step({"--type", "paper", "--encoder", "bert"}), 1, "--bert");
  expect_error(step({"--type", "venue", "--metapath2vec", "VPV", "--task", "paper-venue"}), 1,
               "the task predicts");
  expect_error(features({"--type", "paper"}), 1, "--walks has no effect on features made by");
  expect_error(step({"--vectors", "glove.txt"}), 1, "--vectors has no effect on features made by");
  expect_error(step({"--type", "paper", "--threads", "0"}), 1, "1 to 1024");
  expect_error(step({"--type", "paper", "--types", "venue"}), 2, "--types");
  const Json found = inspected();  // lives as long as the loop, which items() alone does not
  for (const auto& [type, features] : found.items()) EXPECT_TRUE(features.is_null()) << type;
}

TEST_F(FeaturesProgram, GoesOnWhereCtrlCStoppedIt) {
  const Words words = {"features", graph(),   "--quiet", "--type",   "venue", "--metapath2vec",
                       "VPV",      "--walks", "200",     "--length", "40",    "--width",
                       "64"};
  const auto position = [&]() -> std::string {
    for (const std::string& name : names_in(graph())) {
      if (name.ends_with(".position")) return read_bytes(folder_ / "graph" / name);
    }
    return "";
  };
  const Outcome stopped = hgt(words, [&](pid_t program) {
    const auto training = [&] {
      const auto names = names_in(graph());
      return std::any_of(names.begin(), names.end(),
                         [](const std::string& name) { return name.ends_with(".outputs"); });
    };
    for (int i = 0; i < 4000 && !training(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(-program, SIGINT);
  });
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "run the same command again to continue")) << stopped.err;
  EXPECT_NE(position(), "");
  EXPECT_TRUE(inspected()["venue"].is_null());
  text(words);
  const Json venue = inspected()["venue"];
  EXPECT_TRUE(venue["flagged"]) << "some venues are new after 2014";
  EXPECT_EQ(venue["width"], 65);
  EXPECT_EQ(position(), "");
}

}  // namespace
}  // namespace hgt
