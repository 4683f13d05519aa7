// `hgt explain` as a stranger meets it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/hetero_graph.h"
#include "tests/run_program.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

// One graph with a run of two layers for all tests.
class ExplainProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared = new TestFolder;
    const Words generate = {"generate",   "--preset", "small", "--papers", "300",
                            "--features", "8",        "--out", graph()};
    ASSERT_EQ(run_program(shared->path(), generate).exit_code, 0);
    train();
  }
  static void TearDownTestSuite() { delete shared; }

  static void train() {
    const Words words = {"train",     graph(), "--task",  "paper-venue", "--run",     run(),
                         "--hidden",  "8",     "--heads", "2",           "--layers",  "2",
                         "--width",   "6",     "--depth", "2",           "--batches", "3",
                         "--threads", "1",     "--quiet"};
    const Outcome outcome = run_program(shared->path(), words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  static std::string graph() { return (*shared / "graph").string(); }
  static std::string run() { return (*shared / "run").string(); }
  static std::string last_paper() {
    const HeteroGraph opened = HeteroGraph::open(graph());
    const NodeType paper = opened.schema().node_type("paper");
    return opened.id(paper, static_cast<NodeId>(opened.num_nodes(paper) - 1));
  }

  static Words explain(const Words& more) {
    Words words = {"explain", run(), "--quiet", "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string text(const Words& words) {
    const Outcome outcome = run_program(folder_.path(), words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }
  void expect_failure(const Words& words, int exit_code, const std::string& message) {
    const Outcome outcome = run_program(folder_.path(), words);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << message << "\nis not in\n" << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  static inline TestFolder* shared = nullptr;
  TestFolder folder_;
};

double sum_of(const Json& branch) {
  double sum = branch.value("others", 0.0);
  for (const Json& child : branch.at("children")) sum += child.at("attention").get<double>();
  return sum;
}

TEST_F(ExplainProgram, ShowsTheTreeOfATypeAsTextJsonAndSvg) {
  const std::string tree = text(explain({"--batches", "2", "--batch-size", "10"}));
  for (const char* part :
       {", model hgt: where the attention of paper comes from, over 20 test examples\n",
        "\nshares of the attention that reaches the target, layers 2 and 1\n", "\npaper  ",
        "  100.0 %\n", "├─ ", " via ", "the most attended paths", "paper <- "}) {
    EXPECT_TRUE(contains(tree, part)) << part << "\nis not in\n" << tree;
  }
  const std::string svg = (folder_ / "tree.svg").string();
  const Json both = Json::parse(text(explain({"--json", "--top", "3", "--svg", svg})));
  EXPECT_EQ(both.size(), 1U) << "the means were not asked for";
  const Json& json = both.at("shares");
  EXPECT_EQ(json.at("target"), "paper");
  EXPECT_EQ(json.at("layers"), 2);
  EXPECT_EQ(json.at("children").size(), 3U);
  EXPECT_NEAR(sum_of(json), 1, 1e-5);
  const Json& first = json.at("children").at(0);
  EXPECT_NEAR(sum_of(first), first.at("attention").get<double>(), 1e-5);
  EXPECT_TRUE(read_bytes(svg).starts_with("<svg xmlns="));
  EXPECT_TRUE(read_bytes(svg).ends_with("</svg>\n"));
  const Json authors =
      Json::parse(text(explain({"--json", "--type", "author", "--layers", "1"}))).at("shares");
  EXPECT_EQ(authors.at("target"), "author");
  EXPECT_EQ(authors.at("layers"), 1);
  EXPECT_TRUE(authors.at("children").at(0).at("children").empty());
}

TEST_F(ExplainProgram, ShowsTheFormOfThePaperOrBoth) {
  const Words few = {"--batches", "2", "--batch-size", "10"};
  const auto with = [&](const Words& more) {
    Words words = explain(few);
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::string shares = text(with({}));
  const std::string means = text(with({"--form", "means"}));
  for (const char* part :
       {"mean attention of the edges of each relation, layers 2 and 1\n\npaper\n",
        "the paths with the largest products of means", "product  path"}) {
    EXPECT_TRUE(contains(means, part)) << part << "\nis not in\n" << means;
  }
  EXPECT_FALSE(contains(means, "%"));
  const std::string both = text(with({"--form", "both"}));
  EXPECT_EQ(both, shares + "\n" + means.substr(means.find("mean attention of the edges")));
  const Json json = Json::parse(text(with({"--form", "both", "--json", "--top", "3"})));
  EXPECT_EQ(json.size(), 2U);
  EXPECT_EQ(json.at("means").at("form"), "means");
  EXPECT_EQ(Json::parse(text(with({"--form", "means", "--json", "--top", "3"}))),
            (Json{{"means", json.at("means")}}));
  double before = 1;
  for (const Json& child : json.at("means").at("children")) {
    EXPECT_LE(child.at("attention"), before);
    before = child.at("attention");
  }
  EXPECT_LE(json.at("means").at("others"), before);
  text(with({"--form", "both", "--svg", (folder_ / "a.b.svg").string()}));
  EXPECT_TRUE(contains(read_bytes(folder_ / "a.b-shares.svg"), "as wide as shares"));
  EXPECT_TRUE(contains(read_bytes(folder_ / "a.b-means.svg"), "as wide as means"));
  EXPECT_FALSE(fs::exists(folder_ / "a.b.svg"));
  text(with({"--form", "means", "--svg", (folder_ / "m.svg").string()}));
  EXPECT_TRUE(contains(read_bytes(folder_ / "m.svg"), "as wide as means"));
  const Json node =
      Json::parse(text(explain({"--node", "paper:" + last_paper(), "--form", "means", "--json"})));
  EXPECT_EQ(node.at("attention").size(), 1U);
  EXPECT_EQ(node.at("attention").at("means").at("target"), "paper");
}

TEST_F(ExplainProgram, TellsWhatANodeAttendsToAndWhatIsPredictedWithoutIt) {
  const std::string node = "paper:" + last_paper();
  const std::string svg = (folder_ / "node.svg").string();
  const std::string answer = text(explain({"--node", node, "--samples", "2", "--svg", svg}));
  for (const char* part :
       {", mean of 2 sub-graphs\n", "prediction; correct: ", "probability  without these neighbors",
        "the most attended neighbors in the last layer; self gets ", "prediction without it",
        "\npaper  ", "the most attended paths"}) {
    EXPECT_TRUE(contains(answer, part)) << part << "\nis not in\n" << answer;
  }
  EXPECT_TRUE(contains(read_bytes(svg), "Meta relation attention of paper"));
  const Json json = Json::parse(text(explain({"--node", node, "--json", "--top", "2"})));
  EXPECT_EQ(json.at("node").at("id"), last_paper());
  EXPECT_EQ(json.at("prediction").size(), 2U);
  EXPECT_EQ(json.at("neighbors").size(), 2U);
  EXPECT_GE(json.at("neighbors").at(0).at("without").size(), 2U);
  EXPECT_GE(json.at("without_all").size(), 2U);
  EXPECT_NEAR(sum_of(json.at("attention").at("shares")), 1, 1e-5);
  EXPECT_EQ(Json::parse(text(explain({"--node", node, "--json", "--top", "2"}))), json);
  const std::string author = text(explain({"--node", "author:0@2010"}));
  EXPECT_TRUE(contains(author, "no prediction: task paper-venue is about nodes of type paper"));
  EXPECT_TRUE(contains(author, ", 2010, mean of 8 sub-graphs")) << author;
}

TEST_F(ExplainProgram, SaysWhatIsWrong) {
  expect_failure(explain({"--node", "paper:nobody"}), 1,
                 "there is no node of type paper with the id 'nobody'");
  expect_failure(explain({"--layers", "9"}), 1,
                 "--layers 9: the model of " + run() + " has 2 layers");
  expect_failure(explain({"--type", "venue", "--node", "paper:0"}), 2, "--type");
  expect_failure(explain({"--samples", "3"}), 2, "--node");
  expect_failure(explain({"--form", "sums"}), 2, "--form");
  const std::string nowhere = (folder_ / "no" / "tree.svg").string();
  expect_failure(explain({"--svg", nowhere}), 1, nowhere + ": cannot be written");
  fs::copy(run(), folder_ / "untrained", fs::copy_options::recursive);
  fs::remove_all(folder_ / "untrained" / "seed-1");
  expect_failure({"explain", (folder_ / "untrained").string()}, 1, "has no trained weights yet");
}

}  // namespace
}  // namespace hgt
