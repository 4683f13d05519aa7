// The options of a run: the learning rate they make, what they refuse, and their names in files.
#include "hgt/run/run_options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

// --- the learning rate ---

TEST(LearningRate, RisesOverTheWarmUpAndReachesItsHeightAtTheEndOfIt) {
  TrainOptions options;
  options.learning_rate = 0.8;
  options.warmup = 4;
  for (uint64_t step = 0; step < 4; ++step) {
    EXPECT_DOUBLE_EQ(learning_rate(options, step, 100), 0.2 * static_cast<double>(step + 1));
  }
  EXPECT_DOUBLE_EQ(learning_rate(options, 4, 100), 0.8);
}

TEST(LearningRate, FallsAlongHalfACosineToItsEnd) {
  TrainOptions options;
  options.learning_rate = 1;
  options.final_learning_rate = 0.2;
  EXPECT_DOUBLE_EQ(learning_rate(options, 0, 60), 1);
  EXPECT_DOUBLE_EQ(learning_rate(options, 30, 60), 0.6);
  EXPECT_NEAR(learning_rate(options, 20, 60), 0.2 + 0.8 * 0.75, 1e-12);  // cos(pi / 3) = 1 / 2
  EXPECT_DOUBLE_EQ(learning_rate(options, 60, 60), 0.2);
  options.warmup = 10;
  EXPECT_DOUBLE_EQ(learning_rate(options, 35, 60), 0.6);
  for (uint64_t step = 10; step < 60; ++step) {
    EXPECT_GT(learning_rate(options, step, 60), learning_rate(options, step + 1, 60));
  }
}

TEST(LearningRate, IsDefinedWhenTheWarmUpIsLongerThanTheRun) {
  TrainOptions options;
  options.learning_rate = 1;
  options.warmup = 10;
  EXPECT_DOUBLE_EQ(learning_rate(options, 4, 5), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(options, 10, 10), 1);
}

// --- what makes no sense ---

TEST(TrainOptions, AreRefusedWithTheNameTheValueAndTheRemedy) {
  using Change = std::function<void(TrainOptions&)>;
  const double nan = std::nan("");
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](auto& o) { o.batch_size = 0; }, "batch-size is 0; it must be at least 1"},
      {[](auto& o) { o.epochs = 0; }, "epochs is 0; it must be at least 1, or batches"},
      {[](auto& o) { o.learning_rate = 0; }, "learning-rate is 0; it must be greater than 0"},
      {[=](auto& o) { o.learning_rate = nan; }, "learning-rate is nan; it must be greater than 0"},
      {[](auto& o) { o.final_learning_rate = -1; },
       "final-learning-rate is -1; it must be between"},
      {[](auto& o) { o.final_learning_rate = 2; }, "final-learning-rate is 2; it must be between"},
      {[](auto& o) { o.weight_decay = -0.5; }, "weight-decay is -0.5; it must be 0 or more"},
      {[](auto& o) { o.clip = -1; }, "clip is -1; it must be 0 or more"},
      {[](auto& o) { o.average_weights = 1; }, "average-weights is 1; it must be at least 0 and"},
      {[](auto& o) { o.slices = 0; }, "slices is 0; it must be at least 1"},
      {[](auto& o) { o.validation.batch_size = 0; }, "validation-batch-size is 0; it must be"},
      {[](auto& o) { o.validation.samples = 0; }, "validation-samples is 0; it must be"},
      {[](auto& o) { o.model.hidden = 7; }, "hidden"},
      {[](auto& o) { o.model.dropout = 1; }, "dropout"}};
  for (const auto& [change, expected] : cases) {
    TrainOptions options;
    change(options);
    EXPECT_TRUE(contains(error_of([&] { check(options); }), expected))
        << expected << "\nis not in\n"
        << error_of([&] { check(options); });
  }
}

TEST(TrainOptions, AreAcceptedAtTheirLimits) {
  TrainOptions options;
  check(options);
  options.epochs = 0;
  options.batches = 1;
  options.final_learning_rate = options.learning_rate;
  options.clip = 0;
  options.weight_decay = 0;
  EXPECT_EQ(error_of([&] { check(options); }), "");
}

