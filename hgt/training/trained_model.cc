#include "hgt/training/trained_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "hgt/error.h"
#include "hgt/random.h"
#include "hgt/training/example_stream.h"
#include "hgt/training/trainer.h"

namespace hgt {

namespace {

constexpr uint64_t kAskStream = 0x94ed;

}  // namespace

TaskModel best_model(const Run& run, uint64_t seed) {
  const SeedFolder folder = run.files().seed(seed);
  if (!std::filesystem::exists(folder.best_file())) {
    throw Error(fmt::format(
        "{}: seed {} has no trained weights yet; train it with: hgt train --run {} --resume",
        run.folder().string(), seed, run.folder().string()));
  }
  return run.trainer(seed).best_model();
}

TrainedModel::TrainedModel(const Run& run)
    : run_(run), model_(best_model(run, run.options().training.seed)) {
  model_->eval();
}

void TrainedModel::ask(Split split, uint64_t batches,
                       const std::function<Question(uint64_t i)>& question, const Use& use) const {
  const torch::NoGradGuard no_gradient;
  ExampleStream stream({.graph = graph(),
                        .sampling = task().sampling(options().sampling, split),
                        .encoder = encoder()},
                       [&](uint64_t i) {
                         return BatchPlan{.question = question(i),
                                          .random_seed = hash(options().seed, kAskStream, i)};
                       },
                       {.count = batches, .workers = options().pipeline.workers});
  for (ReadyBatch batch; stream.next(batch);) {
    use(batch.question, model_->scores(batch.graph, batch.question).contiguous());
  }
}

}  // namespace hgt
