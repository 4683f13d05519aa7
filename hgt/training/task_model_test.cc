// The losses of tasks against plain loops, and the models that tasks put on top of an encoder.
#include "hgt/training/task_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "hgt/message/model_schema.h"
#include "hgt/model/torch.h"
#include "hgt/random.h"
#include "hgt/sampling/sampler.h"
#include "hgt/training/trainer.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

using Numbers = std::vector<double>;
using PlainLoss = std::function<double(const Numbers& scores, const Question& question)>;

// --- losses one number at a time ---

constexpr size_t kClasses = 4;

Question class_question(const std::vector<std::vector<uint32_t>>& answers) {
  Question question;
  question.answer_offsets = {0};
  for (const auto& some : answers) {
    question.answers.insert(question.answers.end(), some.begin(), some.end());
    question.answer_offsets.push_back(static_cast<uint32_t>(question.answers.size()));
  }
  return question;
}

Question pair_question(const std::vector<std::vector<uint8_t>>& groups) {
  Question question;
  question.pair_offsets = {0};
  for (const auto& group : groups) {
    question.relevant.insert(question.relevant.end(), group.begin(), group.end());
    question.pair_offsets.push_back(static_cast<uint32_t>(question.relevant.size()));
  }
  return question;
}

double log_of_sum(const Numbers& scores, size_t first, size_t count) {
  double sum = 0;
  for (size_t i = first; i < first + count; ++i) sum += std::exp(scores[i]);
  return std::log(sum);
}

double yes_or_no(double score, bool yes) {
  const double chance = 1 / (1 + std::exp(-score));
  return -std::log(yes ? chance : 1 - chance);
}

double plain_class_softmax(const Numbers& scores, const Question& question) {
  double sum = 0;
  for (size_t example = 0; example < question.num_examples(); ++example) {
    const uint32_t first = question.answer_offsets[example];
    const uint32_t last = question.answer_offsets[example + 1];
    for (uint32_t i = first; i < last; ++i) {
      const double chance = scores[example * kClasses + question.answers[i]] -
                            log_of_sum(scores, example * kClasses, kClasses);
      sum -= chance / (last - first);
    }
  }
  return sum / static_cast<double>(question.num_examples());
}

double plain_class_binary(const Numbers& scores, const Question& question) {
  double sum = 0;
  for (size_t example = 0; example < question.num_examples(); ++example) {
    for (uint32_t number = 0; number < kClasses; ++number) {
      bool yes = false;
      for (uint32_t i = question.answer_offsets[example]; i < question.answer_offsets[example + 1];
           ++i) {
        yes = yes || question.answers[i] == number;
      }
      sum += yes_or_no(scores[example * kClasses + number], yes);
    }
  }
  return sum / static_cast<double>(question.num_examples() * kClasses);
}

double plain_pair_softmax(const Numbers& scores, const Question& question) {
  double sum = 0;
  for (size_t example = 0; example < question.num_examples(); ++example) {
    const uint32_t first = question.pair_offsets[example];
    const uint32_t count = question.pair_offsets[example + 1] - first;
    double relevant = 0;
    for (uint32_t i = first; i < first + count; ++i) relevant += question.relevant[i];
    for (uint32_t i = first; i < first + count; ++i) {
      if (question.relevant[i] == 0) continue;
      sum -= (scores[i] - log_of_sum(scores, first, count)) / relevant;
    }
  }
  return sum / static_cast<double>(question.num_examples());
}

double plain_pair_binary(const Numbers& scores, const Question& question) {
  double sum = 0;
  for (size_t i = 0; i < scores.size(); ++i) sum += yes_or_no(scores[i], question.relevant[i] == 1);
  return sum / static_cast<double>(scores.size());
}

