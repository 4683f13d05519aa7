// Labels as inputs: those of training examples and nobody else's, and never of what is asked about.
#include "hgt/task/known_labels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/visible_features.h"
#include "hgt/task/class_task.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

class KnownLabelsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { known_library = new TestGraph(library()); }
  static void TearDownTestSuite() { delete known_library; }

  static std::vector<float> row(const HeteroGraph& graph, NodeType type, NodeId node) {
    std::vector<float> values(graph.features(type).width);
    graph.copy_features(type, node, values);
    return values;
  }
  // The classes of training examples, by node.
  static std::map<NodeId, std::set<uint32_t>> training_classes(const Task& task) {
    std::map<NodeId, std::set<uint32_t>> classes;
    const auto question = task.question(Split::train, all_examples(task, Split::train), 0);
    for (uint64_t i = 0; i < question.num_examples(); ++i) {
      for (uint32_t at = question.answer_offsets[i]; at < question.answer_offsets[i + 1]; ++at) {
        classes[question.request.seeds[i].node].insert(question.answers[at]);
      }
    }
    return classes;
  }

  static inline const TestGraph* known_library = nullptr;
};

TEST_F(KnownLabelsTest, AreColumnsOfTrainingExamplesAlone) {
  for (const char* name : {"paper:topic", "paper:shelf", "paper:tags", "paper-venue"}) {
    TaskSpec spec = find_task(name, (*known_library)->schema());
    if (spec.label == "tags") spec.split = SplitRule::random;
    const auto task = open_task(**known_library, spec);
    const HeteroGraph shown = with_training_labels(*task);
    const NodeType paper = task->node_type();
    EXPECT_EQ(shown.features(paper).width, task->num_classes()) << "papers have no features";
    EXPECT_EQ(task->graph().features(paper).width, 0U) << "the other graph is as it was";
    EXPECT_EQ(shown.without_known_labels().features(paper).width, 0U);
    const auto classes = training_classes(*task);
    for (NodeId node = 0; node < kLibraryPapers; ++node) {
      const auto values = row(shown, paper, node);
      for (uint32_t c = 0; c < task->num_classes(); ++c) {
        const bool known = classes.contains(node) && classes.at(node).contains(c);
        EXPECT_EQ(values[c], known ? 1.0F : 0.0F) << name << ", paper " << node << ", class " << c;
      }
    }
    EXPECT_EQ(open_task(shown, spec)->num_classes(), task->num_classes());
  }
}

TEST_F(KnownLabelsTest, AreNotReadWhereTheyAreAskedFor) {
  const auto plain = open_named(**known_library, "paper:topic");
  const HeteroGraph shown = with_training_labels(*plain);
  const auto task = open_named(shown, "paper:topic");
  const NodeType paper = task->node_type();
  Sampler sampler(shown, task->sampling({.width = 20, .depth = 3}, Split::train));
  Subgraph subgraph;
  uint64_t neighbors_with_labels = 0;
  for (uint32_t first = 0; first + 6 < task->num_examples(Split::train); first += 3) {
    const std::vector<uint32_t> examples = {first, first + 1, first + 2, first + 5};
    const Question question = task->question(Split::train, examples, 0);
    sampler.sample(question.request, first, subgraph);
    const auto nodes = subgraph.nodes_of(paper);
    const uint64_t width = task->num_classes();
    std::vector<float> rows(nodes.size() * width);
    copy_visible_features(shown, subgraph, paper, nodes, rows);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<float> visible(rows.begin() + static_cast<ptrdiff_t>(i * width),
                                       rows.begin() + static_cast<ptrdiff_t>((i + 1) * width));
      const bool asked = std::any_of(question.request.seeds.begin(), question.request.seeds.end(),
                                     [&](const Seed& seed) { return seed.node == nodes[i]; });
      EXPECT_EQ(visible, asked ? std::vector<float>(width, 0) : row(shown, paper, nodes[i]));
      neighbors_with_labels += !asked && visible != std::vector<float>(width, 0) ? 1 : 0;
    }
  }
  EXPECT_GT(neighbors_with_labels, 20U) << "the test looked at almost nothing";
}

TEST_F(KnownLabelsTest, FollowTheFeaturesThatThereAre) {
  const TestGraph graph(library_schema(), [](GraphBuilder& builder) {
    add_library_nodes(builder);
    add_library_edges(builder);
    add_library_labels(builder);
    const NodeType paper = builder.schema().node_type("paper");
    builder.declare_features(paper, {.width = 2});
    for (NodeId node = 0; node < kLibraryPapers; ++node) {
      const std::vector<float> values = {static_cast<float>(node), 7};
      builder.set_features(paper, node, values);
    }
  });
  const auto task = open_named(*graph, "paper:topic");
  const HeteroGraph shown = with_training_labels(*task);
  const auto classes = training_classes(*task);
  for (NodeId node = 0; node < kLibraryPapers; ++node) {
    const auto values = row(shown, task->node_type(), node);
    ASSERT_EQ(values.size(), 2U + task->num_classes());
    EXPECT_EQ(values[0], static_cast<float>(node));
    EXPECT_EQ(values[1], 7);
    EXPECT_EQ(std::count(values.begin() + 2, values.end(), 1.0F), classes.contains(node) ? 1 : 0);
  }
}

TEST_F(KnownLabelsTest, AreForTasksWithClassesOnly) {
  const auto task = open_named(**known_library, "author-disambiguation");
  EXPECT_NE(error_of([&] { with_training_labels(*task); }).find("compares pairs"),
            std::string::npos);
}

}  // namespace
}  // namespace hgt
