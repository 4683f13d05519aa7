#include "hgt/insight/batch_balance.h"

#include <algorithm>

#include "hgt/random.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/uniform_choice.h"

namespace hgt {

namespace {

constexpr uint64_t kBalanceStream = 0xba1a;

void count(const Subgraph& subgraph, BatchBalance& sums) {
  for (size_t type = 0; type < sums.nodes.size(); ++type) {
    sums.nodes[type] += subgraph.num_rows(NodeType(type));
  }
  for (const Relation relation : subgraph.relations) {
    if (index(relation) < sums.edges.size()) sums.edges[index(relation)] += 1;
  }
}

}  // namespace

BatchBalance mean_balance(const Run& run, uint64_t batches, const ProgressSink& progress) {
  const Task& task = run.task();
  const Schema& schema = task.graph().schema();
  const TrainOptions& options = run.options().training;
  Sampler sampler(task.graph(), task.sampling(options.sampling, Split::train));
  BatchBalance result{.batches = batches,
                      .nodes = std::vector<double>(schema.node_types().size(), 0),
                      .edges = std::vector<double>(schema.relations().size(), 0)};
  const uint64_t examples = task.num_examples(Split::train);
  Subgraph subgraph;
  for (uint64_t i = 0; i < batches; ++i) {
    const uint64_t seed = hash(options.seed, kBalanceStream, i);
    Draws draws(seed);
    std::vector<uint32_t> numbers;
    UniformChoice().choose(examples, std::min<uint64_t>(options.batch_size, examples), draws,
                           [&](uint64_t k) { numbers.push_back(static_cast<uint32_t>(k)); });
    sampler.sample(task.question(Split::train, numbers, seed).request, seed, subgraph);
    count(subgraph, result);
    progress({.stage = "batches",
              .unit = "batches",
              .count = i + 1,
              .fraction = static_cast<double>(i + 1) / static_cast<double>(batches),
              .finished = i + 1 == batches});
  }
  for (double& sum : result.nodes) sum /= static_cast<double>(std::max<uint64_t>(1, batches));
  for (double& sum : result.edges) sum /= static_cast<double>(std::max<uint64_t>(1, batches));
  return result;
}

}  // namespace hgt
