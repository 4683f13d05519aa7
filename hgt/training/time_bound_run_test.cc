// A run keeps its time bound, whichever way it is asked: on a graph where only the future knows the
// labels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hgt/graph/graph_builder.h"
#include "hgt/random.h"
#include "hgt/tables/npy_matrix.h"
#include "hgt/training/run.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

constexpr NodeId kVisits = 900;

// Visits with random outcomes, each followed a year later by a letter that tells the outcome. The
// given split is drawn, too. Doctors see many visits.
const Path& visits_graph() {
  static const TestFolder folder;
  static const Path path = [] {
    Schema schema;
    const NodeType visit = schema.add_node_type("visit", NodeKind::event);
    const NodeType letter = schema.add_node_type("letter", NodeKind::event);
    const NodeType doctor = schema.add_node_type("doctor", NodeKind::plain);
    schema.add_relation({.source = "letter", .edge = "about", .target = "visit"});
    schema.add_relation({.source = "doctor", .edge = "sees", .target = "visit"});
    schema.number_relations();
    GraphBuilder builder(folder / "graph", schema);
    for (const NodeType type : {visit, letter}) {
      builder.declare_features(type, {.width = 2, .origin = "made up", .until = {}});
    }
    const uint32_t drawn = builder.declare_label(visit, "outcome");
    const uint32_t given = builder.declare_label(visit, "result");  // the same, with a split
    Draws draws(hash(19));
    for (NodeId i = 0; i < 10; ++i) builder.add_node(doctor, {.id = fmt::format("D{}", i)});
    for (NodeId i = 0; i < kVisits; ++i) {
      const Time year = 2008 + static_cast<Time>(draws.below(11));
      const bool good = draws.below(2) == 0;
      const std::string outcome = good ? "good" : "bad";
      builder.add_node(visit, {.id = fmt::format("V{}", i), .time = year});
      builder.add_node(letter, {.id = fmt::format("L{}", i), .time = year + 1});
      const auto noise = static_cast<float>(draws.unit());
      builder.set_features(visit, i, std::vector<float>{1, noise});
      builder.set_features(letter, i, std::vector<float>{good ? 1.0F : -1.0F, noise});
      builder.add_edge(schema.relation("letter", "about", "visit"), {.source = i, .target = i});
      builder.add_edge(schema.relation("doctor", "sees", "visit"),
                       {.source = static_cast<NodeId>(draws.below(10)), .target = i});
      for (const uint32_t label : {drawn, given}) builder.add_label(visit, label, i, outcome);
      if (draws.below(10) != 0) builder.set_split(visit, given, i, Split(1 + draws.below(3)));
    }
    builder.finish();
    return folder / "graph";
  }();
  return path;
}

using Lines = std::map<std::string, std::vector<std::string>>;

// The answers of each node, in the order of the table.
Lines lines_by_node(const Path& file) {
  Lines lines;
  std::istringstream in(read_bytes(file));
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const size_t tab = line.find('\t');
    lines[line.substr(0, tab)].push_back(line.substr(tab + 1));
  }
  return lines;
}

struct Case {
  const char* name;
  const char* task = "visit:outcome";
  SplitRule split = SplitRule::random;
  TimeBound asked = TimeBound::automatic;
  const char* model = "hgt";
};