// --- names in files ---

using Values = OptionTable::Values;

// A number within the entry's range, different from those of all other entries.
std::string other_number(const OptionTable::Entry& entry, size_t place) {
  if (entry.range && entry.range->most <= 1) {
    return fmt::format("{}", static_cast<double>(place + 1) / 128);
  }
  const std::string number = std::to_string(place + 40);
  return entry.get() == Values{number} ? std::to_string(place + 140) : number;
}

// Another value than the one it has, different from those of all other numbers.
Values other_value(const OptionTable::Entry& entry, size_t place) {
  if (!entry.words.empty()) {
    return {entry.get().front() == entry.words.back() ? entry.words.front() : entry.words.back()};
  }
  switch (entry.form) {
    case OptionTable::Form::flag:
      return {entry.get().front() == "true" ? "false" : "true"};
    case OptionTable::Form::list:
      return {other_number(entry, place), "7"};
    default:
      return {other_number(entry, place)};
  }
}

std::vector<Values> values_in(const OptionTable& table) {
  std::vector<Values> values;
  for (const OptionTable::Entry& entry : table.entries()) values.push_back(entry.get());
  return values;
}

// Changes every option, writes all to a file, and reads it into options that are fresh.
template <typename Options, typename Table>
void expect_round_trip(const Table& table_of, const std::set<std::string>& single_valued) {
  Options options;
  OptionTable table = table_of(options);
  const std::vector<Values> before = values_in(table);
  std::vector<Values> expected;
  for (const OptionTable::Entry& entry : table.entries()) {
    expected.push_back(other_value(entry, expected.size()));
    table.set(entry.key, expected.back());
  }
  EXPECT_EQ(values_in(table), expected);
  for (size_t i = 0; i < expected.size(); ++i) {
    if (single_valued.contains(table.entries()[i].key)) continue;
    EXPECT_NE(expected[i], before[i]) << table.entries()[i].key;
  }
  const TestFolder folder;
  write_bytes(folder / "options.toml", table.to_toml());
  Options again;
  OptionTable read = table_of(again);
  read.read(folder / "options.toml");
  EXPECT_EQ(values_in(read), expected);
  EXPECT_EQ(read.to_toml(), table.to_toml());
}

TEST(RunOptions, AreTheSameAfterAFileWasWrittenAndRead) {
  expect_round_trip<RunOptions>([](RunOptions& o) { return training_table(o); }, {"model"});
  expect_round_trip<TaskSpec>([](TaskSpec& o) { return task_table(o); }, {});
}

TEST(RunOptions, KeepEveryDigitOfANumber) {
  RunOptions options;
  options.training.learning_rate = 0.1 + 0.2;
  options.training.clip = 1e12 / 7;
  options.training.final_learning_rate = 1e-17 / 3;
  options.training.seed = std::numeric_limits<int64_t>::max();
  const TestFolder folder;
  write_bytes(folder / "options.toml", training_table(options).to_toml());
  RunOptions again;
  training_table(again).read(folder / "options.toml");
  EXPECT_EQ(again.training.learning_rate, options.training.learning_rate);
  EXPECT_EQ(again.training.clip, options.training.clip);
  EXPECT_EQ(again.training.final_learning_rate, options.training.final_learning_rate);
  EXPECT_EQ(again.training.seed, options.training.seed);
}

TEST(RunOptions, HaveNoNameTwice) {
  RunOptions options;
  const OptionTable training = training_table(options);
  const OptionTable task = task_table(options.task);
  std::set<std::string> keys;
  for (const auto* table : {&training, &task}) {
    for (const OptionTable::Entry& entry : table->entries()) {
      EXPECT_TRUE(keys.insert(entry.key).second) << entry.key;
      EXPECT_FALSE(entry.help.empty()) << entry.key;
    }
  }
}

// --- one name: flag, key and field ---

struct Named {
  std::string key;
  std::string field;  // as written, such as training.sampling
  friend bool operator==(const Named&, const Named&) = default;
};

