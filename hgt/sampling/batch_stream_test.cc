#include "hgt/sampling/batch_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "hgt/academic/academic_generator.h"
#include "hgt/disk/temporary_test_folder.h"
#include "hgt/error.h"
#include "hgt/random.h"
#include "hgt/sampling/shuffled_order.h"
#include "hgt/sampling/subgraph_check.h"

namespace hgt {
namespace {

struct Batch {
  Request question = {};
  Subgraph subgraph = {};
  std::vector<std::vector<float>> features = {};  // by type
};
using Stream = BatchStream<Batch>;
using Plan = PlannedBatch<Request>;

class BatchStreamTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TestFolder;
    generate_academic_graph(*folder / "graph", {.preset = "small", .papers = 1500});
  }
  static void TearDownTestSuite() { delete folder; }

  // Batches of 32 of the first `count` papers, each once per epoch.
  Stream::Planner papers(NodeId count) const {
    return [this, order = ShuffledOrder(count, 5), per_epoch = (count + 31) / 32](uint64_t i) {
      Plan plan{.random_seed = hash(7, i)};
      for (const uint32_t node : order.batch(i / per_epoch, i % per_epoch, 32)) {
        plan.question.seeds.push_back({.type = paper_, .node = node});
      }
      return plan;
    };
  }
  // Batch i is about paper i.
  Plan one_paper(uint64_t i) const {
    return {.question = {.seeds = {{.type = paper_, .node = static_cast<NodeId>(i)}}},
            .random_seed = i};
  }
  BatchStreamOptions options(const StreamRange& range) const {
    return {.graph = graph_, .sampling = kSampling, .range = range};
  }
  void read_features(Batch& batch) const {
    batch.features.resize(graph_.schema().node_types().size());
    for (size_t i = 0; i < batch.features.size(); ++i) {
      const auto type = NodeType(i);
      batch.features[i].resize(batch.subgraph.num_rows(type) * graph_.features(type).width);
      graph_.copy_features(type, batch.subgraph.nodes_of(type), batch.features[i]);
    }
  }
  std::vector<Batch> all(const Stream::Planner& plan, const StreamRange& range) const {
    Stream stream(options(range), plan, [this](Batch& batch) { read_features(batch); });
    std::vector<Batch> batches;
    for (Batch batch; stream.next(batch);) batches.push_back(batch);
    return batches;
  }
  static void expect_equal(const Batch& a, const Batch& b) {
    ASSERT_EQ(a.question.seeds.size(), b.question.seeds.size());
    for (size_t i = 0; i < a.question.seeds.size(); ++i) {
      EXPECT_EQ(a.question.seeds[i].node, b.question.seeds[i].node);
    }
    EXPECT_TRUE(a.subgraph == b.subgraph);
    EXPECT_EQ(a.features, b.features);
  }

  static inline TestFolder* folder = nullptr;
  static inline const SamplingOptions kSampling = {.width = 8, .depth = 3, .seed = 7};
  const HeteroGraph graph_ = HeteroGraph::open(*folder / "graph");
  const NodeType paper_ = graph_.schema().node_type("paper");
};

TEST_F(BatchStreamTest, ContentDoesNotDependOnTheNumberOfWorkers) {
  const Stream::Planner plan = papers(300);
  const std::vector<Batch> expected = all(plan, {.count = 20, .workers = 0});
  ASSERT_EQ(expected.size(), 20U);
  const std::array<StreamRange, 5> ranges = {{{.workers = 1, .queue = 1},
                                              {.workers = 2, .queue = 3},
                                              {.workers = 5, .queue = 2},
                                              {.workers = 0, .together = 2},
                                              {.workers = 0, .together = 7}}};
  for (StreamRange range : ranges) {
    range.count = 20;
    const std::vector<Batch> batches = all(plan, range);
    ASSERT_EQ(batches.size(), expected.size());
    for (size_t i = 0; i < batches.size(); ++i) expect_equal(batches[i], expected[i]);
  }
}

