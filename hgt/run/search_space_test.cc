// What a search looks through: how spaces are read and refused, and what is drawn from them.
#include "hgt/run/search_space.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

class SearchSpaceTest : public testing::Test {
 protected:
  SearchSpace space_of(const std::string& text) const {
    write_bytes(file_, text);
    return read_space(file_);
  }
  std::string refused(const std::string& text) const {
    return error_of([&] { space_of(text); });
  }
  static Trial drawn(const SearchSpace& space, uint64_t number, const RunOptions& base = {}) {
    return draw_trial(space, base, Schema(), 7, number);
  }
  static std::string value(const Trial& trial, const std::string& key) {
    for (const auto& [own, text] : trial.drawn) {
      if (own == key) return text;
    }
    return "";
  }

  TestFolder folder_;
  Path file_ = folder_ / "space.toml";
};

TEST_F(SearchSpaceTest, IsListsAndRangesByTheNamesOfOptions) {
  const SearchSpace space = space_of(
      "hidden = [64, 128]\n"
      "fanout = [[10, 10], [20], 5]\n"
      "strategy = ['neighbors', \"full\"]\n"
      "norm = [true, false]\n"
      "learning-rate = { low = 1e-4, high = 0.01, log = true }\n"
      "[width]\nlow = 10\nhigh = 20\n");
  ASSERT_EQ(space.dimensions.size(), 6U);
  EXPECT_EQ(space.find("hidden")->choices, (std::vector<OptionTable::Values>{{"64"}, {"128"}}));
  EXPECT_EQ(space.find("fanout")->choices,
            (std::vector<OptionTable::Values>{{"10", "10"}, {"20"}, {"5"}}));
  EXPECT_EQ(
      *space.find("learning-rate"),
      (Dimension{.key = "learning-rate", .low = 1e-4, .high = 0.01, .log = true, .whole = false}));
  EXPECT_EQ(*space.find("width"),
            (Dimension{.key = "width", .low = 10, .high = 20, .log = false, .whole = true}));
  EXPECT_EQ(space.find("layers"), nullptr);
  EXPECT_EQ(space_of(to_toml(space)), space) << to_toml(space);
}

TEST_F(SearchSpaceTest, RefusesWhatNoOptionCanBeWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"hiden = [64]",
       "unknown option 'hiden'; the options that can be searched are average-weights, "},
      {"batches = [10, 20]", "'batches' must be the same for all trials; give --batches"},
      {"seed = { low = 1, high = 9 }", "'seed' must be the same for all trials"},
      {"validation-full = [true]", "'validation-full' must be the same for all trials"},
      {"hidden = 64", "'hidden' must be a list of values, as in [64, 128], or a range"},
      {"hidden = []", "'hidden' has nothing to choose from"},
      {"hidden = [64, 0]", "hidden: '0' is not a whole number from 1 to 65536"},
      {"hidden = [64, 'wide']", "hidden: 'wide' is not a whole number"},
      {"hidden = [[64, 128]]", "hidden: expected a single value"},
      {"dropout = { low = 0.1, high = 1.5 }", "dropout: '1.5' is not a number from 0 to 1"},
      {"dropout = { low = 0.5, high = 0.1 }", "dropout: low is 0.5 and high is 0.1; low must be"},
      {"dropout = { low = 0.1 }", "dropout: a range needs both ends"},
      {"dropout = {}", "dropout: a range needs both ends"},
      {"dropout = { low = 0, high = 1, log = true }", "dropout: low is 0; it must be greater"},
      {"dropout = { low = 0, high = 1, step = 0.1 }", "dropout: a range has no 'step'"},
      {"dropout = { low = 0, high = 1, log = 'yes' }", "dropout: log is 'yes'; it must be true"},
      {"dropout = { low = [0, 1], high = 1 }", "dropout: low must be one value"},
      {"width = { low = 1.5, high = 9 }", "width: '1.5' is not a whole number"},
      {"strategy = ['all']", "strategy: unknown sampling strategy 'all'; choose one of hgsampling"},
      {"norm = ['maybe']", "norm: 'maybe' must be true or false"},
      {"norm = { low = 0, high = 1 }", "norm: it is not a number, so it has no range"},
      {"fanout = { low = 1, high = 9 }", "fanout: it is not a number, so it has no range"},
      {"fanout = [[10, -1]]", "fanout: '-1' is not a whole number"}};
  for (const auto& [line, message] : cases) {
    const std::string error = refused("# a space\n" + line + "\n");
    EXPECT_TRUE(error.starts_with(file_.string() + ":2: " + message)) << line << ": " << error;
  }
  EXPECT_NE(refused("# nothing\n").find("names nothing to search"), std::string::npos);
  EXPECT_NE(refused("hidden = [64\n"), "") << "no TOML";
}

