// Which classes a model confuses with which.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hgt/progress.h"
#include "hgt/training/run.h"

namespace hgt {

struct ConfusionOptions {
  uint64_t examples = 2000;  // of the split, at most
  uint64_t classes = 12;     // those with most examples; what is left is one more, "others"
};

struct Confusion {
  uint64_t examples = 0;
  std::vector<std::string> classes = {};           // names
  std::vector<std::vector<uint64_t>> counts = {};  // [truth][most likely class]
};

// With the weights of the first seed. An example with several right classes counts for the one that
// was predicted if that is right, else for the first. No value: the task has no classes.
std::optional<Confusion> count_confusion(const Run& run, Split split,
                                         const ConfusionOptions& options,
                                         const ProgressSink& progress = no_progress);

// The counting alone: truth[i] is not empty. `name(number)` is asked for the classes shown.
struct ClassAnswer {
  std::vector<uint32_t> truth;
  uint32_t predicted = 0;
};
Confusion count_confusion(const std::vector<ClassAnswer>& answers, uint64_t classes,
                          const std::function<std::string(uint32_t)>& name);

}  // namespace hgt
