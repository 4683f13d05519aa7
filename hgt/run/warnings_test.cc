// Every kind of warning where it is due, and none where it is not.
#include "hgt/run/warnings.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "hgt/sampling/random_test_graph.h"

namespace hgt {
namespace {

using Kinds = std::vector<WarningKind>;

// 300 orders by 20 customers; their labels: `late` has two classes, `paid` one, `amount` one per
// order.
TestGraph shop() {
  Schema schema;
  schema.add_node_type("order", NodeKind::event);
  schema.add_node_type("customer", NodeKind::plain);
  schema.add_relation({.source = "customer", .edge = "buys", .target = "order"});
  schema.number_relations();
  return TestGraph(schema, [](GraphBuilder& builder) {
    const NodeType order = builder.schema().node_type("order");
    const NodeType customer = builder.schema().node_type("customer");
    const Relation buys = builder.schema().relation("customer", "buys", "order");
    for (NodeId i = 0; i < 20; ++i) builder.add_node(customer, {});
    const uint32_t late = builder.declare_label(order, "late");
    const uint32_t paid = builder.declare_label(order, "paid");
    const uint32_t amount = builder.declare_label(order, "amount");
    for (NodeId i = 0; i < 300; ++i) {
      builder.add_node(order, {.time = 2000 + static_cast<Time>(i / 20)});
      builder.add_edge(buys, {.source = i % 20, .target = i});
      builder.add_label(order, late, i, i % 3 == 0 ? "yes" : "no");
      builder.add_label(order, paid, i, "yes");
      builder.add_label(order, amount, i, std::to_string(100 + i));
    }
  });
}

class Warnings : public testing::Test {
 protected:
  static void SetUpTestSuite() { graph_ = new TestGraph(shop()); }
  static void TearDownTestSuite() { delete graph_; }

  static TaskSpec spec(const std::string& name) {
    TaskSpec spec = find_task(name, (*graph_)->schema());
    spec.split = SplitRule::random;
    spec.validation_share = spec.test_share = 0.3;
    return spec;
  }
  // Orders share a vector, so nothing is learned by heart.
  static TrainOptions options() {
    TrainOptions options;
    options.node_vectors = 0;
    return options;
  }
  static std::vector<Warning> warnings(const TaskSpec& spec, const TrainOptions& options,
                                       const std::optional<ScoredSplit>& scored = {}) {
    return find_warnings(*open_task(**graph_, spec), options, scored);
  }
  static Kinds kinds(const TaskSpec& spec, const TrainOptions& options = Warnings::options(),
                     const std::optional<ScoredSplit>& scored = {}) {
    Kinds found;
    for (const Warning& warning : warnings(spec, options, scored)) {
      EXPECT_EQ(warning.text.find('\n'), std::string::npos);
      EXPECT_GT(warning.text.size(), 20U);
      found.push_back(warning.kind);
    }
    return found;
  }

  static inline const TestGraph* graph_ = nullptr;
};

TEST_F(Warnings, AreNoneWhereNothingIsWrong) {
  EXPECT_EQ(kinds(spec("order:late")), Kinds{});
  EXPECT_EQ(kinds(spec("order:late"), options(), ScoredSplit{.split = Split::test, .examples = 90}),
            Kinds{});
  EXPECT_EQ(kinds(spec("link:buys")), Kinds{});
}

TEST_F(Warnings, SayThatThereIsOneClassOnly) {
  EXPECT_EQ(kinds(spec("order:paid")), (Kinds{WarningKind::one_class, WarningKind::one_class}))
      << "of training and of validation";
  const auto found =
      warnings(spec("order:paid"), options(), ScoredSplit{.split = Split::test, .examples = 90});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].text.starts_with("all ")) << found[0].text;
  EXPECT_NE(found[0].text.find("train examples have the class 'yes'"), std::string::npos);
  EXPECT_NE(found[1].text.find("test examples have the class 'yes'"), std::string::npos);
}

TEST_F(Warnings, SayThatALabelMayBeANumber) {
  EXPECT_EQ(kinds(spec("order:amount")), Kinds{WarningKind::class_per_example});
  EXPECT_NE(warnings(spec("order:amount"), options())[0].text.find(
                "the label 'amount' has 300 classes for 300 examples; is it a number"),
            std::string::npos);
}

TEST_F(Warnings, SayThatNothingIsSeenOfTheExamples) {
  TaskSpec task = spec("order:late");
  task.leave_out = {"buys"};
  EXPECT_EQ(kinds(task), Kinds{WarningKind::no_edges});
  TaskSpec hidden = spec("order:late");
  hidden.also_hide = {"buys"};
  EXPECT_EQ(kinds(hidden), Kinds{WarningKind::no_edges});
  hidden.guard = false;
  EXPECT_EQ(kinds(hidden), Kinds{}) << "without the guard nothing is hidden";
  TrainOptions own = options();
  own.model.kind = ModelKind::mlp;
  EXPECT_EQ(kinds(task, own), Kinds{}) << "this model reads no neighbors anyway";
  EXPECT_EQ(kinds(spec("order-customer")), Kinds{WarningKind::no_edges})
      << "the predicted edges are the only ones";
}

TEST_F(Warnings, SayThatThereAreFewExamples) {
  TaskSpec task = spec("order:late");
  task.validation_share = 0.1;
  EXPECT_EQ(kinds(task), Kinds{WarningKind::few_examples});
  TrainOptions limited = options();
  limited.validation.limit = 49;
  EXPECT_EQ(kinds(spec("order:late"), limited), Kinds{WarningKind::few_examples});
  limited.validation.limit = 50;
  EXPECT_EQ(kinds(spec("order:late"), limited), Kinds{});
  EXPECT_EQ(kinds(task, options(), ScoredSplit{.split = Split::test, .examples = 50}), Kinds{});
  EXPECT_EQ(kinds(task, options(), ScoredSplit{.split = Split::test, .examples = 49}),
            Kinds{WarningKind::few_examples});
}

TEST_F(Warnings, SayThatExamplesAreLearnedByHeart) {
  TrainOptions own = options();
  own.node_vectors = 300;
  EXPECT_EQ(kinds(spec("order:late"), own), Kinds{WarningKind::own_vectors});
  own.node_vectors = 299;
  EXPECT_EQ(kinds(spec("order:late"), own), Kinds{WarningKind::one_vector})
      << "there are more orders than that";
  EXPECT_NE(warnings(spec("order:late"), own)[0].text.find("300 nodes of type order"),
            std::string::npos);
  own.node_vectors = 300;
  EXPECT_EQ(kinds(spec("link:buys"), own), Kinds{}) << "nodes of links are in all splits";
  own.model.kind = ModelKind::majority;
  EXPECT_EQ(kinds(spec("order:late"), own), Kinds{});
}

TEST_F(Warnings, SayThatAllScoresAreTheSame) {
  const ScoredSplit scored{.split = Split::test, .examples = 90, .equal_scores = true};
  EXPECT_EQ(kinds(spec("order:late"), options(), scored), Kinds{WarningKind::equal_scores});
  TrainOptions own = options();
  own.model.kind = ModelKind::majority;
  EXPECT_EQ(kinds(spec("order:late"), own, scored), Kinds{}) << "it cannot do otherwise";
}

}  // namespace
}  // namespace hgt
