// Where a score means nothing, or less than it seems to.
//
//   for (const Warning& warning : find_warnings(*task, options.training)) show(warning.text);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hgt/enum_words.h"
#include "hgt/run/train_options.h"
#include "hgt/task/task.h"

namespace hgt {

enum class WarningKind {
  one_class,          // all examples of a split have the same
  class_per_example,  // a label has nearly as many classes as there are examples
  no_edges,           // nothing but their own features is seen of the examples
  few_examples,       // scores are mostly chance
  own_vectors,        // what is learned of an example's node says nothing of others
  one_vector,         // nodes of a type cannot be told apart
  capped_candidates,  // examples are compared with fewer candidates than they have
  equal_scores,       // all examples got the same
};
constexpr auto words_of(WarningKind) {
  return enum_words<WarningKind>("kind of warning",
                                 {{WarningKind::one_class, "one_class"},
                                  {WarningKind::class_per_example, "class_per_example"},
                                  {WarningKind::no_edges, "no_edges"},
                                  {WarningKind::few_examples, "few_examples"},
                                  {WarningKind::own_vectors, "own_vectors"},
                                  {WarningKind::one_vector, "one_vector"},
                                  {WarningKind::capped_candidates, "capped_candidates"},
                                  {WarningKind::equal_scores, "equal_scores"}});
}

struct Warning {
  WarningKind kind{};
  std::string text;  // one line: what is wrong and what to do
  friend bool operator==(const Warning&, const Warning&) = default;
};

// A split that was scored.
struct ScoredSplit {
  Split split = Split::none;
  uint64_t examples = 0;
  bool equal_scores = false;  // Evaluation::equal_scores, of any seed
};

// In the order of the kinds. Of a run that is to be trained: training and validation examples; of
// one that was scored: training examples and those.
std::vector<Warning> find_warnings(const Task& task, const TrainOptions& options,
                                   const std::optional<ScoredSplit>& scored = {});

}  // namespace hgt
