#include "hgt/sampling/batch_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "hgt/academic/academic_generator.h"
#include "hgt/disk/temporary_test_folder.h"
#include "hgt/error.h"
#include "hgt/sampling/subgraph_check.h"

namespace hgt {
namespace {

class BatchStreamTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TestFolder;
    generate_academic_graph(*folder / "graph", {.preset = "small", .papers = 1500});
  }
  static void TearDownTestSuite() { delete folder; }

  std::vector<Seed> papers(NodeId count) const {
    std::vector<Seed> seeds;
    for (NodeId node = 0; node < count; ++node) seeds.push_back({.type = paper_, .node = node});
    return seeds;
  }
  std::vector<Batch> all(const Planner& plan, const StreamOptions& options) const {
    BatchStream stream(graph_, plan, kSampling, options);
    std::vector<Batch> batches;
    for (Batch batch; stream.next(batch);) batches.push_back(batch);
    return batches;
  }
  static void expect_equal(const Batch& a, const Batch& b) {
    EXPECT_EQ(a.epoch, b.epoch);
    EXPECT_EQ(a.number, b.number);
    EXPECT_TRUE(a.subgraph == b.subgraph) << a.epoch << ' ' << a.number;
    EXPECT_EQ(a.features, b.features);
  }

  static inline TestFolder* folder = nullptr;
  static inline const SamplingOptions kSampling = {.width = 8, .depth = 3, .seed = 7};
  const HeteroGraph graph_ = HeteroGraph::open(*folder / "graph");
  const NodeType paper_ = graph_.schema().node_type("paper");
};

TEST_F(BatchStreamTest, ContentDoesNotDependOnTheNumberOfWorkers) {
  const ShuffledSeeds plan(papers(300), 32, 5);
  const StreamOptions inline_options{
      .batches_per_epoch = plan.batches(), .count = 2 * plan.batches(), .workers = 0};
  const std::vector<Batch> expected = all(plan, inline_options);
  ASSERT_EQ(expected.size(), 20U);
  for (const auto& [workers, queue] : std::map<unsigned, unsigned>{{1, 1}, {2, 3}, {5, 2}}) {
    StreamOptions options = inline_options;
    options.workers = workers;
    options.queue = queue;
    const std::vector<Batch> batches = all(plan, options);
    ASSERT_EQ(batches.size(), expected.size());
    for (size_t i = 0; i < batches.size(); ++i) expect_equal(batches[i], expected[i]);
  }
}

TEST_F(BatchStreamTest, AnyBatchCanBeMadeAlone) {
  const ShuffledSeeds plan(papers(300), 32, 5);
  const std::vector<Batch> batches =
      all(plan, {.batches_per_epoch = plan.batches(), .count = 2 * plan.batches(), .workers = 2});
  BatchMaker maker(graph_, plan, kSampling);
  Batch batch;
  for (const size_t i : {17U, 3U, 12U, 0U}) {  // in any order, storage reused
    maker.make(i / plan.batches(), i % plan.batches(), batch);
    expect_equal(batch, batches[i]);
  }
}

TEST_F(BatchStreamTest, AStreamThatBeginsLaterGivesTheSameBatches) {
  const ShuffledSeeds plan(papers(100), 32, 5);
  const std::vector<Batch> batches =
      all(plan, {.batches_per_epoch = plan.batches(), .count = 8, .workers = 2});
  const std::vector<Batch> rest =
      all(plan, {.batches_per_epoch = plan.batches(), .first = 5, .count = 3, .workers = 1});
  ASSERT_EQ(rest.size(), 3U);
  for (size_t i = 0; i < rest.size(); ++i) expect_equal(rest[i], batches[5 + i]);
}

TEST_F(BatchStreamTest, EveryBatchIsAVerifiedSubgraph) {
  const ShuffledSeeds plan(papers(200), 50, 1);
  for (const Batch& batch :
       all(plan, {.batches_per_epoch = plan.batches(), .count = plan.batches(), .workers = 2})) {
    EXPECT_NO_THROW(verify_subgraph(graph_, batch.request, kSampling, batch.subgraph));
  }
}

TEST_F(BatchStreamTest, FeaturesAreThoseOfTheRows) {
  const ShuffledSeeds plan(papers(40), 20, 1);
  for (const Batch& batch :
       all(plan, {.batches_per_epoch = plan.batches(), .count = plan.batches(), .workers = 1})) {
    ASSERT_EQ(batch.features.size(), graph_.schema().node_types().size());
    for (size_t type = 0; type < batch.features.size(); ++type) {
      const uint64_t width = graph_.features(NodeType(type)).width;
      ASSERT_EQ(batch.features[type].size(), width * batch.subgraph.num_rows(NodeType(type)));
      std::vector<float> row(width);
      size_t at = 0;
      for (const uint32_t instance : batch.subgraph.rows(NodeType(type))) {
        graph_.copy_features(NodeType(type), batch.subgraph.nodes[instance], row);
        for (const float value : row) ASSERT_EQ(batch.features[type][at++], value);
      }
    }
    EXPECT_FALSE(batch.features[index(paper_)].empty()) << "the graph has paper features";
  }
}