TEST_F(SearchSpaceTest, DrawsAFunctionOfSeedAndNumber) {
  const SearchSpace space = default_space({}, 1000);
  std::set<std::string> seen;
  for (uint64_t number = 0; number < 40; ++number) {
    const Trial trial = drawn(space, number);
    EXPECT_EQ(trial.drawn, drawn(space, number).drawn);
    RunOptions options = trial.options;
    seen.insert(training_table(options).to_toml());
    EXPECT_NE(trial.drawn, draw_trial(space, {}, Schema(), 8, number).drawn) << "another seed";
  }
  EXPECT_EQ(seen.size(), 40U) << "all different";
}

// Whoever takes one option out of a space, compares the same values of the others.
TEST_F(SearchSpaceTest, DrawsOfAnOptionDoNotDependOnTheOthers) {
  const SearchSpace space = default_space({}, 1000);
  for (uint64_t number = 0; number < 20; ++number) {
    const Trial all = drawn(space, number);
    const Trial fewer = drawn(without(space, {"dropout", "layers"}), number);
    EXPECT_EQ(value(fewer, "dropout"), "");
    EXPECT_EQ(fewer.options.training.model.layers, RunOptions{}.training.model.layers);
    for (const auto& [key, text] : fewer.drawn) EXPECT_EQ(text, value(all, key)) << key;
  }
}

TEST_F(SearchSpaceTest, DrawsEveryChoiceAsOftenAndRangesEvenly) {
  const SearchSpace space = space_of(
      "layers = [1, 2, 3, 4]\n"
      "width = { low = 10, high = 19 }\n"
      "dropout = { low = 0.2, high = 0.6 }\n"
      "learning-rate = { low = 1e-4, high = 1e-2, log = true }\n");
  constexpr uint64_t kTrials = 4000;
  std::map<std::string, std::map<std::string, uint64_t>> counts;
  uint64_t low_dropouts = 0;
  uint64_t low_rates = 0;
  for (uint64_t number = 0; number < kTrials; ++number) {
    const Trial trial = drawn(space, number);
    for (const char* key : {"layers", "width"}) ++counts[key][value(trial, key)];
    const TrainOptions& training = trial.options.training;
    EXPECT_EQ(std::to_string(training.model.layers), value(trial, "layers"));
    EXPECT_TRUE(training.model.dropout >= 0.2 && training.model.dropout <= 0.6);
    EXPECT_TRUE(training.learning_rate >= 1e-4 && training.learning_rate <= 1e-2);
    low_dropouts += training.model.dropout < 0.3 ? 1 : 0;
    low_rates += training.learning_rate < 1e-3 ? 1 : 0;
  }
  const auto expect_share = [&](uint64_t count, double share) {
    const double all = kTrials;
    EXPECT_NEAR(static_cast<double>(count), share * all, 4 * std::sqrt(share * (1 - share) * all));
  };
  EXPECT_EQ(counts["layers"].size(), 4U);
  for (const auto& [text, count] : counts["layers"]) expect_share(count, 0.25);
  EXPECT_EQ(counts["width"].size(), 10U) << "both ends included";
  for (const auto& [text, count] : counts["width"]) expect_share(count, 0.1);
  expect_share(low_dropouts, 0.25);
  expect_share(low_rates, 0.5);
}