TEST_F(BatchStreamTest, ABatchIsWhatASamplerMakesOfItsPlanAlone) {
  const Stream::Planner plan = papers(300);
  const std::vector<Batch> batches = all(plan, {.count = 20, .workers = 2});
  Sampler sampler(graph_, kSampling);
  Batch batch;
  for (const size_t i : {17U, 3U, 12U, 0U}) {  // in any order, storage reused
    batch.question = plan(i).question;
    sampler.sample(batch.question, plan(i).random_seed, batch.subgraph);
    read_features(batch);
    expect_equal(batch, batches[i]);
  }
}

TEST_F(BatchStreamTest, AStreamThatBeginsLaterGivesTheSameBatches) {
  const Stream::Planner plan = papers(100);
  const std::vector<Batch> batches = all(plan, {.count = 8, .workers = 2});
  const std::vector<Batch> rest = all(plan, {.first = 5, .count = 3, .workers = 1});
  ASSERT_EQ(rest.size(), 3U);
  for (size_t i = 0; i < rest.size(); ++i) expect_equal(rest[i], batches[5 + i]);
}

TEST_F(BatchStreamTest, EveryBatchIsAVerifiedSubgraph) {
  const std::vector<Batch> batches = all(papers(200), {.count = 7, .workers = 2});
  ASSERT_EQ(batches.size(), 7U);
  for (const Batch& batch : batches) {
    EXPECT_NO_THROW(verify_subgraph(graph_, batch.question, kSampling, batch.subgraph));
  }
}