// Every table.add("key", a.b.field, ...) of a source file.
std::vector<Named> named_in(const std::string& file) {
  const std::string source = read_bytes(Path(HGT_SOURCE_DIR) / file);
  static const std::regex pattern(R"re(\badd\(\s*"([a-z0-9-]+)",\s*([a-z_.0-9]+),)re");
  std::vector<Named> found;
  for (std::sregex_iterator match(source.begin(), source.end(), pattern), end; match != end;
       ++match) {
    found.push_back({.key = (*match)[1], .field = (*match)[2]});
  }
  return found;
}

// The key that the rule of run_options.h gives a field.
std::string key_of(const std::string& field) {
  const size_t dot = field.rfind('.');
  const size_t above = field.rfind('.', dot - 1);  // npos + 1 is 0
  const std::string owner = field.substr(above + 1, dot - above - 1);
  std::string key = field.substr(dot + 1);
  if (key == "kind") key = owner;
  if (owner == "validation") key = owner + "-" + key;
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

TEST(OptionNames, AreThoseOfTheFields) {
  size_t checked = 0;
  for (const char* file : {"hgt/run/run_options.cc", "hgt/run/tune_options.cc",
                           "hgt/task/task_spec.cc", "hgt/features/feature_step.cc"}) {
    for (const auto& [key, field] : named_in(file)) {
      ++checked;
      if (key == "type") continue;  // of a recipe: the same as types
      EXPECT_EQ(key, key_of(field)) << file;
    }
  }
  EXPECT_GT(checked, 70U) << "the test looked at almost nothing";
}

TEST(OptionNames, AreTheKeysOfASavedModel) {
  RunOptions options;
  const OptionTable training = training_table(options);
  const OptionTable task = task_table(options.task);
  size_t in_table = 0;
  const auto json = nlohmann::json::parse(to_json(options.training.model));
  for (auto [name, value] : json.items()) {
    std::string key = name;
    std::replace(key.begin(), key.end(), '_', '-');
    EXPECT_TRUE(training.find(key) != nullptr || task.find(key) != nullptr) << key;
    in_table += training.find(key) != nullptr ? 1 : 0;
  }
  // What a model is made of is all saved; what follows is for training.
  const auto of_model =
      std::count_if(training.entries().begin(), training.entries().end(),
                    [](const OptionTable::Entry& entry) { return entry.group == "model"; });
  const size_t of_training = 4;  // node-vectors, label-inputs, scorer, slices
  EXPECT_EQ(in_table + of_training, static_cast<size_t>(of_model));
}

// Setting one option changes nothing else.
TEST(RunOptions, AreSetByTheirOwnNames) {
  RunOptions options;
  OptionTable table = training_table(options);
  const std::vector<std::pair<std::string, std::function<std::string()>>> cases = {
      {"hidden", [&] { return std::to_string(options.training.model.hidden); }},
      {"batch-size", [&] { return std::to_string(options.training.batch_size); }},
      {"validation-batch-size",
       [&] { return std::to_string(options.training.validation.batch_size); }},
      {"epochs", [&] { return std::to_string(options.training.epochs); }},
      {"batches", [&] { return std::to_string(options.training.batches); }},
      {"validate-every", [&] { return std::to_string(options.training.validate_every); }},
      {"patience", [&] { return std::to_string(options.training.patience); }},
      {"warmup", [&] { return std::to_string(options.training.warmup); }},
      {"validation-limit", [&] { return std::to_string(options.training.validation.limit); }},
      {"validation-samples", [&] { return std::to_string(options.training.validation.samples); }},
      {"width", [&] { return std::to_string(options.training.sampling.width); }},
      {"depth", [&] { return std::to_string(options.training.sampling.depth); }},
      {"seed-width", [&] { return std::to_string(options.training.sampling.seed_width); }},
      {"seed-times", [&] { return std::to_string(options.training.seed_times); }},
      {"seed", [&] { return std::to_string(options.training.seed); }},
      {"repeats", [&] { return std::to_string(options.repeats); }},
      {"threads", [&] { return std::to_string(options.training.pipeline.threads); }},
      {"workers", [&] { return std::to_string(options.training.pipeline.workers); }}};
  for (size_t i = 0; i < cases.size(); ++i) table.set(cases[i].first, {std::to_string(90 + i)});
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(cases[i].second(), std::to_string(90 + i)) << cases[i].first;
  }
}

