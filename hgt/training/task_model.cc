#include "hgt/training/task_model.h"

#include <algorithm>
#include <limits>

namespace hgt {

namespace {

// So many pairs are gathered at once where no gradient has to be kept.
constexpr int64_t kPairsAtOnce = 1 << 14;

at::Tensor index_tensor(const std::vector<uint32_t>& values) {
  return at::tensor(std::vector<int64_t>(values.begin(), values.end()), at::kLong);
}

// For each entry of a list of lists: the list it is in, its place in it, and the lists' lengths.
struct Places {
  std::vector<int64_t> rows;
  std::vector<int64_t> columns;
  std::vector<int64_t> lengths;
};

Places places_of(const std::vector<uint32_t>& offsets) {
  Places places;
  for (size_t row = 0; row + 1 < offsets.size(); ++row) {
    const uint32_t length = offsets[row + 1] - offsets[row];
    places.lengths.push_back(length);
    for (uint32_t column = 0; column < length; ++column) {
      places.rows.push_back(static_cast<int64_t>(row));
      places.columns.push_back(column);
    }
  }
  return places;
}

at::Tensor class_loss(const at::Tensor& scores, const Question& question, Loss loss) {
  const Places places = places_of(question.answer_offsets);
  const at::Tensor rows = at::tensor(places.rows, at::kLong);
  const at::Tensor classes = index_tensor(question.answers);
  if (loss == Loss::binary) {
    const at::Tensor truth = at::zeros_like(scores.detach());
    truth.index_put_({rows, classes}, at::ones({rows.size(0)}, truth.options()));
    return at::binary_cross_entropy_with_logits(scores, truth);
  }
  const at::Tensor shares = 1 / at::tensor(places.lengths, at::kFloat).index_select(0, rows);
  const at::Tensor right = at::log_softmax(scores, 1).index({rows, classes});
  return -(right * shares).sum() / scores.size(0);
}

at::Tensor pair_loss(const at::Tensor& scores, const Question& question, Loss loss) {
  if (question.relevant.empty()) return scores.sum();  // nothing to compare: 0
  const std::vector<float> flags(question.relevant.begin(), question.relevant.end());
  const at::Tensor relevant = at::tensor(flags, at::kFloat);
  if (loss == Loss::binary) return at::binary_cross_entropy_with_logits(scores, relevant);
  std::vector<uint32_t> offsets = question.pair_offsets;  // of the examples that have pairs
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  const Places places = places_of(offsets);
  const auto examples = static_cast<int64_t>(places.lengths.size());
  const int64_t longest = *std::max_element(places.lengths.begin(), places.lengths.end());
  const at::Tensor rows = at::tensor(places.rows, at::kLong);
  const at::Tensor columns = at::tensor(places.columns, at::kLong);
  const at::Tensor table =
      at::full({examples, longest}, -std::numeric_limits<float>::infinity(), scores.options())
          .index_put({rows, columns}, scores);
  const at::Tensor chances = scores - at::logsumexp(table, 1).index_select(0, rows);
  const at::Tensor counts = at::zeros({examples}).index_add_(0, rows, relevant);
  return -(chances * relevant / counts.index_select(0, rows)).sum() / examples;
}

}  // namespace

TaskModelImpl::TaskModelImpl(const TrainOptions& options, const ModelSchema& schema,
                             uint32_t classes)
    : encoder_(register_module("encoder", Encoder(options.model, schema))) {
  if (classes > 0) {
    classifier_ = register_module("classifier", torch::nn::Linear(options.model.hidden, classes));
  } else if (options.scorer == PairScorer::ntn) {
    tensor_network_ = register_module("tensor_network",
                                      NeuralTensorNetwork(options.model.hidden, options.slices));
  }
}

at::Tensor TaskModelImpl::class_scores(const at::Tensor& vectors) const {
  return at::addmm(classifier_->bias, vectors, classifier_->weight.t());
}

at::Tensor TaskModelImpl::pair_scores(const at::Tensor& left, const at::Tensor& right) const {
  if (tensor_network_.is_empty()) return (left * right).sum(1);
  return tensor_network_->forward(left, right);
}

at::Tensor TaskModelImpl::scores(const GraphBatch& batch, const Question& question) const {
  const at::Tensor vectors = encoder_->forward(batch);
  const at::Tensor seeds = vectors.index_select(0, batch.seed_rows);
  if (!classifier_.is_empty()) return class_scores(seeds);
  const at::Tensor left = index_tensor(question.left);
  const at::Tensor right = index_tensor(question.right);
  const auto score = [&](int64_t first, int64_t count) {
    return pair_scores(seeds.index_select(0, left.narrow(0, first, count)),
                       seeds.index_select(0, right.narrow(0, first, count)));
  };
  const int64_t pairs = left.size(0);
  if (at::GradMode::is_enabled() || pairs <= kPairsAtOnce) return score(0, pairs);
  std::vector<at::Tensor> parts;
  for (int64_t first = 0; first < pairs; first += kPairsAtOnce) {
    parts.push_back(score(first, std::min(kPairsAtOnce, pairs - first)));
  }
  return at::cat(parts);
}

at::Tensor task_loss(const at::Tensor& scores, const Question& question, Loss loss) {
  return question.answer_offsets.empty() ? pair_loss(scores, question, loss)
                                         : class_loss(scores, question, loss);
}

}  // namespace hgt
