// Runs that read known labels: what they learn from them, and that they never read their own.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/random_test_graph.h"
#include "hgt/training/run.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

// Houses in streets; all houses of a street have its color, and nothing else tells it.
TestGraph town() {
  Schema schema;
  schema.add_node_type("house", NodeKind::plain);
  schema.add_node_type("street", NodeKind::plain);
  schema.add_relation({.source = "house", .edge = "stands_in", .target = "street"});
  schema.number_relations();
  return TestGraph(schema, [](GraphBuilder& builder) {
    const NodeType house = builder.schema().node_type("house");
    const NodeType street = builder.schema().node_type("street");
    const Relation stands_in = builder.schema().relation("house", "stands_in", "street");
    for (NodeId i = 0; i < 40; ++i) builder.add_node(street, {});
    const uint32_t color = builder.declare_label(house, "color");
    for (NodeId i = 0; i < 400; ++i) {
      builder.add_node(house, {});
      builder.add_edge(stands_in, {.source = i, .target = i % 40});
      builder.add_label(house, color, i, i % 40 % 2 == 0 ? "red" : "blue");
    }
  });
}

class LabelInputs : public testing::Test {
 protected:
  RunOptions options(bool label_inputs) const {
    RunOptions options{.graph = graph_->folder().string()};
    options.task = find_task("house:color", graph_->schema());
    options.task.split = SplitRule::random;
    options.training = quick_options();
    options.training.sampling = {.strategy = Strategy::full, .depth = 2};
    options.training.batches = 60;
    options.training.node_vectors = 0;
    options.training.label_inputs = label_inputs;
    return options;
  }
  double accuracy(Split split, bool label_inputs, ModelKind kind = ModelKind::hgt) {
    RunOptions own = options(label_inputs);
    own.training.model.kind = kind;
    hgt::Run run = hgt::Run::create(folder_ / std::to_string(runs_++), own);
    run.train();
    const RunResult result = run.evaluate(split, run.scoring());
    return result.metric("accuracy")->mean;
  }

  TestGraph graph_ = town();
  TestFolder folder_;
  int runs_ = 0;
};

TEST_F(LabelInputs, TellWhatTheNeighborsAre) {
  EXPECT_LT(accuracy(Split::test, false), 0.7) << "nothing tells the color";
  for (const ModelKind kind : {ModelKind::hgt, ModelKind::gcn, ModelKind::han}) {
    EXPECT_GT(accuracy(Split::test, true, kind), 0.95) << to_string(kind);
  }
}

// An MLP reads nothing but a node itself: its own label would give it away.
TEST_F(LabelInputs, AreNotReadByTheirOwners) {
  EXPECT_LT(accuracy(Split::train, true, ModelKind::mlp), 0.7);
}

TEST_F(LabelInputs, AreHiddenFromPredictionsAsFromScores) {
  hgt::Run run = hgt::Run::create(folder_ / "run", options(true));
  run.train();
  run.evaluate(Split::train, run.scoring());
  run.predict({.top = 1}, folder_ / "all.tsv");
  run.predict({.split = Split::train, .top = 1}, folder_ / "train.tsv");
  const std::string all = read_bytes(folder_ / "all.tsv");
  std::istringstream lines(read_bytes(folder_ / "train.tsv"));
  std::string line;
  uint64_t found = 0;
  while (std::getline(lines, line)) {
    EXPECT_NE(all.find(line + "\n"), std::string::npos) << line;
    ++found;
  }
  EXPECT_GT(found, 200U);
  run.embed(run.task().node_type(), {}, folder_ / "vectors");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "vectors" / "vectors.npy"));
}

TEST_F(LabelInputs, AreThereWhenARunIsOpenedAgain) {
  {
    hgt::Run run = hgt::Run::create(folder_ / "run", options(true));
    run.train_until(20);
  }
  hgt::Run again = hgt::Run::open(folder_ / "run");
  EXPECT_EQ(again.task().graph().known_labels()->classes, 2U);
  again.train();
  hgt::Run whole = hgt::Run::create(folder_ / "whole", options(true));
  whole.train();
  expect_same(training_result(again.files().seed(1).path()),
              training_result(whole.files().seed(1).path()), "resumed");
}

}  // namespace
}  // namespace hgt
