// What a search looks through: options of a run (run_options.h) with the values that they may have.
//
//   const SearchSpace space = read_space("space.toml");
//   const Trial trial = draw_trial(space, options, schema, seed, 7);
//   trial.options.training.model.hidden ...
//
// Trial i is a function of the space, the options that it does not name, the seed and i: it does
// not depend on which trials were drawn before. Everything drawn fits together by construction: a
// hidden size is a multiple of the number of heads, a fan-out is only drawn where neighbors are.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/options/option_table.h"
#include "hgt/run/run_options.h"

namespace hgt {

// An option and what it may be.
struct Dimension {
  std::string key = {};
  std::vector<OptionTable::Values> choices = {};  // each as likely as the others; none: a range
  double low = 0;
  double high = 0;
  bool log = false;    // its logarithm is uniform
  bool whole = false;  // whole numbers only

  friend bool operator==(const Dimension&, const Dimension&) = default;
};

struct SearchSpace {
  std::vector<Dimension> dimensions = {};

  const Dimension* find(const std::string& key) const;  // nullptr: the option is not searched
  friend bool operator==(const SearchSpace&, const SearchSpace&) = default;
};

// A TOML file of lists and ranges, by the names of options (docs/tuning.md). Throws Error with file
// and line: an option that is unknown or must be the same for all trials, a value that it cannot
// have.
SearchSpace read_space(const Path& file);
std::string to_toml(const SearchSpace& space);  // read_space gives back the same

// What is worth trying for the model of the options, on so many training examples: without options
// that it does not have.
SearchSpace default_space(const RunOptions& options, uint64_t training_examples);
// The space without some options, which then stay as they are given.
SearchSpace without(SearchSpace space, const std::vector<std::string>& keys);

struct Trial {
  RunOptions options = {};
  // What was drawn, by option, in the order of the space: those without effect are left out.
  std::vector<std::pair<std::string, std::string>> drawn = {};
};

// Throws Error: nothing in the space fits, or makes sense together.
Trial draw_trial(const SearchSpace& space, const RunOptions& options, const Schema& schema,
                 uint64_t seed, uint64_t number);

}  // namespace hgt
