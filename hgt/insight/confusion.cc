#include "hgt/insight/confusion.h"

#include <algorithm>
#include <map>

#include "hgt/training/evaluation.h"
#include "hgt/training/trained_model.h"

namespace hgt {

namespace {

uint32_t counted_truth(const ClassAnswer& answer) {
  const auto& truth = answer.truth;
  const bool right = std::find(truth.begin(), truth.end(), answer.predicted) != truth.end();
  return right ? answer.predicted : truth.front();
}

}  // namespace

Confusion count_confusion(const std::vector<ClassAnswer>& answers, uint64_t classes,
                          const std::function<std::string(uint32_t)>& name) {
  std::map<uint32_t, uint64_t> sizes;
  for (const ClassAnswer& answer : answers) {
    ++sizes[counted_truth(answer)];
    sizes.try_emplace(answer.predicted, 0);
  }
  std::vector<uint32_t> order;
  for (const auto& [number, unused] : sizes) order.push_back(number);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return sizes[a] > sizes[b]; });
  const bool others = order.size() > classes;
  if (others) order.resize(classes);
  std::map<uint32_t, size_t> place;
  Confusion result{.examples = answers.size()};
  for (const uint32_t number : order) {
    place.emplace(number, place.size());
    result.classes.push_back(name(number));
  }
  if (others) result.classes.emplace_back("others");
  const size_t count = result.classes.size();
  result.counts.assign(count, std::vector<uint64_t>(count, 0));
  const auto place_of = [&](uint32_t number) {
    const auto found = place.find(number);
    return found != place.end() ? found->second : count - 1;
  };
  for (const ClassAnswer& answer : answers) {
    ++result.counts[place_of(counted_truth(answer))][place_of(answer.predicted)];
  }
  return result;
}

std::optional<Confusion> count_confusion(const Run& run, Split split,
                                         const ConfusionOptions& options,
                                         const ProgressSink& progress) {
  const Task& task = run.task();
  if (task.answers() == Answers::pairs) return std::nullopt;
  TaskModel model = best_model(run, run.options().training.seed);
  TrainOptions how = run.options().training;
  how.validation = {.limit = options.examples};
  const Evaluation evaluation = evaluate(model, task, split, how, progress);
  const Question question = task.question(split, evaluation.numbers, Task::kNoDraw);
  std::vector<ClassAnswer> answers(evaluation.examples);
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto first = question.answers.begin() + question.answer_offsets[i];
    const auto last = question.answers.begin() + question.answer_offsets[i + 1];
    answers[i] = {.truth = {first, last}, .predicted = evaluation.best_classes[i]};
  }
  return count_confusion(answers, options.classes, [&](uint32_t number) {
    const std::string class_name = task.class_name(number);
    return class_name.empty() ? task.class_id(number) : class_name;
  });
}

}  // namespace hgt
