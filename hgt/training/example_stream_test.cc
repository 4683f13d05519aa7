#include "hgt/training/example_stream.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "hgt/training/trainer.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

// What a program without torch makes of the same plan.
struct PlainBatch {
  Question question = {};
  Subgraph subgraph = {};
  std::vector<std::vector<float>> features = {};  // by type
};

class ExampleStreamTest : public testing::Test {
 protected:
  ExampleStream stream(const TrainingPlan& plan, const StreamRange& range) const {
    return {{.graph = task_->graph(), .sampling = sampling_, .encoder = model_->encoder()},
            plan,
            range};
  }

  const std::unique_ptr<const Task> task_ = training_task("paper-venue");
  const TrainOptions options_ = quick_options();
  const TaskModel model_ = make_model(*task_, options_);
  const SamplingOptions sampling_ = task_->sampling(options_.sampling, Split::train);
  const TrainingPlan plan_{*task_, 24, 1};
};

void expect_equal(const GraphBatch& a, const GraphBatch& b) {
  EXPECT_EQ(a.type_offsets, b.type_offsets);
  EXPECT_TRUE(at::equal(a.seed_rows, b.seed_rows));
  ASSERT_EQ(a.features.size(), b.features.size());
  for (size_t type = 0; type < a.features.size(); ++type) {
    ASSERT_EQ(a.features[type].defined(), b.features[type].defined());
    if (!a.features[type].defined()) continue;
    EXPECT_TRUE(at::equal(a.features[type], b.features[type]));
  }
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (size_t layer = 0; layer < a.layers.size(); ++layer) {
    EXPECT_EQ(a.layers[layer]->edge_ids, b.layers[layer]->edge_ids);
    EXPECT_EQ(a.layers[layer]->sources, b.layers[layer]->sources);
  }
}

TEST_F(ExampleStreamTest, WorkersAndThreadsMakeNoDifference) {
  std::vector<ReadyBatch> expected;
  const int before = at::get_num_threads();
  for (const auto& [threads, workers] : {std::pair{1, 0U}, {2, 0U}, {1, 1U}, {1, 3U}}) {
    at::set_num_threads(threads);
    ExampleStream made = stream(plan_, {.first = 2, .count = 9, .workers = workers});
    std::vector<ReadyBatch> batches;
    for (ReadyBatch batch; made.next(batch); batch = {}) batches.push_back(std::move(batch));
    ASSERT_EQ(batches.size(), 9U);
    if (expected.empty()) expected = batches;
    for (size_t i = 0; i < batches.size(); ++i) {
      EXPECT_TRUE(batches[i].subgraph == expected[i].subgraph);
      EXPECT_EQ(batches[i].question.answers, expected[i].question.answers);
      EXPECT_EQ(batches[i].graph.plans.size(), 2U);
      expect_equal(batches[i].graph, expected[i].graph);
    }
  }
  at::set_num_threads(before);
}

TEST_F(ExampleStreamTest, APlainStreamOfThePlanHasTheSameBatchesBitForBit) {
  const HeteroGraph& graph = task_->graph();
  const size_t types = graph.schema().node_types().size();
  BatchStream<PlainBatch> plain(
      {.graph = graph, .sampling = sampling_, .range = {.count = 6, .workers = 2}}, plan_,
      [&](PlainBatch& batch) {
        batch.features.resize(types);
        for (size_t i = 0; i < types; ++i) {
          const auto type = NodeType(i);
          batch.features[i].resize(batch.subgraph.num_rows(type) * graph.features(type).width);
          graph.copy_features(type, batch.subgraph.nodes_of(type), batch.features[i]);
        }
      });
  ExampleStream ready = stream(plan_, {.count = 6, .workers = 1});
  PlainBatch expected;
  for (ReadyBatch batch; ready.next(batch);) {
    ASSERT_TRUE(plain.next(expected));
    EXPECT_EQ(batch.question.answers, expected.question.answers);
    ASSERT_TRUE(batch.subgraph == expected.subgraph);
    const ReceptiveField field = receptive_field(expected.subgraph, 2);
    for (size_t type = 0; type < types; ++type) {
      const uint64_t width = graph.features(NodeType(type)).width;
      const uint32_t first = field.type_offsets[type];
      const uint32_t rows = field.type_offsets[type + 1] - first;
      ASSERT_EQ(batch.graph.features[type].defined(), width > 0 && rows > 0);
      for (uint32_t i = 0; width > 0 && i < rows; ++i) {
        const uint32_t row = field.rows[first + i] - expected.subgraph.type_offsets[type];
        const float* from = expected.features[type].data() + row * width;
        EXPECT_TRUE(std::equal(from, from + width,
                               batch.graph.features[type].data_ptr<float>() + i * width));
      }
    }
  }
  EXPECT_FALSE(plain.next(expected));
}

TEST_F(ExampleStreamTest, MakesAsManyLayersAsAreAskedFor) {
  ExampleStream made(
      {.graph = task_->graph(), .sampling = sampling_, .encoder = model_->encoder(), .layers = 1},
      plan_, {.count = 1});
  ReadyBatch batch;
  ASSERT_TRUE(made.next(batch));
  EXPECT_EQ(batch.graph.layers.size(), 1U);
  EXPECT_EQ(batch.graph.plans.size(), 1U);
}

}  // namespace
}  // namespace hgt
