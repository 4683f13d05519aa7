#include "hgt/training/questions.h"

#include <algorithm>

#include "hgt/random.h"
#include "hgt/training/example_stream.h"

namespace hgt {

namespace {

// Tells these draws from those of training.
constexpr uint64_t kQuestionStream = 0xe7a1;

SamplingOptions sampling_of_questions(const Task& task, Split split, const TrainOptions& options) {
  SamplingOptions sampling = task.sampling(options.sampling, split);
  if (options.validation.full) {
    sampling.strategy = Strategy::full;
    sampling.depth = static_cast<uint32_t>(options.model.layers);
  }
  return sampling;
}

}  // namespace

AskedSubgraphs ask(const TaskModel& model, const Task& task, const Questions& questions,
                   const TrainOptions& options, const UseScores& use,
                   const ProgressSink& progress) {
  const torch::NoGradGuard no_gradient;
  const uint64_t size = options.validation.batch_size;
  const uint32_t samples = options.validation.full ? 1 : options.validation.samples;
  const uint64_t subgraphs = (questions.count + size - 1) / size * samples;
  const auto plan = [&](uint64_t i) {
    const uint64_t first = i / samples * size;
    return BatchPlan{
        .question = questions.about(first, std::min<uint64_t>(size, questions.count - first)),
        .random_seed = hash(options.seed, kQuestionStream, questions.split, i)};
  };
  ExampleStream stream({.graph = task.graph(),
                        .sampling = sampling_of_questions(task, questions.split, options),
                        .encoder = model->encoder()},
                       plan, {.count = subgraphs, .workers = options.pipeline.workers});
  AskedSubgraphs asked;
  ReadyBatch batch;
  at::Tensor sum;
  for (uint64_t i = 0; stream.next(batch); ++i) {
    const at::Tensor scores = model->scores(batch.graph, batch.question);
    sum = i % samples == 0 ? scores : sum + scores;
    asked.edges += batch.subgraph.num_edges();
    if ((i + 1) % samples == 0) use(batch.question, sum / static_cast<double>(samples));
    progress({.stage = questions.stage,
              .unit = questions.unit,
              .count = std::min(questions.count, (i + 1) / samples * size),
              .fraction = static_cast<double>(i + 1) / static_cast<double>(subgraphs),
              .finished = i + 1 == subgraphs});
  }
  asked.seconds_waited = stream.seconds_waited();
  return asked;
}

}  // namespace hgt