class TimeBoundOfRuns : public testing::TestWithParam<Case> {
 protected:
  hgt::Run trained(TimeBound bound) {
    const Path graph = visits_graph();
    RunOptions options{.graph = graph.string(),
                       .task = find_task(GetParam().task, HeteroGraph::open(graph).schema()),
                       .training = quick_options()};
    options.task.split = GetParam().split;
    options.training.model.kind = from_word<ModelKind>(GetParam().model);
    options.training.sampling.strategy = Strategy::neighbors;
    options.training.sampling.fanout = {4, 4};
    options.training.sampling.time_bound = bound;
    options.training.batch_size = 64;
    options.training.batches = 120;
    options.training.validate_every = 30;
    options.training.validation.batch_size = 50;
    hgt::Run run = hgt::Run::create(folder_ / fmt::format("{}.run", to_string(bound)), options);
    run.train();
    return run;
  }
  static double accuracy(hgt::Run& run, Split split = Split::test) {
    for (const auto& [name, value] : run.evaluate(split, run.scoring()).metrics) {
      if (name == "accuracy") return value.mean;
    }
    ADD_FAILURE() << "no accuracy";
    return 0;
  }
  Lines predicted(hgt::Run& run, const PredictOptions& options) {
    const Path out = folder_ / "answers.tsv";
    count_ = run.predict(options, out);
    return lines_by_node(out);
  }
  // Of a split's examples, by what is predicted.
  static double accuracy_of(const hgt::Run& run, Split split, const Lines& answers) {
    uint64_t right = 0;
    const Task& task = run.task();
    for (uint32_t i = 0; i < task.num_examples(split); ++i) {
      const Question question = task.question(split, std::span(&i, 1), Task::kNoDraw);
      const std::string best = "1\t" + task.class_id(question.answers[0]) + "\t";
      if (answers.at(task.describe_example(split, i))[0].starts_with(best)) ++right;
    }
    return static_cast<double>(right) / static_cast<double>(task.num_examples(split));
  }

  // How far apart the mean vectors of good and of bad visits lie, next to their length.
  double gap_between_classes(hgt::Run& run) {
    const Task& task = run.task();
    const Path out = folder_ / fmt::format("vectors{}", count_++);
    EXPECT_EQ(run.embed(task.node_type(), {}, out), kVisits);
    NpyMatrix vectors(out / "vectors.npy");
    std::vector<float> row(vectors.width());
    std::vector<double> difference(vectors.width());
    double length = 0;
    for (NodeId node = 0; node < kVisits; ++node) {
      const Seed seed{.type = task.node_type(), .node = node};
      const uint32_t number = task.question_about(std::span(&seed, 1)).answers[0];
      vectors.read_row(node, row);
      for (size_t i = 0; i < row.size(); ++i) {
        difference[i] += number == 0 ? row[i] : -row[i];
        length += std::abs(row[i]);
      }
    }
    double gap = 0;
    for (const double each : difference) gap += std::abs(each);
    return gap / length;
  }

  TestFolder folder_;
  uint64_t count_ = 0;
};

// Chance is one half; the future knows everything.
TEST_P(TimeBoundOfRuns, KeepsWhatComesLaterFromGivingTheLabelAway) {
  hgt::Run careful = trained(TimeBound::automatic);
  EXPECT_LT(accuracy(careful), 0.62);
  EXPECT_LT(accuracy_of(careful, Split::test, predicted(careful, {})), 0.62) << "predict --all";
  hgt::Run careless = trained(TimeBound::none);
  EXPECT_GT(accuracy(careless), 0.9) << "or the graph would not show a leak";
  EXPECT_GT(accuracy_of(careless, Split::test, predicted(careless, {})), 0.9);
}

TEST_P(TimeBoundOfRuns, GivesTheScoresOfEvaluationToWhoeverAsks) {
  hgt::Run run = trained(TimeBound::automatic);
  const Lines all = predicted(run, {.top = 2});
  EXPECT_EQ(count_, kVisits);
  EXPECT_EQ(all.size(), kVisits) << "also those that are in no split";
  for (const Split split : kSplits) {
    const Lines answers = predicted(run, {.split = split, .top = 2});
    EXPECT_EQ(count_, run.task().num_examples(split));
    EXPECT_EQ(answers.size(), run.task().num_examples(split));
    for (const auto& [node, lines] : answers) EXPECT_EQ(all.at(node), lines) << node;
    const RunResult measured = run.evaluate(split, run.scoring());
    EXPECT_DOUBLE_EQ(accuracy_of(run, split, answers), accuracy(run, split));
    double loss = 0;
    for (const auto& [node, lines] : answers) {
      const Task& task = run.task();
      const NodeId number = task.graph().find(task.node_type(), node).value();
      const Seed seed{.type = task.node_type(), .node = number};
      const std::string truth = task.class_id(task.question_about(std::span(&seed, 1)).answers[0]);
      for (const std::string& line : lines) {
        const bool right = line.substr(2, line.find('\t', 2) - 2) == truth;
        if (right) loss -= std::log(std::stod(line.substr(line.rfind('\t'))));
      }
    }
    EXPECT_NEAR(loss / static_cast<double>(answers.size()), measured.seeds[0].loss, 1e-4);
  }
  // The same nodes by name.
  std::vector<Seed> seeds;
  for (uint32_t i = 0; i < run.task().num_examples(Split::test); ++i) {
    const Question question = run.task().question(Split::test, std::span(&i, 1), Task::kNoDraw);
    seeds.push_back(question.request.seeds[0]);
  }
  EXPECT_EQ(predicted(run, {.nodes = seeds, .top = 2}),
            predicted(run, {.split = Split::test, .top = 2}));
}

