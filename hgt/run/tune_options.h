// How long and how carefully a search for good options goes on (docs/tuning.md).
#pragma once

#include <cstdint>
#include <string>

#include "hgt/options/option_table.h"
#include "hgt/run/halving.h"

namespace hgt {

struct TuneOptions {
  std::string space = {};   // a file (search_space.h); empty: the default space
  uint64_t trials = 0;      // 0: as many as the budget has time for
  std::string budget = {};  // of training trials, such as 30m; empty: no limit
  uint64_t rungs = 3;       // of successive halving
  uint64_t draws = 0;  // of the validation examples; 0: as many as they need to tell trials apart
  std::string metric = {};  // empty: the task's first

  friend bool operator==(const TuneOptions&, const TuneOptions&) = default;
};

// The options must outlive the table.
OptionTable tune_table(TuneOptions& options);

// Throws Error: neither trials nor a budget; a budget that is not a duration.
void check(const TuneOptions& options);
// In seconds; infinity: no limit. Throws Error: it is not a duration.
double budget_seconds(const TuneOptions& options);
Halving halving_of(const TuneOptions& options);

}  // namespace hgt