// The value, and the gradient by central differences of the plain loss.
void expect_loss(const Question& question, Loss loss, const PlainLoss& plain) {
  torch::manual_seed(31);
  const bool pairs = question.answer_offsets.empty();
  const auto examples = static_cast<int64_t>(question.num_examples());
  at::Tensor scores = pairs ? torch::randn({static_cast<int64_t>(question.relevant.size())})
                            : torch::randn({examples, static_cast<int64_t>(kClasses)});
  scores = (2 * scores).requires_grad_();
  const at::Tensor value = task_loss(scores, question, loss);
  value.backward();
  const at::Tensor flat = scores.detach().flatten();
  Numbers numbers(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  EXPECT_NEAR(value.item<double>(), plain(numbers, question), 1e-5);
  const at::Tensor gradient = scores.grad().flatten();
  for (size_t i = 0; i < numbers.size(); ++i) {
    constexpr double kStep = 1e-5;
    const double kept = numbers[i];
    numbers[i] = kept + kStep;
    const double above = plain(numbers, question);
    numbers[i] = kept - kStep;
    const double below = plain(numbers, question);
    numbers[i] = kept;
    EXPECT_NEAR(gradient[static_cast<int64_t>(i)].item<double>(), (above - below) / (2 * kStep),
                1e-5)
        << "score " << i;
  }
}

TEST(TaskLoss, IsTheCrossEntropyOfOneClassPerExample) {
  expect_loss(class_question({{2}, {0}, {0}, {3}, {1}}), Loss::softmax, plain_class_softmax);
}

TEST(TaskLoss, SharesAnExampleBetweenItsSeveralClasses) {
  expect_loss(class_question({{2, 0}, {1}, {0, 1, 3}}), Loss::softmax, plain_class_softmax);
}

TEST(TaskLoss, AsksYesOrNoForEachClassWhenBinary) {
  expect_loss(class_question({{2, 0}, {1}, {}, {0, 1, 2, 3}}), Loss::binary, plain_class_binary);
}

TEST(TaskLoss, LetsThePairsOfAGroupCompeteWhateverItsLength) {
  expect_loss(pair_question({{1, 0}, {0, 0, 1, 0, 0, 0}, {1}, {0, 1, 0}}), Loss::softmax,
              plain_pair_softmax);
}

TEST(TaskLoss, SharesAGroupBetweenItsSeveralRelevantPairs) {
  expect_loss(pair_question({{1, 1, 0}, {0, 1}, {1, 1, 1, 0}}), Loss::softmax, plain_pair_softmax);
}

TEST(TaskLoss, AsksYesOrNoForEachPairWhenBinary) {
  expect_loss(pair_question({{1, 0}, {0, 0, 1, 0}, {1}}), Loss::binary, plain_pair_binary);
}

TEST(TaskLoss, LeavesOutGroupsWithoutPairs) {
  const auto with = pair_question({{}, {1, 0}, {}, {}, {0, 0, 1}, {}});
  const auto without = pair_question({{1, 0}, {0, 0, 1}});
  const auto as_without = [&](const PlainLoss& plain) -> PlainLoss {
    return [&](const Numbers& scores, const Question&) { return plain(scores, without); };
  };
  const PlainLoss softmax = plain_pair_softmax;
  const PlainLoss binary = plain_pair_binary;
  expect_loss(with, Loss::softmax, as_without(softmax));
  expect_loss(with, Loss::binary, as_without(binary));
  const at::Tensor none = torch::zeros({0}).requires_grad_();
  for (const Loss loss : {Loss::softmax, Loss::binary}) {
    const at::Tensor value = task_loss(none, pair_question({{}, {}}), loss);
    EXPECT_EQ(value.item<double>(), 0);
    EXPECT_NO_THROW(value.backward());
  }
}

TEST(TaskLoss, StaysFiniteForScoresFarApart) {
  const at::Tensor scores = at::tensor({500.0F, -500.0F, 300.0F}).requires_grad_();
  const Question question = pair_question({{0, 1}, {1}});
  const at::Tensor loss = task_loss(scores, question, Loss::softmax);
  loss.backward();
  EXPECT_DOUBLE_EQ(loss.item<double>(), 500);  // (1000 + 0) / 2
  EXPECT_TRUE(at::allclose(scores.grad(), at::tensor({0.5F, -0.5F, 0.0F})));
}

// --- models ---

struct AskedBatch {
  Question question;
  GraphBatch batch;
};

AskedBatch asked(const Task& task, const TrainOptions& options, uint32_t examples) {
  std::vector<uint32_t> numbers(examples);
  std::iota(numbers.begin(), numbers.end(), 0U);
  AskedBatch result;
  result.question = task.question(Split::train, numbers, 1);
  Subgraph subgraph;
  Sampler(task.graph(), task.sampling(options.sampling, Split::train))
      .sample(result.question.request, 1, subgraph);
  result.batch = graph_batch(task.graph(), subgraph, static_cast<uint32_t>(options.model.layers));
  return result;
}

TrainOptions without_dropout() {
  TrainOptions options = quick_options();
  options.model.dropout = 0;
  return options;
}

TEST(TaskModel, ScoresTheClassesOfEverySeedWithOneLinearMap) {
  at::set_num_threads(1);
  const auto task = training_task("paper-venue");
  TaskModel model = make_model(*task, without_dropout());
  const AskedBatch asked_batch = asked(*task, without_dropout(), 5);
  const at::Tensor scores = model->scores(asked_batch.batch, asked_batch.question);
  const at::Tensor seeds =
      model->encoder()->forward(asked_batch.batch).index_select(0, asked_batch.batch.seed_rows);
  const auto parameters = model->named_parameters();
  const at::Tensor expected =
      at::matmul(seeds, parameters["classifier.weight"].t()) + parameters["classifier.bias"];
  ASSERT_EQ(scores.sizes(), at::IntArrayRef({5, static_cast<int64_t>(task->num_classes())}));
  EXPECT_TRUE(at::allclose(scores, expected, 1e-5, 1e-5));
}

// The pairs of a question one by one.
void expect_pair_scores(PairScorer scorer) {
  at::set_num_threads(1);
  TrainOptions options = without_dropout();
  options.scorer = scorer;
  const auto task = training_task("author-disambiguation");
  TaskModel model = make_model(*task, options);
  const AskedBatch asked_batch = asked(*task, options, 6);
  const Question& question = asked_batch.question;
  const at::Tensor scores = model->scores(asked_batch.batch, question);
  ASSERT_EQ(scores.numel(), static_cast<int64_t>(question.relevant.size()));
  const at::Tensor seeds =
      model->encoder()->forward(asked_batch.batch).index_select(0, asked_batch.batch.seed_rows);
  for (size_t i = 0; i < question.left.size(); ++i) {
    const at::Tensor left = seeds[question.left[i]];
    const at::Tensor right = seeds[question.right[i]];
    const double expected =
        scorer == PairScorer::dot
            ? left.dot(right).item<double>()
            : model->pair_scores(left.unsqueeze(0), right.unsqueeze(0)).item<double>();
    EXPECT_NEAR(scores[static_cast<int64_t>(i)].item<double>(), expected, 1e-5);
  }
}

TEST(TaskModel, ScoresPairsByTheirDotProduct) { expect_pair_scores(PairScorer::dot); }
TEST(TaskModel, ScoresPairsByTheNeuralTensorNetwork) { expect_pair_scores(PairScorer::ntn); }

TEST(TaskModel, HasATensorNetworkOnlyWhereItScoresPairsWithOne) {
  const auto has = [](const Task& task, PairScorer scorer, const std::string& name) {
    TrainOptions options = quick_options();
    options.scorer = scorer;
    return make_model(task, options)->named_parameters().contains(name);
  };
  const auto pairs = training_task("author-disambiguation");
  const auto classes = training_task("paper-venue");
  EXPECT_TRUE(has(*pairs, PairScorer::ntn, "tensor_network.tensor"));
  EXPECT_FALSE(has(*pairs, PairScorer::dot, "tensor_network.tensor"));
  EXPECT_FALSE(has(*pairs, PairScorer::ntn, "classifier.weight"));
  EXPECT_FALSE(has(*classes, PairScorer::ntn, "tensor_network.tensor"));
  EXPECT_TRUE(has(*classes, PairScorer::ntn, "classifier.weight"));
}

TEST(TaskModel, ScoresManyPairsInPartsAsItDoesAtOnce) {
  at::set_num_threads(1);
  const auto task = training_task("author-disambiguation");
  TaskModel model = make_model(*task, without_dropout());
  AskedBatch asked_batch = asked(*task, without_dropout(), 6);
  Question& question = asked_batch.question;
  Draws draws(hash(5));
  const auto seeds = static_cast<uint64_t>(asked_batch.batch.seed_rows.numel());
  question.left.clear();
  question.right.clear();
  for (int i = 0; i < 40000; ++i) {
    question.left.push_back(static_cast<uint32_t>(draws.below(seeds)));
    question.right.push_back(static_cast<uint32_t>(draws.below(seeds)));
  }
  const at::Tensor at_once = model->scores(asked_batch.batch, question).detach();
  const torch::NoGradGuard no_gradient;
  const at::Tensor in_parts = model->scores(asked_batch.batch, question);
  ASSERT_EQ(in_parts.sizes(), at_once.sizes());
  EXPECT_TRUE(at::allclose(in_parts, at_once, 1e-6, 1e-6));
}

TEST(TaskModel, HasWeightsThatAreAFunctionOfTheSeed) {
  const auto task = training_task("paper-venue");
  TrainOptions options = quick_options();
  const TaskModel first = make_model(*task, options);
  torch::manual_seed(99);  // what others draw makes no difference
  const TaskModel again = make_model(*task, options);
  options.seed = 2;
  const TaskModel other = make_model(*task, options);
  for (const auto& parameter : first->named_parameters()) {
    EXPECT_TRUE(at::equal(parameter.value(), again->named_parameters()[parameter.key()]));
  }
  EXPECT_FALSE(at::equal(first->named_parameters()["classifier.weight"],
                         other->named_parameters()["classifier.weight"]));
}

}  // namespace
}  // namespace hgt
