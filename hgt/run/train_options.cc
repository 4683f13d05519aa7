#include "hgt/run/train_options.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "hgt/error.h"

namespace hgt {

void check(const TrainOptions& options) {
  check(options.model);
  const auto require = [](bool good, const char* name, auto value, const char* remedy) {
    if (!good) throw Error(fmt::format("{} is {}; {}", name, value, remedy));
  };
  require(options.batch_size > 0, "batch-size", options.batch_size, "it must be at least 1");
  require(options.epochs > 0 || options.batches > 0, "epochs", options.epochs,
          "it must be at least 1, or batches must be given");
  require(options.learning_rate > 0, "learning-rate", options.learning_rate,
          "it must be greater than 0");
  require(options.final_learning_rate >= 0 && options.final_learning_rate <= options.learning_rate,
          "final-learning-rate", options.final_learning_rate,
          "it must be between 0 and the learning rate");
  require(options.weight_decay >= 0, "weight-decay", options.weight_decay, "it must be 0 or more");
  require(options.clip >= 0, "clip", options.clip, "it must be 0 or more");
  require(options.average_weights >= 0 && options.average_weights < 1, "average-weights",
          options.average_weights, "it must be at least 0 and below 1");
  require(options.slices > 0, "slices", options.slices, "it must be at least 1");
  require(options.validation.batch_size > 0, "validation-batch-size", options.validation.batch_size,
          "it must be at least 1");
  require(options.validation.samples > 0, "validation-samples", options.validation.samples,
          "it must be at least 1");
}

double learning_rate(const TrainOptions& options, uint64_t step, uint64_t steps) {
  if (step < options.warmup) {
    return options.learning_rate * static_cast<double>(step + 1) /
           static_cast<double>(options.warmup);
  }
  const uint64_t left = steps > options.warmup ? steps - options.warmup : 1;
  const double done = static_cast<double>(step - options.warmup) / static_cast<double>(left);
  const double share = 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, done)));
  return options.final_learning_rate +
         share * (options.learning_rate - options.final_learning_rate);
}

}  // namespace hgt
