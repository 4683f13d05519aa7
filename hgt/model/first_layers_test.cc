// The first layers of an encoder alone: Encoder::forward_first and batches of fewer layers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/model/encoder.h"
#include "hgt/model/torch.h"
#include "hgt/sampling/sampler.h"

namespace hgt {
namespace {

class FirstLayers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TestFolder;
    generate_academic_graph(*folder / "graph", {.preset = "small", .papers = 200, .features = 6});
  }
  static void TearDownTestSuite() { delete folder; }

  Encoder encoder(ModelKind kind, int64_t layers) const {
    ModelOptions options = release_preset();
    options.kind = kind;
    options.hidden = 8;
    options.heads = 2;
    options.layers = layers;
    options.dropout = 0;
    torch::manual_seed(3);
    Encoder made(options, model_schema(graph_.schema()));
    made->eval();
    return made;
  }
  Subgraph subgraph() const {
    std::vector<Seed> seeds;
    for (const NodeId node : {4U, 9U, 4U, 1U})
      seeds.push_back({.type = type("paper"), .node = node});
    seeds.push_back({.type = type("venue"), .node = 2, .time = 2010});
    return sample(graph_, seeds, {.width = 8, .depth = 3, .seed = 1});
  }
  NodeType type(const char* name) const { return graph_.schema().node_type(name); }

  static inline TestFolder* folder = nullptr;
  const HeteroGraph graph_ = HeteroGraph::open(*folder / "graph");
  const torch::NoGradGuard no_gradient_;
};

at::Tensor seeds_of(const at::Tensor& rows, const GraphBatch& batch) {
  return rows.index_select(0, batch.seed_rows);
}

TEST_F(FirstLayers, AreAllOfThemInABatchForAll) {
  for (const ModelKind kind : {ModelKind::hgt, ModelKind::gat, ModelKind::han}) {
    const Encoder whole = encoder(kind, 3);
    const GraphBatch batch = whole->make_batch(graph_, subgraph());
    EXPECT_EQ(batch.layers.size(), 3U);
    EXPECT_TRUE(at::equal(whole->forward_first(batch), whole->forward(batch)));
    const GraphBatch same = whole->make_batch(graph_, subgraph(), 3);
    EXPECT_TRUE(at::equal(whole->forward(same), whole->forward(batch)));
  }
}

// The input and the first layers of both are drawn alike.
TEST_F(FirstLayers, ComputeWhatAnEncoderOfSoManyLayersDoes) {
  const Encoder whole = encoder(ModelKind::hgt, 3);
  for (const uint32_t layers : {1U, 2U}) {
    const Encoder shorter = encoder(ModelKind::hgt, layers);
    const GraphBatch batch = whole->make_batch(graph_, subgraph(), layers);
    EXPECT_EQ(batch.layers.size(), layers);
    EXPECT_EQ(batch.plans.size(), layers);
    const at::Tensor expected = shorter->forward(shorter->make_batch(graph_, subgraph()));
    AttentionTrace trace;
    EXPECT_TRUE(at::allclose(whole->forward_first(batch, &trace), expected, 1e-5, 1e-6)) << layers;
    EXPECT_EQ(trace.size(), layers);
  }
}

// Whatever a batch is trimmed to: the first layer over all rows.
TEST_F(FirstLayers, AreTheInnerOnesOfTheWhole) {
  for (const ModelKind kind : {ModelKind::hgt, ModelKind::gcn, ModelKind::rgcn}) {
    const Encoder whole = encoder(kind, 2);
    const GraphBatch trimmed = whole->make_batch(graph_, subgraph(), 1);
    const GraphBatch all = graph_batch(graph_, subgraph(), 1, Trim::off);
    EXPECT_LT(whole->forward_first(trimmed).size(0), whole->forward_first(all).size(0));
    EXPECT_TRUE(at::allclose(seeds_of(whole->forward_first(trimmed), trimmed),
                             seeds_of(whole->forward_first(all), all), 1e-5, 1e-6));
  }
}

TEST_F(FirstLayers, AreNotMoreThanThereAre) {
  const Encoder shorter = encoder(ModelKind::hgt, 2);
  const GraphBatch more = encoder(ModelKind::hgt, 3)->make_batch(graph_, subgraph());
  const std::string error = error_of([&] { shorter->forward_first(more); });
  EXPECT_TRUE(contains(error, "the batch was made for 3 layers")) << error;
}

TEST_F(FirstLayers, AreNotTakenForTheWhole) {
  const Encoder whole = encoder(ModelKind::hgt, 3);
  const GraphBatch batch = whole->make_batch(graph_, subgraph(), 2);
  const std::string error = error_of([&] { whole->forward(batch); });
  EXPECT_TRUE(contains(error, "the batch was made for 2 layers")) << error;
}

}  // namespace
}  // namespace hgt