TEST_P(TimeBoundOfRuns, KeepsVectorsFromKnowingWhatComesLater) {
  hgt::Run careful = trained(TimeBound::automatic);
  hgt::Run careless = trained(TimeBound::none);
  EXPECT_LT(4 * gap_between_classes(careful), gap_between_classes(careless));
}

INSTANTIATE_TEST_SUITE_P(
    Everywhere, TimeBoundOfRuns,
    testing::Values(Case{.name = "AtRandom"},
                    Case{.name = "Given", .task = "visit:result", .split = SplitRule::given},
                    Case{.name = "ByTime", .split = SplitRule::time},
                    Case{.name = "Gcn", .model = "gcn"}),
    [](const auto& one) { return std::string(one.param.name); });

class RefusedBounds : public testing::Test {
 protected:
  hgt::Run trained() {
    const Path graph = visits_graph();
    RunOptions options{.graph = graph.string(),
                       .task = find_task("visit:result", HeteroGraph::open(graph).schema()),
                       .training = quick_options()};
    options.training.batches = 1;
    hgt::Run run = hgt::Run::create(folder_ / "run", options);
    run.train();
    return run;
  }
  TestFolder folder_;
};

TEST_F(RefusedBounds, AreThoseThatBoundNothing) {
  const Path graph = visits_graph();
  RunOptions options{.graph = graph.string(),
                     .task = find_task("visit:result", HeteroGraph::open(graph).schema()),
                     .training = quick_options()};
  options.training.sampling.time_bound = TimeBound::split;
  const std::string error = error_of([&] { hgt::Run::create(folder_ / "run", options); });
  EXPECT_TRUE(contains(error, "the split of task visit:result is given")) << error;
  EXPECT_TRUE(contains(error, "--time-bound seed")) << error;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

TEST_F(RefusedBounds, AreTimesForAllWhereEachNodeHasItsOwn) {
  hgt::Run run = trained();
  const NodeType visit = run.task().node_type();
  const Path out = folder_ / "out";
  for (const InferenceOptions& inference :
       {InferenceOptions{.at = 2012}, InferenceOptions{.instances = Instances::single}}) {
    const std::string all = error_of([&] { run.predict({.inference = inference}, out); });
    EXPECT_TRUE(contains(all, "the time bound of this run is seed")) << all;
    const std::string some =
        error_of([&] { run.predict({.split = Split::test, .inference = inference}, out); });
    EXPECT_TRUE(contains(some, "nodes that are named and examples")) << some;
  }
  const std::string single =
      error_of([&] { run.embed(visit, {.inference = {.instances = Instances::single}}, out); });
  EXPECT_TRUE(contains(single, "the time bound of this run is seed")) << single;
  const NodeType doctor = run.task().graph().schema().node_type("doctor");
  EXPECT_EQ(run.embed(doctor, {.inference = {.at = 2012, .instances = Instances::single}}, out),
            10U)
      << "they have no times of their own";
  EXPECT_TRUE(contains(
      error_of([&] { run.predict({.nodes = {{.type = visit}}, .split = Split::test}, out); }),
      "not both"));
}

}  // namespace
}  // namespace hgt
