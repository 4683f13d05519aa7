#include "hgt/training/evaluation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <string_view>

#include "hgt/error.h"
#include "hgt/random.h"
#include "hgt/sampling/uniform_choice.h"
#include "hgt/training/questions.h"

namespace hgt {

namespace {

constexpr uint64_t kLimitStream = 0x117;

// The same for all seeds, so that runs can be compared example by example.
std::vector<uint32_t> chosen_examples(const Task& task, Split split, uint64_t limit) {
  const uint64_t count = task.num_examples(split);
  std::vector<uint32_t> numbers;
  if (limit == 0 || limit >= count) {
    numbers.resize(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
  }
  Draws draws(hash(kLimitStream, split));
  UniformChoice().choose(count, limit, draws,
                         [&](uint64_t i) { numbers.push_back(static_cast<uint32_t>(i)); });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Means over the examples, by name.
constexpr std::array<std::pair<std::string_view, double Ranking::*>, 7> kRankingMetrics = {
    {{"ndcg", &Ranking::ndcg},
     {"mrr", &Ranking::reciprocal_rank},
     {"accuracy", &Ranking::hits_1},
     {"hits@1", &Ranking::hits_1},
     {"hits@3", &Ranking::hits_3},
     {"hits@10", &Ranking::hits_10},
     {"ndcg_release", &Ranking::ndcg_release}}};

// Gathers what the examples' scores amount to.
class Tally {
 public:
  Tally(const Task& task, std::optional<float> threshold, Evaluation& result)
      : task_(task),
        result_(result),
        threshold_(threshold),
        metrics_(task.metrics()),
        counts_classes_(wants("micro_f1") || wants("macro_f1")),
        counts_(task.num_classes()) {}

  void add(const at::Tensor& scores, const Question& question) {
    const auto loss = task_loss(scores, question, task_.spec().loss).item<double>();
    if (!std::isfinite(loss)) {
      throw Diverged(fmt::format("the model's scores of {} examples {} to {} are not finite",
                                 to_string(result_.split), asked_ + 1,
                                 asked_ + question.num_examples()));
    }
    const size_t before = ranked_.size();
    const at::Tensor values = scores.contiguous();
    const float* data = values.data_ptr<float>();
    if (task_.answers() == Answers::classes) {
      add_classes(data, question);
    } else {
      add_pairs({data, static_cast<size_t>(values.numel())}, question);
    }
    note_scores({data, static_cast<size_t>(values.numel())});
    loss_ += loss * static_cast<double>(ranked_.size() - before);
    asked_ += question.num_examples();
  }

  void finish() {
    if (ranked_.empty()) {
      throw Error(
          fmt::format("no {} example can be scored: their nodes are linked to all candidates that "
                      "were drawn; raise --test-negatives",
                      to_string(result_.split)));
    }
    result_.examples = ranked_.size();
    result_.left_out = asked_ - ranked_.size();
    result_.numbers = std::move(ranked_);
    result_.equal_scores = result_.examples > 1 && equal_scores_;
    result_.loss = loss_ / static_cast<double>(result_.rankings.size());
    count_kept();
    for (const std::string& name : metrics_) result_.metrics.emplace_back(name, value_of(name));
  }

 private:
  bool wants(std::string_view metric) const {
    return std::find(metrics_.begin(), metrics_.end(), metric) != metrics_.end();
  }

  double value_of(const std::string& metric) const {
    for (const auto& [name, part] : kRankingMetrics) {
      if (name == metric) return mean(part);
    }
    if (metric == "micro_f1") return counts_.micro_f1();
    if (metric == "macro_f1") return counts_.macro_f1();
    if (metric == "auc") {
      return area_under_curve(pair_scores_, pair_relevant_).value();  // all have negatives
    }
    throw Error(fmt::format("task {} asks for an unknown metric '{}'", task_.spec().name, metric));
  }

  double mean(double Ranking::*part) const {
    double sum = 0;
    for (const Ranking& ranking : result_.rankings) sum += ranking.*part;
    return sum / static_cast<double>(result_.rankings.size());
  }

  // Whether they are those of the very first example, or the very first pair, again and again.
  void note_scores(std::span<const float> scores) {
    const size_t length = task_.answers() == Answers::classes ? task_.num_classes() : 1;
    if (first_scores_.empty() && !scores.empty()) {
      first_scores_.assign(scores.begin(), scores.begin() + static_cast<ptrdiff_t>(length));
    }
    for (size_t i = 0; equal_scores_ && i < scores.size(); ++i) {
      equal_scores_ = scores[i] == first_scores_[i % length];
    }
  }

  // `example` counts from the start of the question at hand.
  void add_ranking(uint64_t example, const Ranking& ranking) {
    result_.rankings.push_back(ranking);
    ranked_.push_back(result_.numbers[asked_ + example]);
  }

  void add_classes(const float* data, const Question& question) {
    const uint32_t classes = task_.num_classes();
    relevant_.assign(classes, 0);
    for (uint64_t example = 0; example < question.num_examples(); ++example) {
      const std::span scores(data + example * classes, classes);
      const std::span truth =
          std::span(question.answers)
              .subspan(question.answer_offsets[example],
                       question.answer_offsets[example + 1] - question.answer_offsets[example]);
      for (const uint32_t number : truth) relevant_[number] = 1;
      add_ranking(example, rank(scores, relevant_).value_or(Ranking{}));
      if (counts_classes_) count_classes(scores, truth);
      for (const uint32_t number : truth) relevant_[number] = 0;
      result_.best_classes.push_back(best_class(scores));
    }
  }

  // Without a threshold, all scores are needed to choose one.
  void count_classes(std::span<const float> scores, std::span<const uint32_t> truth) {
    if (task_.spec().loss != Loss::binary) {
      counts_.add(truth, std::array{best_class(scores)});
    } else if (threshold_) {
      counts_.add(truth, classes_above(*threshold_, scores));
    } else {
      kept_scores_.insert(kept_scores_.end(), scores.begin(), scores.end());
      kept_relevant_.insert(kept_relevant_.end(), relevant_.begin(), relevant_.end());
    }
  }

  void count_kept() {
    if (!threshold_) threshold_ = best_threshold(kept_scores_, kept_relevant_);
    result_.threshold = *threshold_;
    const size_t classes = task_.num_classes();
    for (size_t at = 0; at < kept_scores_.size(); at += classes) {
      const auto relevant = std::span(kept_relevant_).subspan(at, classes);
      std::vector<uint32_t> truth;
      for (uint32_t i = 0; i < classes; ++i) {
        if (relevant[i] != 0) truth.push_back(i);
      }
      counts_.add(truth, classes_above(*threshold_, std::span(kept_scores_).subspan(at, classes)));
    }
  }

  static uint32_t best_class(std::span<const float> scores) {
    return static_cast<uint32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  }

  static std::vector<uint32_t> classes_above(float threshold, std::span<const float> scores) {
    std::vector<uint32_t> classes;
    for (uint32_t i = 0; i < scores.size(); ++i) {
      if (scores[i] > threshold) classes.push_back(i);
    }
    return classes;
  }

  void add_pairs(std::span<const float> scores, const Question& question) {
    for (uint64_t example = 0; example < question.num_examples(); ++example) {
      const uint32_t first = question.pair_offsets[example];
      const uint32_t count = question.pair_offsets[example + 1] - first;
      if (count == 0) continue;
      add_ranking(example, rank(scores.subspan(first, count),
                                std::span(question.relevant).subspan(first, count))
                               .value_or(Ranking{}));
    }
    if (!wants("auc")) return;
    pair_scores_.insert(pair_scores_.end(), scores.begin(), scores.end());
    pair_relevant_.insert(pair_relevant_.end(), question.relevant.begin(), question.relevant.end());
  }

  const Task& task_;
  Evaluation& result_;
  std::optional<float> threshold_;
  std::vector<std::string> metrics_;
  bool counts_classes_;
  ClassCounts counts_;
  double loss_ = 0;
  uint64_t asked_ = 0;            // examples before those of the question at hand
  std::vector<uint32_t> ranked_;  // their numbers in the task
  std::vector<uint8_t> relevant_;
  std::vector<float> first_scores_;
  bool equal_scores_ = true;
  std::vector<float> pair_scores_;
  std::vector<uint8_t> pair_relevant_;
  std::vector<float> kept_scores_;  // [examples, classes], for a threshold
  std::vector<uint8_t> kept_relevant_;
};

// Puts the model out of training mode for a while.
class Scoring {
 public:
  explicit Scoring(TaskModel& model) : model_(model), was_training_(model->is_training()) {
    model_->eval();
  }
  Scoring(const Scoring&) = delete;
  Scoring& operator=(const Scoring&) = delete;
  ~Scoring() { model_->train(was_training_); }

 private:
  TaskModel& model_;
  bool was_training_;
};

}  // namespace

double Evaluation::metric(const std::string& name) const {
  std::vector<std::string> known;
  for (const auto& [key, value] : metrics) {
    if (key == name) return value;
    known.push_back(key);
  }
  throw Error(
      fmt::format("there is no metric '{}'; the metrics are {}", name, fmt::join(known, ", ")));
}

Evaluation evaluate(TaskModel& model, const Task& task, Split split, const TrainOptions& options,
                    const ProgressSink& progress, std::optional<float> threshold) {
  const auto start = std::chrono::steady_clock::now();
  const Scoring scoring(model);
  Evaluation result{.split = split};
  result.numbers = chosen_examples(task, split, options.validation.limit);
  const auto about = [&](uint64_t first, uint64_t count) {
    return task.question(split, std::span(result.numbers).subspan(first, count), Task::kNoDraw);
  };
  Tally tally(task, threshold, result);
  const AskedSubgraphs asked = ask(
      model, task,
      {.stage = fmt::format("scoring {}", to_string(split)),
       .unit = "examples",
       .split = split,
       .count = result.numbers.size(),
       .about = about},
      options,
      [&](const Question& question, const at::Tensor& scores) { tally.add(scores, question); },
      progress);
  tally.finish();
  result.edges = asked.edges;
  result.seconds_waited = asked.seconds_waited;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace hgt