TEST(RunOptions, GiveFileAndLineOfWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"hiden = 3", "unknown key 'hiden'; the known keys are average-weights, batch-size, "},
      {"hidden = 'x'", "hidden: 'x' is not a whole number from 1 to 65536"},
      {"hidden = 3.5", "hidden: '3.5' is not a whole number from 1 to 65536"},
      {"width = -1", "width: '-1' is not a whole number from 0 to 10000000"},
      {"width = 5000000000", "width: '5000000000' is not a whole number from 0 to 10000000"},
      {"heter = 3", "heter: '3' must be true or false"},
      {"batches = [1, 2]", "batches: expected a single value"},
      {"strategy = 'bfs'", "strategy: "},
      {"prior = 'none'", "prior: "},
      {"scorer = 'cosine'", "scorer: unknown scorer 'cosine'; choose one of ntn, dot"},
      {"model = 'gnn'", "model: unknown model 'gnn'; choose one of hgt, gcn, gat"},
      {"fanout = ['x']", "fanout: 'x' is not a whole number from 0 to 10000000"},
      {"train-end = 2014", "unknown key 'train-end'"}};
  const TestFolder folder;
  const Path file = folder / "train.toml";
  for (const auto& [line, expected] : cases) {
    write_bytes(file, "seed = 3\n\n" + line + "\n");
    RunOptions options;
    const std::string error = error_of([&] { training_table(options).read(file); });
    EXPECT_TRUE(error.starts_with(file.string() + ":3: " + expected)) << error;
  }
}

// Whatever a command line, a config file or a saved run says: no number is unbounded.
void expect_bounded(OptionTable table) {
  for (const OptionTable::Entry& entry : table.entries()) {
    const auto before = entry.get();
    const bool number = entry.form == OptionTable::Form::number;
    EXPECT_TRUE(!number || entry.range.has_value()) << entry.key;
    if (!entry.range) continue;
    EXPECT_LT(entry.range->least, entry.range->most) << entry.key;
    for (const char* text : {"-1", "nan", "inf", "1e300", "99999999999999999999999", "x", ""}) {
      const std::string error = error_of([&] { table.set(entry.key, {text}); });
      EXPECT_TRUE(contains(error, entry.key + ": '" + text + "' is not a ")) << error;
      EXPECT_TRUE(contains(error, fmt::format("from {:.15g} to ", entry.range->least))) << error;
    }
    EXPECT_EQ(entry.get(), before) << entry.key;
    if (number) table.set(entry.key, before);  // the default is one of those allowed
  }
}

TEST(RunOptions, AreAllBounded) {
  RunOptions options;
  expect_bounded(training_table(options));
  expect_bounded(task_table(options.task));
}

// --- what is left to the program ---

TEST(RunOptions, MeasureGapsInDaysWhereTheUnitIsFiner) {
  const std::vector<std::pair<TimeUnit, double>> cases = {{TimeUnit::year, 1},
                                                          {TimeUnit::day, 1},
                                                          {TimeUnit::hour, 24},
                                                          {TimeUnit::minute, 1440},
                                                          {TimeUnit::second, 86400}};
  for (const auto& [unit, expected] : cases) {
    Schema schema;
    schema.time_unit = unit;
    RunOptions options;
    options.training.model.time_scale = 0;
    settle(options, schema);
    EXPECT_EQ(options.training.model.time_scale, expected);
    options.training.model.time_scale = 7;
    settle(options, schema);
    EXPECT_EQ(options.training.model.time_scale, 7);
  }
}

TEST(RunOptions, AreSettledOnlyWhenTheyMakeSense) {
  RunOptions options;
  options.repeats = 0;
  EXPECT_EQ(error_of([&] { settle(options, Schema()); }), "repeats is 0; it must be at least 1");
  options.repeats = 1;
  options.training.clip = -1;
  EXPECT_TRUE(contains(error_of([&] { settle(options, Schema()); }), "clip is -1"));
}

}  // namespace
}  // namespace hgt