TEST_F(SearchSpaceTest, DrawsOnlyWhatFitsTogether) {
  const SearchSpace lists = space_of(
      "hidden = [30, 32, 100]\nheads = [3, 4, 7, 10]\n"
      "final-learning-rate = [1e-5, 1e-3]\nlearning-rate = [1e-4, 1e-2]\n");
  const SearchSpace ranges = space_of(
      "hidden = { low = 20, high = 200, log = true }\nheads = { low = 1, high = 12 }\n"
      "final-learning-rate = { low = 1e-5, high = 1e-2, log = true }\n"
      "learning-rate = { low = 1e-4, high = 1e-2, log = true }\n");
  std::set<std::pair<int64_t, int64_t>> pairs;
  std::set<int64_t> heads;
  for (uint64_t number = 0; number < 300; ++number) {
    for (const SearchSpace* space : {&lists, &ranges}) {
      const TrainOptions training = drawn(*space, number).options.training;
      EXPECT_EQ(training.model.hidden % training.model.heads, 0);
      EXPECT_LE(training.final_learning_rate, training.learning_rate);
      if (space == &lists) pairs.insert({training.model.hidden, training.model.heads});
      if (space == &ranges) heads.insert(training.model.heads);
    }
  }
  EXPECT_EQ(pairs, (std::set<std::pair<int64_t, int64_t>>{
                       {30, 3}, {32, 4}, {100, 4}, {30, 10}, {100, 10}}))
      << "all that fit, and no head count without a size";
  EXPECT_EQ(heads.size(), 12U);
  RunOptions hetgnn;
  hetgnn.training.model.kind = ModelKind::hetgnn;
  hetgnn.training.model.heads = 3;
  for (uint64_t number = 0; number < 50; ++number) {
    EXPECT_EQ(
        drawn(space_of("hidden = [9, 12, 15, 18]"), number, hetgnn).options.training.model.hidden %
            6,
        0)
        << "even, too";
  }
  EXPECT_NE(error_of([&] { drawn(space_of("heads = [3, 5]"), 0); }).find("no value of 'heads'"),
            std::string::npos)
      << "the hidden size is 256";
}

TEST_F(SearchSpaceTest, DrawsNothingWithoutEffect) {
  const SearchSpace space = space_of(
      "fanout = [[10, 10]]\nwidth = [64]\ndepth = [3]\nstrategy = ['hgsampling', 'neighbors']\n"
      "model = ['hgt', 'gcn']\nnorm = [true]\nheter = [false]\n");
  std::set<std::pair<std::string, std::string>> seen;
  for (uint64_t number = 0; number < 50; ++number) {
    const Trial trial = drawn(space, number);
    const bool neighbors = value(trial, "strategy") == "neighbors";
    const bool gcn = value(trial, "model") == "gcn";
    EXPECT_EQ(value(trial, "fanout"), neighbors ? "10,10" : "");
    EXPECT_EQ(value(trial, "width"), neighbors ? "" : "64");
    EXPECT_EQ(value(trial, "depth"), neighbors ? "" : "3");
    EXPECT_EQ(value(trial, "norm"), gcn ? "" : "true");
    EXPECT_EQ(trial.options.training.model.heter, gcn) << "gcn has no such variant";
    seen.emplace(value(trial, "strategy"), value(trial, "model"));
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST_F(SearchSpaceTest, RefusesADrawThatMakesNoSense) {
  EXPECT_NE(error_of([&] { drawn(space_of("dropout = [1]"), 3); }).find("trial 3 of the search"),
            std::string::npos);
}

TEST_F(SearchSpaceTest, HasADefaultForEveryModelThatCanBeReadAndDrawn) {
  for (const ModelRow& row : kModels) {
    RunOptions base;
    base.training.model.kind = row.kind;
    const SearchSpace space = default_space(base, 700);
    EXPECT_EQ(space_of(to_toml(space)), space) << row.name;
    for (const char* key : {"learning-rate", "batch-size"}) {
      EXPECT_NE(space.find(key), nullptr) << row.name;
    }
    EXPECT_EQ(space.find("hidden") != nullptr, row.reads_features) << row.name;
    EXPECT_EQ(space.find("width") != nullptr, row.reads_neighbors) << row.name;
    EXPECT_EQ(space.find("norm") != nullptr, row.has_variants) << row.name;
    std::set<std::string> used;
    for (uint64_t number = 0; number < 60; ++number) {
      for (const auto& [key, text] : drawn(space, number, base).drawn) used.insert(key);
    }
    EXPECT_EQ(used.size(), space.dimensions.size()) << row.name << " searches what it does not use";
  }
}

TEST_F(SearchSpaceTest, HasDefaultBatchesThatLeaveStepsToAnEpoch) {
  const auto sizes = [](uint64_t examples) {
    return default_space({}, examples).find("batch-size")->choices.size();
  };
  EXPECT_EQ(sizes(10), 1U);
  EXPECT_EQ(sizes(700), 3U) << "32, 64, 128";
  EXPECT_EQ(sizes(100'000), 4U);
}

}  // namespace
}  // namespace hgt
