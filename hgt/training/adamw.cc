#include "hgt/training/adamw.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace hgt {

namespace {

constexpr int64_t kGrain = 1 << 14;  // numbers that are taken at a time

// What one step does to every number of a parameter.
struct Update {
  float scale;  // of the gradient
  float beta1, beta2;
  float keep;  // 1 - learning rate * weight decay
  float rate;  // learning rate / (1 - beta1^t)
  float root;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
};

// A part of a parameter, and what belongs to it.
struct Piece {
  float* parameter;
  const float* gradient;
  float* first;
  float* second;
  int64_t count;
};

void apply(const Update& u, const Piece& piece) {
  const auto [p, g, m, v, count] = piece;
  for (int64_t i = 0; i < count; ++i) {
    const float own = g[i] * u.scale;
    m[i] = u.beta1 * m[i] + (1 - u.beta1) * own;
    v[i] = u.beta2 * v[i] + (1 - u.beta2) * own * own;
    p[i] = u.keep * p[i] - u.rate * m[i] / (std::sqrt(v[i]) * u.root + u.epsilon);
  }
}

double sum_of_squares(const Piece& piece) {
  std::array<double, 8> lanes = {};  // an addition need not wait for the one before
  for (int64_t i = 0; i < piece.count; ++i) {
    lanes[static_cast<size_t>(i) % lanes.size()] +=
        double{piece.gradient[i]} * double{piece.gradient[i]};
  }
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

// Calls what(i) for every piece, on all threads at once.
template <typename What>
void for_pieces(const std::vector<Piece>& pieces, const What& what) {
  at::parallel_for(0, static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) what(static_cast<size_t>(i));
  });
}

// In double, and piece by piece, so that it does not depend on the number of threads.
double norm_of(const std::vector<Piece>& pieces) {
  std::vector<double> sums(pieces.size());
  for_pieces(pieces, [&](size_t i) { sums[i] = sum_of_squares(pieces[i]); });
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace

AdamW::AdamW(std::vector<at::Tensor> parameters, const Options& options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const at::Tensor& parameter : parameters_) {
    first_.push_back(at::zeros_like(parameter.detach()));
    second_.push_back(at::zeros_like(parameter.detach()));
  }
}

double AdamW::step(double learning_rate, double clip) {
  const torch::NoGradGuard no_gradient;
  std::vector<at::Tensor> gradients;  // as long as pieces point into them
  std::vector<Piece> pieces;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    gradients.push_back(parameters_[i].grad().contiguous());
    const int64_t all = parameters_[i].numel();
    for (int64_t from = 0; from < all; from += kGrain) {
      pieces.push_back({parameters_[i].data_ptr<float>() + from,
                        gradients.back().data_ptr<float>() + from,
                        first_[i].data_ptr<float>() + from, second_[i].data_ptr<float>() + from,
                        std::min(kGrain, all - from)});
    }
  }
  const double norm = norm_of(pieces);
  if (!std::isfinite(norm)) return norm;
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const Update update{.scale = static_cast<float>(clip > 0 && norm > clip ? clip / norm : 1),
                      .beta1 = static_cast<float>(options_.beta1),
                      .beta2 = static_cast<float>(options_.beta2),
                      .keep = static_cast<float>(1 - learning_rate * options_.weight_decay),
                      .rate = static_cast<float>(learning_rate / (1 - std::pow(options_.beta1, t))),
                      .root = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, t))),
                      .epsilon = static_cast<float>(options_.epsilon)};
  for_pieces(pieces, [&](size_t i) { apply(update, pieces[i]); });
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad() = at::Tensor();
  return norm;
}

}  // namespace hgt
