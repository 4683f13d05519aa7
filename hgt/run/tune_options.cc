#include "hgt/run/tune_options.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "hgt/error.h"

namespace hgt {

namespace {

std::optional<double> seconds_of_unit(std::string_view unit) {
  if (unit == "s") return 1;
  if (unit == "m") return 60;
  if (unit == "h") return 3600;
  return std::nullopt;
}

}  // namespace

OptionTable tune_table(TuneOptions& options) {
  OptionTable table;
  table.begin_group("tuning");
  table
      .add("space", options.space,
           "File that says which options are searched and what they may be (empty = the default "
           "space, docs/tuning.md)")
      .everyday();
  table
      .add("trials", options.trials, {0, 1e6},
           "Number of trials (0 = as many as --budget has time for)")
      .everyday();
  table
      .add("budget", options.budget,
           "Time for training trials, such as 30m, 2h or 90s (empty = no limit)")
      .everyday();
  table.add("rungs", options.rungs, {1, 10},
            "Steps of successive halving: each trains a third of the trials of the one before, "
            "three times as long");
  table.add("draws", options.draws, {0, 1000},
            "Draws of the validation examples on which trials of the last rung are scored, fewer "
            "on the rungs before (0 = as many as give 1000 examples together, at most 5)");
  table.add("metric", options.metric,
            "Validation score that decides: a metric of the task, or loss (empty = the task's "
            "first metric)");
  return table;
}

void check(const TuneOptions& options) {
  if (options.trials == 0 && options.budget.empty()) {
    throw Error("the search would never end; give --budget, such as 30m, or --trials");
  }
  budget_seconds(options);
  if (options.rungs == 0) throw Error("rungs is 0; it must be at least 1");
}

double budget_seconds(const TuneOptions& options) {
  const std::string& text = options.budget;
  if (text.empty()) return std::numeric_limits<double>::infinity();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto unit = seconds_of_unit(std::string_view(end, text.data() + text.size()));
  constexpr double kMost = 1e9;
  if (error == std::errc{} && unit && number > 0 && number * *unit <= kMost) return number * *unit;
  throw Error(
      fmt::format("the budget is '{}'; give a number and its unit, such as 90s, 30m or 2h", text));
}

Halving halving_of(const TuneOptions& options) {
  Halving halving{.trials = options.trials, .rungs = options.rungs, .draws = options.draws};
  if (options.trials > 0) return halving;
  halving.endless = true;
  halving.trials = 1;  // as many as leave one for the last rung
  for (uint64_t rung = 1; rung < options.rungs; ++rung) halving.trials *= Halving::kFactor;
  return halving;
}

}  // namespace hgt
