#include "hgt/training/adamw.h"

#include <ATen/Parallel.h>

#include <array>
#include <cmath>
#include <numeric>

namespace hgt {

namespace {

constexpr int64_t kGrain = 1 << 14;  // numbers to a thread, at least

// What one step does to every number of a parameter.
struct Update {
  float scale;  // of the gradient
  float beta1, beta2;
  float keep;  // 1 - learning rate * weight decay
  float rate;  // learning rate / (1 - beta1^t)
  float root;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
};

void apply(const Update& u, at::Tensor& parameter, at::Tensor& first, at::Tensor& second) {
  const at::Tensor gradient = parameter.grad().contiguous();
  const auto* g = gradient.data_ptr<float>();
  auto* p = parameter.data_ptr<float>();
  auto* m = first.data_ptr<float>();
  auto* v = second.data_ptr<float>();
  at::parallel_for(0, parameter.numel(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float own = g[i] * u.scale;
      m[i] = u.beta1 * m[i] + (1 - u.beta1) * own;
      v[i] = u.beta2 * v[i] + (1 - u.beta2) * own * own;
      p[i] = u.keep * p[i] - u.rate * m[i] / (std::sqrt(v[i]) * u.root + u.epsilon);
    }
  });
}

// In double, and block by block, so that it does not depend on the number of threads.
double sum_of_squares(const at::Tensor& gradient) {
  const at::Tensor values = gradient.contiguous();
  const auto* g = values.data_ptr<float>();
  const int64_t blocks = (values.numel() + kGrain - 1) / kGrain;
  std::vector<double> sums(static_cast<size_t>(blocks));
  at::parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t last = std::min(values.numel(), (block + 1) * kGrain);
      std::array<double, 8> lanes = {};  // an addition need not wait for the one before
      for (int64_t i = block * kGrain; i < last; ++i) {
        lanes[static_cast<size_t>(i) % lanes.size()] += double{g[i]} * double{g[i]};
      }
      sums[static_cast<size_t>(block)] = std::accumulate(lanes.begin(), lanes.end(), 0.0);
    }
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
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
  double squares = 0;
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) squares += sum_of_squares(parameter.grad());
  }
  const double norm = std::sqrt(squares);
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
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    apply(update, parameters_[i], first_[i], second_[i]);
    parameters_[i].mutable_grad() = at::Tensor();
  }
  return norm;
}

}  // namespace hgt
