#include "hgt/task/known_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "hgt/error.h"

namespace hgt {

HeteroGraph with_training_labels(const Task& task) {
  if (task.answers() != Answers::classes) {
    throw Error(fmt::format("label-inputs: task {} compares pairs and has no labels; leave it out",
                            task.spec().name));
  }
  if (task.num_classes() > kMostKnownClasses) {
    throw Error(
        fmt::format("label-inputs: task {} has {} classes; labels of at most {} can be "
                    "inputs, so leave it out",
                    task.spec().name, task.num_classes(), kMostKnownClasses));
  }
  std::vector<uint32_t> examples(task.num_examples(Split::train));
  std::iota(examples.begin(), examples.end(), 0U);
  const Question question = task.question(Split::train, examples, Task::kNoDraw);
  KnownLabels labels{.type = task.node_type(), .classes = task.num_classes()};
  labels.offsets.assign(task.graph().num_nodes(labels.type) + 1, 0);
  for (size_t i = 0; i < examples.size(); ++i) {
    const NodeId node = question.request.seeds[i].node;
    labels.offsets[node + size_t{1}] = question.answer_offsets[i + 1] - question.answer_offsets[i];
  }
  std::partial_sum(labels.offsets.begin(), labels.offsets.end(), labels.offsets.begin());
  labels.entries.resize(labels.offsets.back());
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto first = question.answers.begin() + question.answer_offsets[i];
    const auto last = question.answers.begin() + question.answer_offsets[i + 1];
    const NodeId node = question.request.seeds[i].node;
    std::copy(first, last, labels.entries.begin() + static_cast<ptrdiff_t>(labels.offsets[node]));
  }
  return task.graph().with_known_labels(std::move(labels));
}

}  // namespace hgt
