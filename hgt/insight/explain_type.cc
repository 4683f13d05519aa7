// explain_type: the trees of many targets of one type.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/insight/attended_batch.h"
#include "hgt/random.h"
#include "hgt/training/example_stream.h"

namespace hgt {

namespace {

// Tell the draws of explanations from others: of targets, and of their sub-graphs.
constexpr uint64_t kTargetStream = 0xe9a1;
constexpr uint64_t kTreeStream = 0x73ee;

// Which targets there are, in batches.
struct TargetBatches {
  Hiding hiding = Hiding::task;
  uint64_t targets = 0;
  std::function<Question(uint64_t first, uint64_t count)> question;
};

// Examples of the split, drawn.
TargetBatches drawn_examples(const Task& task, Split split, uint64_t limit, uint64_t seed) {
  const uint64_t count = task.num_examples(split);
  const Permutation order(count, hash(seed, kTargetStream, split));
  return {.targets = std::min(limit, count),
          .question = [&task, split, order](uint64_t first, uint64_t size) {
            std::vector<uint32_t> numbers;
            for (uint64_t i = first; i < first + size; ++i) {
              numbers.push_back(static_cast<uint32_t>(order(i)));
            }
            return task.question(split, numbers, Task::kNoDraw);
          }};
}

// Nodes of a type that the task does not ask about, drawn among those that may be seen.
TargetBatches drawn_nodes(const Task& task, NodeType type, const ExplainOptions& options,
                          uint64_t seed) {
  const HeteroGraph& graph = task.graph();
  const Time last = last_visible_time(task, options.split);
  const uint64_t limit = options.batches * options.batch_size;
  const uint64_t nodes = graph.num_nodes(type);
  const Permutation order(nodes, hash(seed, kTargetStream, index(type)));
  std::vector<Seed> seeds;
  for (uint64_t i = 0; i < nodes && seeds.size() < limit; ++i) {
    const auto node = static_cast<NodeId>(order(i));
    if (graph.time(type, node) > last) continue;
    seeds.push_back(visible_seed(graph, type, node, last));
  }
  if (seeds.empty()) {
    const Schema& schema = graph.schema();
    throw Error(fmt::format(
        "there is no node of type {}{}; choose another --type", schema.at(type).name,
        nodes == 0 ? "" : fmt::format(" up to {}", format_time(last, schema.time_unit))));
  }
  const uint64_t count = seeds.size();
  return {.hiding = Hiding::left_out,
          .targets = count,
          .question = [seeds = std::move(seeds)](uint64_t first, uint64_t size) {
            Question question;
            const auto from = seeds.begin() + static_cast<ptrdiff_t>(first);
            question.request.seeds.assign(from, from + static_cast<ptrdiff_t>(size));
            return question;
          }};
}

// Questions about pairs have seeds of two types.
std::vector<uint32_t> rows_of_type(const AttendedBatch& batch, const Question& question,
                                   NodeType type) {
  std::vector<uint32_t> rows;
  for (size_t i = 0; i < question.request.seeds.size(); ++i) {
    if (question.request.seeds[i].type == type) rows.push_back(batch.seed_rows()[i]);
  }
  return rows;
}

}  // namespace

AttentionTrees explain_type(const Run& run, const ExplainOptions& options,
                            const ProgressSink& progress) {
  const Task& task = run.task();
  const uint64_t seed = run.options().training.seed;
  const NodeType type = options.type.value_or(task.node_type());
  require_attention(run);
  if (options.batches == 0 || options.batch_size == 0) {
    throw Error(
        fmt::format("--batches {} with --batch-size {} leaves no examples; both must be above 0",
                    options.batches, options.batch_size));
  }
  const uint32_t length = path_length(run, options, type);
  AttentionFlow flow(type, length);
  AttentionMeans means(task.graph().schema(), type, length);
  const TrainedModel trained(run);
  const uint64_t size = options.batch_size;
  const TargetBatches batches =
      type == task.node_type() ? drawn_examples(task, options.split, options.batches * size, seed)
                               : drawn_nodes(task, type, options, seed);
  ExampleStream stream({.graph = task.graph(),
                        .sampling = explained_sampling(run, options.split, batches.hiding),
                        .encoder = trained.encoder(),
                        .layers = explained_layers(run, type)},
                       [&](uint64_t i) {
                         const uint64_t count = std::min(size, batches.targets - i * size);
                         return BatchPlan{.question = batches.question(i * size, count),
                                          .random_seed = hash(seed, kTreeStream, i)};
                       },
                       {.count = (batches.targets + size - 1) / size,
                        .workers = run.options().training.pipeline.workers});
  uint64_t done = 0;
  for (ReadyBatch batch; stream.next(batch);) {
    const AttendedBatch attended(trained.model(), batch.graph);
    const std::vector<uint32_t> rows = rows_of_type(attended, batch.question, type);
    flow.add(attended.layers(), rows);
    means.add(attended.layers(), rows.size());
    done = std::min(done + size, batches.targets);
    progress({.stage = fmt::format("attention of {}", task.graph().schema().at(type).name),
              .unit = "examples",
              .count = done,
              .fraction = static_cast<double>(done) / static_cast<double>(batches.targets),
              .finished = done == batches.targets});
  }
  return {.shares = flow.tree(), .means = means.tree()};
}

}  // namespace hgt
