// Conditions on labels against a plain loop over all nodes.
#include "hgt/insight/label_conditions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/random_test_graph.h"

namespace hgt {
namespace {

using Conditions = std::vector<LabelCondition>;
using NodeList = std::vector<NodeId>;

// Nodes 0 to 23: color number % 2, size number % 3, node 23 with two sizes and no color.
TestGraph things() {
  Schema schema;
  schema.add_node_type("thing", NodeKind::plain);
  schema.add_node_type("bare", NodeKind::plain);
  schema.number_relations();
  return TestGraph(schema, [](GraphBuilder& builder) {
    const NodeType thing = builder.schema().node_type("thing");
    const uint32_t color = builder.declare_label(thing, "color");
    const uint32_t size = builder.declare_label(thing, "size");
    for (NodeId node = 0; node < 24; ++node) {
      builder.add_node(thing, {.id = std::to_string(node)});
      if (node < 23) builder.add_label(thing, color, node, node % 2 == 0 ? "red" : "blue");
      builder.add_label(thing, size, node, "s" + std::to_string(node % 3));
    }
    builder.add_label(thing, size, 23, "s=0");
    builder.name_class(thing, size, "s0", "small");
    builder.name_class(thing, size, "s1", "large");
    builder.name_class(thing, size, "s2", "large");
  });
}

class LabelConditions : public testing::Test {
 protected:
  NodeType type() const { return graph_.type("thing"); }
  Conditions parsed(const std::vector<std::string>& texts) const {
    Conditions conditions;
    for (const std::string& text : texts) {
      conditions.push_back(parse_condition(*graph_, type(), text));
    }
    return conditions;
  }
  NodeList found(const std::vector<std::string>& texts) const {
    return nodes_where(*graph_, type(), parsed(texts));
  }
  // By number, except that of the last node.
  static NodeList numbers(bool (*wanted)(NodeId)) {
    NodeList nodes;
    for (NodeId node = 0; node < 23; ++node) {
      if (wanted(node)) nodes.push_back(node);
    }
    return nodes;
  }

  const TestGraph graph_ = things();
};

TEST_F(LabelConditions, FindTheNodesOfAClass) {
  EXPECT_EQ(found({}).size(), 24U);
  EXPECT_EQ(found({"color=red"}), numbers([](NodeId node) { return node % 2 == 0; }));
  EXPECT_EQ(found({"size=s0"}), numbers([](NodeId node) { return node % 3 == 0; }));
  EXPECT_EQ(found({"size=s=0"}), NodeList{23}) << "a class may hold '='";
}

TEST_F(LabelConditions, OfDifferentLabelsMustAllHold) {
  EXPECT_EQ(found({"color=blue", "size=s1"}), numbers([](NodeId node) { return node % 6 == 1; }));
  EXPECT_EQ(found({"size=s1", "color=blue"}), found({"color=blue", "size=s1"}));
}

TEST_F(LabelConditions, OfOneLabelAreAlternatives) {
  EXPECT_EQ(found({"size=s0", "size=s1"}), numbers([](NodeId node) { return node % 3 < 2; }));
  EXPECT_EQ(found({"color=red", "color=blue"}).size(), 23U) << "the last node has no color";
}

TEST_F(LabelConditions, FindTheNodesWithoutAnyClass) {
  EXPECT_EQ(found({"color="}), NodeList{23});
  NodeList red = numbers([](NodeId node) { return node % 2 == 0; });
  red.push_back(23);
  EXPECT_EQ(found({"color=", "color=red"}), red);
  EXPECT_EQ(found({"color=", "size=s2"}), NodeList{23}) << "of the first of its sizes";
  EXPECT_EQ(describe(graph_->schema(), type(), parsed({"color=", "color=red"})),
            "color=red or none");
}

TEST_F(LabelConditions, TakeTheNamesThatAreShown) {
  EXPECT_EQ(parsed({"size=small"}), parsed({"size=s0"}));
  NodeList large = numbers([](NodeId node) { return node % 3 != 0; });
  large.push_back(23);
  EXPECT_EQ(found({"size=large"}), large) << "two classes have this name";
}

TEST_F(LabelConditions, AreToldInWords) {
  EXPECT_EQ(describe(graph_->schema(), type(), parsed({"size=s1", "color=red", "size=s0"})),
            "color=red and size=s1 or s0");
  EXPECT_EQ(describe(graph_->schema(), type(), {}), "");
}

TEST_F(LabelConditions, NameWhatThereIsWhereNothingFits) {
  const auto error = [&](const std::vector<std::string>& texts) {
    return error_of([&] { found(texts); });
  };
  EXPECT_EQ(error({"red"}), "'red' is not LABEL=CLASS, such as kind=conference");
  EXPECT_EQ(error({"=red"}), "'=red' is not LABEL=CLASS, such as kind=conference");
  EXPECT_EQ(error({"shape=round"}),
            "nodes of type thing have no label 'shape'; their labels: color, size");
  EXPECT_EQ(error({"color=Red"}),
            "label 'color' of type thing has no class 'Red'; its classes: blue, red");
  EXPECT_EQ(error({"size=s=0", "color=red"}), "no node of type thing has color=red and size=s=0");
  EXPECT_EQ(error_of([&] { parse_condition(*graph_, graph_.type("bare"), "a=b"); }),
            "nodes of type bare have no label 'a'; their labels: none");
}

TEST(LabelConditionsOfManyClasses, ListTheFirstOnes) {
  Schema schema;
  schema.add_node_type("thing", NodeKind::plain);
  schema.number_relations();
  const TestGraph graph(schema, [](GraphBuilder& builder) {
    const NodeType thing = builder.schema().node_type("thing");
    const uint32_t color = builder.declare_label(thing, "color");
    for (NodeId node = 0; node < 50; ++node) {
      builder.add_node(thing, {.id = std::to_string(node)});
      builder.add_label(thing, color, node, std::to_string(100 + node));
    }
  });
  const std::string error =
      error_of([&] { parse_condition(*graph, graph.type("thing"), "color=99"); });
  EXPECT_TRUE(error.ends_with("118, 119 and 30 more")) << error;
}

}  // namespace
}  // namespace hgt
