#include "hgt/model/relative_temporal_encoding.h"

#include <cmath>
#include <vector>

namespace hgt {

at::Tensor sinusoids(std::span<const double> gaps, int64_t hidden,
                     const at::TensorOptions& options) {
  const auto rows = static_cast<int64_t>(gaps.size());
  std::vector<double> periods;  // over 2 pi
  for (int64_t j = 0; j < hidden; ++j) {
    const double exponent = static_cast<double>(j) / static_cast<double>(hidden);
    periods.push_back(std::pow(10000.0, exponent));
  }
  at::Tensor base = at::empty({rows, hidden}, at::kDouble);
  auto* values = base.data_ptr<double>();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t j = 0; j < hidden; ++j) {
      const double angle = gaps[static_cast<size_t>(row)] / periods[static_cast<size_t>(j)];
      values[row * hidden + j] = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return base.to(options);
}

RelativeTemporalEncodingImpl::RelativeTemporalEncodingImpl(int64_t hidden, double time_scale)
    : time_scale_(time_scale) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  weight = register_parameter("weight", torch::empty({hidden, hidden}).uniform_(-bound, bound));
  bias = register_parameter("bias", torch::empty({hidden}).uniform_(-bound, bound));
}

at::Tensor RelativeTemporalEncodingImpl::forward(std::span<const double> gaps) const {
  std::vector<double> scaled(gaps.begin(), gaps.end());
  for (double& gap : scaled) gap /= time_scale_;
  const at::Tensor base = sinusoids(scaled, weight.size(0), weight.options().requires_grad(false));
  return at::addmm(bias, base, weight.t());
}

}  // namespace hgt