TEST_F(BatchStreamTest, WithoutFeaturesNoneAreGathered) {
  const ShuffledSeeds plan(papers(10), 10, 1);
  const auto batches = all(plan, {.count = 1, .features = false});
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_TRUE(batches[0].features.empty());
}

TEST_F(BatchStreamTest, AnEpochHasEverySeedOnceInAnOrderOfItsOwn) {
  const ShuffledSeeds plan(papers(70), 32, 9);
  ASSERT_EQ(plan.batches(), 3U);
  std::vector<std::vector<NodeId>> orders;
  for (const uint64_t epoch : {0U, 1U}) {
    std::vector<NodeId>& order = orders.emplace_back();
    for (uint64_t number = 0; number < plan.batches(); ++number) {
      for (const Seed& seed : plan(epoch, number).seeds) order.push_back(seed.node);
    }
    EXPECT_EQ(std::set<NodeId>(order.begin(), order.end()).size(), 70U);
    EXPECT_EQ(order.size(), 70U);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_FALSE(std::is_sorted(orders[0].begin(), orders[0].end()));
  EXPECT_TRUE(plan(0, 3).seeds.empty()) << "behind the last batch there is nothing";
}

TEST_F(BatchStreamTest, EverySeedIsFirstEquallyOften) {
  constexpr int kSeeds = 6;
  constexpr int kEpochs = 6000;
  std::map<NodeId, int> first;
  const ShuffledSeeds plan(papers(kSeeds), 1, 3);
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) ++first[plan(epoch, 0).seeds[0].node];
  double chi_square = 0;
  for (NodeId node = 0; node < kSeeds; ++node) {
    const double expected = static_cast<double>(kEpochs) / kSeeds;
    chi_square += (first[node] - expected) * (first[node] - expected) / expected;
  }
  EXPECT_LT(chi_square, 25.7);  // 5 degrees of freedom: p = 1e-4
}

TEST_F(BatchStreamTest, AnErrorReachesTheCallerInItsPlaceAndEndsTheStream) {
  const Planner plan = [&](uint64_t /*epoch*/, uint64_t number) {
    const NodeId node = number == 3 ? 4'000'000'000U : static_cast<NodeId>(number);
    return Request{.seeds = {{.type = paper_, .node = node}}};
  };
  for (const unsigned workers : {0U, 1U, 3U}) {
    BatchStream stream(graph_, plan, kSampling,
                       {.batches_per_epoch = 10, .count = 10, .workers = workers});
    Batch batch;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(stream.next(batch));
    EXPECT_THROW(stream.next(batch), Error);
    EXPECT_FALSE(stream.next(batch));
  }
}

TEST_F(BatchStreamTest, NoMoreThanTheQueueIsMadeAhead) {
  std::atomic<uint64_t> planned = 0;
  const Planner plan = [&](uint64_t /*epoch*/, uint64_t number) {
    ++planned;
    return Request{.seeds = {{.type = paper_, .node = static_cast<NodeId>(number)}}};
  };
  BatchStream stream(graph_, plan, kSampling,
                     {.batches_per_epoch = 100, .count = 100, .workers = 2, .queue = 3});
  Batch batch;
  for (uint64_t taken = 1; taken <= 20; ++taken) {
    ASSERT_TRUE(stream.next(batch));
    EXPECT_LE(planned, taken + 3);
  }
  EXPECT_GE(stream.seconds_waited(), 0);
}

TEST_F(BatchStreamTest, AStreamMayBeLeftBeforeItsEnd) {
  const ShuffledSeeds plan(papers(300), 8, 5);
  BatchStream stream(graph_, plan, kSampling,
                     {.batches_per_epoch = plan.batches(), .count = 30, .workers = 2});
  Batch batch;
  EXPECT_TRUE(stream.next(batch));
}

TEST_F(BatchStreamTest, AnEmptyStreamEndsAtOnce) {
  const ShuffledSeeds plan({}, 8, 5);
  EXPECT_EQ(plan.batches(), 0U);
  EXPECT_TRUE(all(plan, {.count = 0}).empty());
}

TEST_F(BatchStreamTest, HiddenEdgesOfARequestAreHiddenInItsBatchAlone) {
  const Relation cites = graph_.schema().relation("paper", "cites", "paper");
  NodeId cited = 0;
  while (graph_.incoming(cites, cited).size() == 0) ++cited;
  const NodeId citing = graph_.incoming(cites, cited).sources[0];
  const Planner plan = [&](uint64_t /*epoch*/, uint64_t number) {
    Request request{.seeds = {{.type = paper_, .node = cited}, {.type = paper_, .node = citing}}};
    if (number == 0) {
      request.hidden = {{.relation = cites, .source = citing, .target = cited}};
    }
    return request;
  };
  const auto joined = [](const Batch& batch) {
    for (const uint64_t edge : batch.subgraph.incoming(0)) {
      if (batch.subgraph.sources[edge] == 1) return true;
    }
    return false;
  };
  const auto batches = all(plan, {.batches_per_epoch = 2, .count = 2, .workers = 0});
  EXPECT_FALSE(joined(batches[0]));
  EXPECT_TRUE(joined(batches[1]));
}

}  // namespace
}  // namespace hgt