TEST_F(BatchStreamTest, FeaturesAreThoseOfTheRows) {
  for (const Batch& batch : all(papers(40), {.count = 2, .workers = 1})) {
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

TEST_F(BatchStreamTest, WithoutALastStepABatchIsItsSubgraph) {
  Stream stream(options({.count = 1}), papers(10));
  Batch batch;
  ASSERT_TRUE(stream.next(batch));
  EXPECT_EQ(batch.question.seeds.size(), 10U);
  EXPECT_EQ(batch.subgraph.seed_rows.size(), 10U);
  EXPECT_TRUE(batch.features.empty());
  EXPECT_FALSE(stream.next(batch));
}

TEST_F(BatchStreamTest, TheLastStepRunsOnTheThreadThatSampled) {
  struct Noted {
    Request question = {};
    Subgraph subgraph = {};
    std::thread::id thread = {};
  };
  for (const unsigned workers : {0U, 3U}) {
    std::array<std::thread::id, 12> planned;
    BatchStream<Noted> stream(
        options({.count = 12, .workers = workers, .together = 3}),
        [&](uint64_t i) {
          planned.at(i) = std::this_thread::get_id();
          return one_paper(i);
        },
        [](Noted& batch) { batch.thread = std::this_thread::get_id(); });
    size_t i = 0;
    for (Noted batch; stream.next(batch);) EXPECT_EQ(batch.thread, planned.at(i++));
    EXPECT_EQ(i, 12U);
  }
}

TEST_F(BatchStreamTest, AnErrorReachesTheCallerInItsPlaceAndEndsTheStream) {
  for (const std::string step : {"plan", "sample", "finish"}) {
    for (const unsigned workers : {0U, 1U, 3U}) {
      Stream stream(
          options({.count = 10, .workers = workers}),
          [&](uint64_t i) {
            if (i == 3 && step == "plan") throw Error("no plan");
            return one_paper(i == 3 && step == "sample" ? 4'000'000'000U : i);
          },
          [&](Batch& batch) {
            if (batch.question.seeds[0].node == 3 && step == "finish") throw Error("no end");
          });
      Batch batch;
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(stream.next(batch));
      EXPECT_THROW(stream.next(batch), Error);
      EXPECT_FALSE(stream.next(batch));
    }
  }
}

TEST_F(BatchStreamTest, RefusesOptionsThatMakeNoSenseForTheGraph) {
  BatchStreamOptions wrong = options({.count = 1});
  wrong.sampling.strategy = Strategy::neighbors;  // without fan-outs
  EXPECT_THROW(Stream(wrong, papers(10)), Error);
}

TEST_F(BatchStreamTest, NoMoreThanTheQueueIsMadeAhead) {
  std::atomic<uint64_t> planned = 0;
  Stream stream(options({.count = 100, .workers = 2, .queue = 3}), [&](uint64_t i) {
    ++planned;
    return one_paper(i);
  });
  Batch batch;
  for (uint64_t taken = 1; taken <= 20; ++taken) {
    ASSERT_TRUE(stream.next(batch));
    EXPECT_LE(planned, taken + 3);
  }
  EXPECT_GE(stream.seconds_waited(), 0);
}

TEST_F(BatchStreamTest, AStreamMayBeLeftBeforeItsEnd) {
  Stream stream(options({.count = 30, .workers = 2}), papers(300));
  Batch batch;
  EXPECT_TRUE(stream.next(batch));
}

TEST_F(BatchStreamTest, AnEmptyStreamEndsAtOnce) {
  EXPECT_TRUE(all(papers(32), {.count = 0}).empty());
  EXPECT_TRUE(all(papers(32), {.count = 0, .workers = 0}).empty());
}

TEST_F(BatchStreamTest, HiddenEdgesOfARequestAreHiddenInItsBatchAlone) {
  const Relation cites = graph_.schema().relation("paper", "cites", "paper");
  NodeId cited = 0;
  while (graph_.incoming(cites, cited).size() == 0) ++cited;
  const NodeId citing = graph_.incoming(cites, cited).sources[0];
  const auto plan = [&](uint64_t i) {
    Request request{.seeds = {{.type = paper_, .node = cited}, {.type = paper_, .node = citing}}};
    if (i == 0) request.hidden = {{.relation = cites, .source = citing, .target = cited}};
    return Plan{.question = request};
  };
  const auto joined = [](const Batch& batch) {
    for (const uint64_t edge : batch.subgraph.incoming(0)) {
      if (batch.subgraph.sources[edge] == 1) return true;
    }
    return false;
  };
  const auto batches = all(plan, {.count = 2, .workers = 0});
  EXPECT_FALSE(joined(batches[0]));
  EXPECT_TRUE(joined(batches[1]));
}

// --- batches of other types ---

struct Riddle {
  Request request = {};
  std::string answer = {};
};

struct RiddleBatch {
  Riddle question = {};
  Subgraph subgraph = {};
  std::vector<int> kept = {};      // reused
  std::vector<int> replaced = {};  // let go of

  void release() { replaced = std::vector<int>(); }
};

TEST_F(BatchStreamTest, AQuestionMayBeMoreThanARequest) {
  BatchStream<RiddleBatch> stream(options({.count = 4, .workers = 2}), [&](uint64_t i) {
    return PlannedBatch<Riddle>{
        .question = {.request = one_paper(i).question, .answer = std::to_string(i)},
        .random_seed = i};
  });
  uint64_t i = 0;
  for (RiddleBatch batch; stream.next(batch); ++i) {
    EXPECT_EQ(batch.question.answer, std::to_string(i));
    ASSERT_EQ(batch.subgraph.seed_rows.size(), 1U);
    EXPECT_EQ(batch.subgraph.nodes[batch.subgraph.seed_rows[0]], i);
  }
  EXPECT_EQ(i, 4U);
}

TEST_F(BatchStreamTest, StorageIsReusedButForWhatIsLetGoOf) {
  int begun = 0;  // batches without storage to reuse
  BatchStream<RiddleBatch> stream(
      options({.count = 10, .workers = 0}),
      [&](uint64_t i) {
        return PlannedBatch<Riddle>{.question = {.request = one_paper(i).question}};
      },
      [&](RiddleBatch& batch) {
        if (batch.kept.capacity() == 0) ++begun;
        EXPECT_EQ(batch.replaced.capacity(), 0U);
        batch.kept.assign(100, 1);
        batch.replaced.assign(100, 1);
      });
  int made = 0;
  for (RiddleBatch batch; stream.next(batch); ++made) EXPECT_EQ(batch.replaced.size(), 100U);
  EXPECT_EQ(made, 10);
  EXPECT_EQ(begun, 1);
}

}  // namespace
}  // namespace hgt
