#include "hgt/training/trained_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "hgt/error.h"
#include "hgt/training/trainer.h"

namespace hgt {

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

void TrainedModel::ask(const Questions& questions, const UseScores& use,
                       const ProgressSink& progress) const {
  TrainOptions as_evaluated = options();
  as_evaluated.validation = run_.scoring();
  hgt::ask(model_, task(), questions, as_evaluated, use, progress);
}

}  // namespace hgt
