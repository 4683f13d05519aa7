// Which models are compared, and the table, JSON and picture of what came of it.
#include "hgt/training/comparison.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/training/run.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

using Names = std::vector<std::string>;

template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ChosenModels, AreAllOrThoseNamedInTheOrderOfTheTable) {
  EXPECT_EQ(chosen_models({"all"}), compared_models());
  EXPECT_EQ(chosen_models({"hgt", "gcn", "mlp", "gcn"}), (Names{"mlp", "gcn", "hgt"}));
  EXPECT_EQ(compared_models().back(), "hgt");
  const std::string error = refusal([] { chosen_models({"hgt", "gnn"}); });
  EXPECT_TRUE(contains(error, "unknown model 'gnn'; choose one of all, majority, mlp, gcn"))
      << error;
}

TEST(ChosenModels, HaveEveryKindOfModelAndTheFourVariantsOfHgt) {
  const Names all = compared_models();
  for (const std::string& name : all_words<ModelKind>()) {
    EXPECT_NE(std::find(all.begin(), all.end(), name), all.end()) << name;
  }
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const std::string& name) { return name.starts_with("hgt"); }),
            4);
}

// Numbers that are easy to recognize.
ComparisonTable example_table() {
  ComparisonTable table{.task = "paper-venue", .examples = 77, .seeds = 2};
  table.rows.push_back({.model = "gcn",
                        .parameters = 1'500'000,
                        .seconds_per_batch = {.mean = 0.012, .deviation = 0.001},
                        .peak_megabytes = 321,
                        .metrics = {{"ndcg", {0.25, 0.01}}, {"mrr", {0.5, 0.02}}},
                        .against_hgt = PairedTest{.difference = -0.25, .p_value = 0.0004}});
  table.rows.push_back({.model = "hgt",
                        .parameters = 2'000'000,
                        .seconds_per_batch = {.mean = 0.02, .deviation = 0},
                        .peak_megabytes = 400,
                        .metrics = {{"ndcg", {0.5, 0.03}}, {"mrr", {0.4, 0.02}}}});
  return table;
}

TEST(ComparisonTable, PutsTheBestOfEachMetricInBold) {
  const std::string text = to_markdown(example_table());
  EXPECT_TRUE(contains(text, "paper-venue: 77 test examples, 2 seeds")) << text;
  EXPECT_TRUE(contains(text,
                       "| gcn | 1.50 M | 12 ms | 321 MB | 0.250 ± 0.010 | **0.500 ± 0.020** | "
                       "-0.250 (p < 0.001) |"))
      << text;
  EXPECT_TRUE(
      contains(text, "| hgt | 2.00 M | 20 ms | 400 MB | **0.500 ± 0.030** | 0.400 ± 0.020 |  |"))
      << text;
}

TEST(ComparisonTable, IsJsonForPrograms) {
  const auto json = nlohmann::json::parse(to_json(example_table()));
  EXPECT_EQ(json.at("models").size(), 2U);
  const auto& gcn = json.at("models").at(0);
  EXPECT_EQ(gcn.at("model"), "gcn");
  EXPECT_EQ(gcn.at("parameters"), 1'500'000);
  EXPECT_EQ(gcn.at("metrics").at("ndcg").at("mean"), 0.25);
  EXPECT_EQ(gcn.at("ndcg_against_hgt").at("p_value"), 0.0004);
  EXPECT_FALSE(json.at("models").at(1).contains("ndcg_against_hgt"));
}

TEST(ComparisonTable, IsAPictureWithABarForEachModel) {
  const std::string svg = to_svg(example_table());
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_TRUE(contains(svg, ">gcn</text>") && contains(svg, ">hgt</text>"));
  // Twice the NDCG, twice the bar.
  EXPECT_TRUE(contains(svg, "width=\"105.0\"") && contains(svg, "width=\"210.0\"")) << svg;
}

class Comparison : public testing::Test {
 protected:
  RunOptions options() const {
    const HeteroGraph graph = HeteroGraph::open(training_graph());
    RunOptions made{.graph = training_graph().string(),
                    .task = find_task("paper-venue", graph.schema()),
                    .training = quick_options(),
                    .repeats = 2};
    made.training.batches = 2;
    return made;
  }
  void finish(const std::string& model) const {
    hgt::Run run = hgt::Run::open(folder_ / "all" / model);
    run.train();
    run.evaluate(Split::test, {});
  }

  TestFolder folder_;
};

