#include "hgt/task/batch_plan.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "hgt/random.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

class TrainingPlanTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { graph_ = new TestGraph(library()); }
  static void TearDownTestSuite() { delete graph_; }

  static inline const TestGraph* graph_ = nullptr;
};

void expect_equal(const BatchPlan& a, const BatchPlan& b) {
  EXPECT_EQ(a.random_seed, b.random_seed);
  ASSERT_EQ(a.question.request.seeds.size(), b.question.request.seeds.size());
  for (size_t i = 0; i < a.question.request.seeds.size(); ++i) {
    EXPECT_EQ(a.question.request.seeds[i].type, b.question.request.seeds[i].type);
    EXPECT_EQ(a.question.request.seeds[i].node, b.question.request.seeds[i].node);
    EXPECT_EQ(a.question.request.seeds[i].time, b.question.request.seeds[i].time);
  }
  EXPECT_EQ(a.question.request.hidden.size(), b.question.request.hidden.size());
  EXPECT_EQ(a.question.answers, b.question.answers);
  EXPECT_EQ(a.question.left, b.question.left);
  EXPECT_EQ(a.question.right, b.question.right);
  EXPECT_EQ(a.question.relevant, b.question.relevant);
}

TEST_F(TrainingPlanTest, AnEpochHasEveryTrainingExampleOnceInAnOrderOfItsOwn) {
  const auto task = open_named(**graph_, "paper-venue");
  const TrainingPlan plan(*task, 8, 3);
  const uint64_t examples = task->num_examples(Split::train);
  ASSERT_EQ(plan.batches_per_epoch(), (examples + 7) / 8);
  std::vector<std::vector<NodeId>> orders;
  for (const uint64_t epoch : {0U, 1U}) {
    std::vector<NodeId>& order = orders.emplace_back();
    for (uint64_t number = 0; number < plan.batches_per_epoch(); ++number) {
      const BatchPlan planned = plan(epoch * plan.batches_per_epoch() + number);
      for (const Seed& seed : planned.question.request.seeds) order.push_back(seed.node);
    }
    EXPECT_EQ(order.size(), examples);
    EXPECT_EQ(std::set<NodeId>(order.begin(), order.end()).size(), examples);
  }
  EXPECT_NE(orders[0], orders[1]);
}

// Runs that were stopped by an older version must go on with the same batches.
TEST_F(TrainingPlanTest, BatchesAreFunctionsOfSeedEpochAndNumberThatNeverChange) {
  for (const char* name : {"paper-venue", "author-disambiguation", "link:cites"}) {
    const auto task = open_named(**graph_, name);
    const TrainingPlan plan(*task, 5, 3);
    const uint64_t per_epoch = plan.batches_per_epoch();
    ASSERT_GT(per_epoch, 1U);
    const ShuffledOrder order(task->num_examples(Split::train), hash(3, 0x04de));
    for (const uint64_t i : {uint64_t{1}, 2 * per_epoch, 3 * per_epoch - 1}) {
      const uint64_t epoch = i / per_epoch;
      const uint64_t number = i % per_epoch;
      const uint64_t draw = hash(3, 0x5a3e, epoch, number);
      expect_equal(plan(i),
                   {.question = task->question(Split::train, order.batch(epoch, number, 5), draw),
                    .random_seed = draw});
    }
    EXPECT_NE(TrainingPlan(*task, 5, 4)(1).random_seed, plan(1).random_seed);
  }
}

// Times of the examples' nodes in the batches of an epoch, counted anew in each.
size_t times_met(const Task& task, const TrainingPlan& plan) {
  size_t met = 0;
  for (uint64_t i = 0; i < plan.batches_per_epoch(); ++i) {
    std::set<Time> times;
    for (const Seed& seed : plan(i).question.request.seeds) {
      if (seed.type == task.node_type()) times.insert(task.graph().time(seed.type, seed.node));
    }
    met += times.size();
  }
  return met;
}

TEST_F(TrainingPlanTest, ABatchHasExamplesOfFewTimesOnRequest) {
  for (const char* name : {"paper-venue", "author-disambiguation"}) {
    const auto task = open_named(**graph_, name);
    const auto count = static_cast<uint32_t>(task->num_examples(Split::train));
    std::set<Time> times;
    for (uint32_t i = 0; i < count; ++i) times.insert(task->example_time(Split::train, i));
    const uint64_t size = count / 3;
    const TrainingPlan any(*task, size, 3);
    const TrainingPlan few(*task, size, 3, 1);
    ASSERT_EQ(few.batches_per_epoch(), any.batches_per_epoch());
    const size_t cuts = few.batches_per_epoch() - 1;
    EXPECT_LE(times_met(*task, few), times.size() + cuts) << "a time is in two batches at most";
    EXPECT_GT(times_met(*task, any), times.size() + cuts) << name;
    for (uint64_t i = 0; i < any.batches_per_epoch(); ++i) {
      expect_equal(TrainingPlan(*task, size, 3, static_cast<uint32_t>(size))(i), any(i));
    }
  }
}

TEST_F(TrainingPlanTest, AStreamOfItHidesWhatIsAsked) {
  struct Batch {
    Question question = {};
    Subgraph subgraph = {};
  };
  const auto task = open_named(**graph_, "paper-venue");
  const TrainingPlan plan(*task, 8, 3);
  BatchStream<Batch> stream({.graph = **graph_,
                             .sampling = task->sampling({.width = 6, .depth = 2}, Split::train),
                             .range = {.count = 2 * plan.batches_per_epoch(), .workers = 2}},
                            plan);
  uint64_t i = 0;
  for (Batch batch; stream.next(batch); ++i) {
    const BatchPlan planned = plan(i);
    expect_equal({.question = batch.question, .random_seed = planned.random_seed}, planned);
    EXPECT_EQ(batch.question.num_examples(), batch.subgraph.seed_rows.size());
    std::set<NodeId> seeds;
    for (const Seed& seed : batch.question.request.seeds) seeds.insert(seed.node);
    for (const Relation relation : task->predicted()) {
      for (const auto& [source, target] :
           links_seen((*graph_)->schema(), batch.subgraph, relation)) {
        EXPECT_FALSE(seeds.contains(target)) << source << " -> " << target;
      }
    }
  }
  EXPECT_EQ(i, 2 * plan.batches_per_epoch());
}

}  // namespace
}  // namespace hgt
