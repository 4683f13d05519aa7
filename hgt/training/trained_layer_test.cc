// trained_layer: by hand, and against what the layers of real training batches compute.
#include "hgt/task/trained_layer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hgt/model/graph_batch.h"
#include "hgt/sampling/sampler.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

using Words = std::vector<std::string>;
using Layers = std::map<std::string, uint32_t>;

struct LayerCase {
  std::string task;
  Words leave_out = {};
  bool guard = true;
};

std::unique_ptr<const Task> task_of(const LayerCase& what) {
  const HeteroGraph graph = HeteroGraph::open(training_graph());
  TaskSpec spec = find_task(what.task, graph.schema());
  spec.leave_out = what.leave_out;
  spec.guard = what.guard;
  if (spec.kind == TaskKind::label) spec.split = SplitRule::random;
  return open_task(graph, spec);
}

// Of every type.
Layers trained_layers(const Task& task, uint32_t layers) {
  Layers result;
  const auto types = task.graph().schema().node_types();
  for (size_t i = 0; i < types.size(); ++i) {
    result[types[i].name] = trained_layer(task, layers, NodeType(i));
  }
  return result;
}

// The last layer that computes anything for a type in batches of a few examples: those layers'
// outputs that the seeds do not depend on are trimmed away.
Layers computed_layers(const Task& task, uint32_t layers) {
  const auto types = task.graph().schema().node_types();
  Layers result;
  for (const NodeTypeSpec& type : types) result[type.name] = 0;
  Sampler sampler(task.graph(),
                  task.sampling({.strategy = Strategy::full, .depth = layers}, Split::train));
  Subgraph subgraph;
  for (uint32_t first = 0; first + 2 <= task.num_examples(Split::train) && first < 40; first += 2) {
    const std::vector<uint32_t> examples = {first, first + 1};
    sampler.sample(task.question(Split::train, examples, 7).request, 1, subgraph);
    const GraphBatch batch = graph_batch(task.graph(), subgraph, layers);
    for (uint32_t layer = 0; layer < layers; ++layer) {
      const auto& targets = batch.layers[layer]->target_offsets;
      for (size_t i = 0; i < types.size(); ++i) {
        uint32_t& last = result[types[i].name];
        if (targets[i + 1] > targets[i]) last = std::max(last, layer + 1);
      }
    }
  }
  return result;
}

TEST(TrainedLayer, OfAVenueIsTwoDownWhereVenuesArePredicted) {
  const auto task = task_of({"paper-venue"});
  EXPECT_EQ(trained_layers(*task, 3),
            (Layers{{"paper", 3}, {"author", 2}, {"field", 2}, {"venue", 1}, {"institute", 1}}));
  EXPECT_EQ(trained_layers(*task, 2),
            (Layers{{"paper", 2}, {"author", 1}, {"field", 1}, {"venue", 0}, {"institute", 0}}));
  EXPECT_EQ(trained_layers(*task, 1),
            (Layers{{"paper", 1}, {"author", 0}, {"field", 0}, {"venue", 0}, {"institute", 0}}));
}

TEST(TrainedLayer, OfAVenueIsOneDownWhereFieldsArePredicted) {
  const auto all = task_of({"paper-field"});
  EXPECT_EQ(trained_layers(*all, 3),
            (Layers{{"paper", 3}, {"author", 2}, {"field", 1}, {"venue", 2}, {"institute", 1}}));
  const auto one_level = task_of({"paper-field-L1"});  // those of other levels are seen
  EXPECT_EQ(trained_layers(*one_level, 3).at("field"), 2U);
}

TEST(TrainedLayer, OfALabelTaskIsTheLastForItsTypeAndFallsWithTheDistance) {
  const auto task = task_of({"venue:kind"});
  EXPECT_EQ(trained_layers(*task, 3),
            (Layers{{"paper", 2}, {"author", 1}, {"field", 1}, {"venue", 3}, {"institute", 0}}));
}

TEST(TrainedLayer, OfPairsIsTheLastForBothTypes) {
  const auto names = task_of({"author-disambiguation"});
  EXPECT_EQ(trained_layers(*names, 3),
            (Layers{{"paper", 3}, {"author", 3}, {"field", 2}, {"venue", 2}, {"institute", 2}}));
  const auto links = task_of({"link:cites"});
  EXPECT_EQ(trained_layers(*links, 3),
            (Layers{{"paper", 3}, {"author", 2}, {"field", 2}, {"venue", 2}, {"institute", 1}}));
}

TEST(TrainedLayer, DoesNotPassThroughRelationsThatAreLeftOut) {
  const auto task = task_of({"paper-venue", {"writes_first", "writes_last", "writes_other"}});
  EXPECT_EQ(trained_layers(*task, 4),
            (Layers{{"paper", 4}, {"author", 0}, {"field", 3}, {"venue", 2}, {"institute", 0}}));
}

TEST(TrainedLayer, IsOneDownWithoutAGuard) {
  EXPECT_EQ(trained_layers(*task_of({"paper-venue", {}, false}), 3).at("venue"), 2U);
}

void expect_computed_layers(const LayerCase& what) {
  const auto task = task_of(what);
  for (uint32_t layers = 1; layers <= 3; ++layers) {
    EXPECT_EQ(trained_layers(*task, layers), computed_layers(*task, layers))
        << what.task << ", " << layers << " layers, " << what.leave_out.size() << " left out";
  }
}

TEST(TrainedLayer, IsTheLastThatBatchesComputeForTheType) {
  const std::vector<LayerCase> cases = {{"paper-venue"},
                                        {"paper-venue", {"affiliated"}},
                                        {"paper-venue", {}, false},
                                        {"paper-field"},
                                        {"paper-field-L1"},
                                        {"venue:kind"},
                                        {"author-disambiguation"},
                                        {"link:cites"},
                                        {"link:affiliated"}};
  for (const LayerCase& what : cases) expect_computed_layers(what);
}

// Without citations a paper meets other papers two steps away, and itself has no venue.
TEST(TrainedLayer, CountsTheStepsToPapersWhoseVenueIsNotHidden) {
  const LayerCase without_citations{"paper-venue", {"cites"}};
  const auto task = task_of(without_citations);
  EXPECT_EQ(trained_layers(*task, 4).at("venue"), 1U);
  EXPECT_EQ(trained_layers(*task, 3).at("venue"), 0U);
  expect_computed_layers(without_citations);
}

}  // namespace
}  // namespace hgt