TEST_F(Comparison, MakesRunsThatDifferInTheModelOnly) {
  create_comparison(ComparisonFolder(folder_ / "all"), with_options(compared_models(), options()));
  EXPECT_EQ(read_compared_models(ComparisonFolder(folder_ / "all")), compared_models());
  for (const std::string& model : compared_models()) {
    RunOptions own = hgt::Run::open(folder_ / "all" / model).options();
    const ModelOptions& made = own.training.model;
    const bool hgt = model.starts_with("hgt");
    EXPECT_EQ(to_string(made.kind), hgt ? "hgt" : model);
    EXPECT_EQ(made.heter, !contains(model, "no-heter"));
    EXPECT_EQ(made.rte, !contains(model, "no-rte"));
    own.training.model.kind = ModelKind::hgt;
    own.training.model.heter = own.training.model.rte = true;
    RunOptions expected = options();
    expected.features = "imported";  // the newest of the graph
    EXPECT_EQ(training_table(own).to_toml(), training_table(expected).to_toml()) << model;
  }
}

TEST_F(Comparison, ReadsWhatTheRunsLeft) {
  create_comparison(ComparisonFolder(folder_ / "all"), with_options({"gcn", "hgt"}, options()));
  finish("gcn");
  EXPECT_TRUE(
      contains(refusal([&] { read_comparison(ComparisonFolder(folder_ / "all")); }), "train it:"));
  finish("hgt");
  const ComparisonTable table = read_comparison(ComparisonFolder(folder_ / "all"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.task, "paper-venue");
  EXPECT_EQ(table.seeds, 2U);
  EXPECT_GT(table.examples, 10U);
  for (const ComparisonRow& row : table.rows) {
    EXPECT_EQ(row.parameters, hgt::Run::open(folder_ / "all" / row.model).num_parameters());
    EXPECT_GT(row.seconds_per_batch.mean, 0);
    EXPECT_GT(row.peak_megabytes, 10);
    EXPECT_EQ(row.metrics.front().first, "ndcg");
  }
  // Means over the same examples: their difference is that of the means.
  ASSERT_TRUE(table.rows[0].against_hgt.has_value());
  EXPECT_NEAR(table.rows[0].against_hgt->difference,
              table.rows[0].metrics[0].second.mean - table.rows[1].metrics[0].second.mean, 1e-5);
  EXPECT_FALSE(table.rows[1].against_hgt.has_value());
}

TEST_F(Comparison, IsNotOverwrittenAndNotInvented) {
  create_comparison(ComparisonFolder(folder_ / "all"), with_options({"gcn"}, options()));
  EXPECT_TRUE(contains(refusal([&] {
                         create_comparison(ComparisonFolder(folder_ / "all"),
                                           with_options({"gat"}, options()));
                       }),
                       "--resume"));
  EXPECT_TRUE(contains(refusal([&] { read_compared_models(ComparisonFolder(folder_ / "other")); }),
                       "hgt compare GRAPH"));
  write_bytes(folder_ / "all" / "gcn" / "training.json", "{\"parameters\": 3}");
  EXPECT_TRUE(
      contains(refusal([&] { read_comparison(ComparisonFolder(folder_ / "all")); }), "damaged"));
}

// Stopped between two of the runs that it makes, it can be made again.
TEST_F(Comparison, ThatWasHalfMadeIsCompleted) {
  create_comparison(ComparisonFolder(folder_ / "all"), with_options({"gcn", "gat"}, options()));
  std::filesystem::remove(folder_ / "all" / "comparison.json");
  std::filesystem::remove_all(folder_ / "all" / "gat");
  create_comparison(ComparisonFolder(folder_ / "all"), with_options({"gcn", "gat"}, options()));
  EXPECT_EQ(read_compared_models(ComparisonFolder(folder_ / "all")), (Names{"gcn", "gat"}));
  EXPECT_EQ(hgt::Run::open(folder_ / "all" / "gat").options().training.model.kind, ModelKind::gat);
}

// Stopped then, it is not completed with a budget of another kind.
TEST_F(Comparison, ThatWasHalfMadeKeepsItsOptions) {
  create_comparison(ComparisonFolder(folder_ / "all"), with_options({"gcn", "gat"}, options()));
  std::filesystem::remove(folder_ / "all" / "comparison.json");
  RunOptions others = options();
  others.training.batches = 3;
  const std::string error = refusal([&] {
    create_comparison(ComparisonFolder(folder_ / "all"), with_options({"gcn", "gat"}, others));
  });
  EXPECT_TRUE(contains(error, "gcn: there is already a run with other options")) << error;
  others = options();
  others.task.train_end = "2012";
  EXPECT_NE(
      refusal([&] {
        create_comparison(ComparisonFolder(folder_ / "all"), with_options({"gcn", "gat"}, others));
      }),
      "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "all" / "comparison.json"));
}

}  // namespace
}  // namespace hgt
