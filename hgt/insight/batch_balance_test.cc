// mean_balance against sub-graphs that the tests count themselves.
#include "hgt/insight/batch_balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "hgt/insight/insight_test_runs.h"
#include "hgt/random.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/uniform_choice.h"

namespace hgt {
namespace {

constexpr uint64_t kStream = 0xba1a;  // of the draws

struct Counts {
  std::vector<double> nodes;
  std::vector<double> edges;
};

void add(const Subgraph& subgraph, Counts& sums) {
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    sums.nodes[index(subgraph.type_of(row))] += 1;
    for (const uint64_t edge : subgraph.incoming(row)) {
      if (subgraph.positions[edge] == kSelfEdge) continue;
      sums.edges[index(subgraph.relations[edge])] += 1;
    }
  }
}

Counts plain_balance(const hgt::Run& run, uint64_t batches) {
  const Task& task = run.task();
  Sampler sampler(task.graph(), task.sampling(run.options().training.sampling, Split::train));
  Counts sums{std::vector<double>(task.graph().schema().node_types().size()),
              std::vector<double>(task.graph().schema().relations().size())};
  for (uint64_t i = 0; i < batches; ++i) {
    const uint64_t seed = hash(run.options().training.seed, kStream, i);
    Draws draws(seed);
    std::vector<uint32_t> numbers;
    UniformChoice().choose(task.num_examples(Split::train), run.options().training.batch_size,
                           draws, [&](uint64_t k) { numbers.push_back(static_cast<uint32_t>(k)); });
    Subgraph subgraph;
    sampler.sample(task.question(Split::train, numbers, seed).request, seed, subgraph);
    add(subgraph, sums);
  }
  for (double& sum : sums.nodes) sum /= static_cast<double>(batches);
  for (double& sum : sums.edges) sum /= static_cast<double>(batches);
  return sums;
}

TEST(BatchBalance, IsTheMeanOfWhatBatchesHold) {
  for (const char* task : {"paper-venue", "author-disambiguation"}) {
    const hgt::Run& run = tiny_run({.task = task});
    std::vector<Progress> steps;
    const BatchBalance means =
        mean_balance(run, 4, [&](const Progress& progress) { steps.push_back(progress); });
    const Counts expected = plain_balance(run, 4);
    EXPECT_EQ(means.batches, 4U);
    EXPECT_EQ(means.nodes, expected.nodes);
    EXPECT_EQ(means.edges, expected.edges);
    EXPECT_GT(*std::min_element(means.nodes.begin(), means.nodes.end()), 0);
    ASSERT_EQ(steps.size(), 4U);
    EXPECT_TRUE(steps[3].finished);
    EXPECT_EQ(steps[1].fraction, 0.5);
  }
}

// No randomness is left: a batch of all examples with all their neighbors.
TEST(BatchBalance, IsThatOfAllExamplesWhereABatchHoldsThem) {
  TestFolder folder;
  RunOptions options = tiny_options({.full = true});
  options.training.batch_size = 100000;
  const hgt::Run run = hgt::Run::create(folder / "run", options);
  const Task& task = run.task();
  std::vector<uint32_t> examples(task.num_examples(Split::train));
  std::iota(examples.begin(), examples.end(), 0U);
  Subgraph subgraph;
  Sampler(task.graph(), task.sampling(run.options().training.sampling, Split::train))
      .sample(task.question(Split::train, examples, 1).request, 1, subgraph);
  Counts expected{std::vector<double>(task.graph().schema().node_types().size()),
                  std::vector<double>(task.graph().schema().relations().size())};
  add(subgraph, expected);
  const BatchBalance means = mean_balance(run, 2);  // training is not needed
  EXPECT_EQ(means.nodes, expected.nodes);
  EXPECT_EQ(means.edges, expected.edges);
}

TEST(BatchBalance, OfNoBatchesIsNothing) {
  const BatchBalance means = mean_balance(tiny_run(), 0);
  EXPECT_EQ(means.batches, 0U);
  for (const double mean : means.nodes) EXPECT_EQ(mean, 0);
}

}  // namespace
}  // namespace hgt
