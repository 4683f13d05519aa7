#include "hgt/model/relative_temporal_encoding.h"

#include <cmath>
#include <vector>

namespace hgt {

namespace {

// Of each column, over 2 pi: in units of the graph's time.
std::vector<double> periods(const ModelOptions& options) {
  std::vector<double> result;
  for (int64_t column = 0; column < options.hidden; ++column) {
    const int64_t numerator = options.paired_sinusoids ? column - column % 2 : column;
    const double exponent = static_cast<double>(numerator) / static_cast<double>(options.hidden);
    result.push_back(options.time_scale * std::pow(10000.0, exponent));
  }
  return result;
}

}  // namespace

at::Tensor sinusoids(std::span<const double> gaps, const ModelOptions& options,
                     const at::TensorOptions& type) {
  const std::vector<double> period = periods(options);
  const double divisor =
      options.scaled_sinusoids ? std::sqrt(static_cast<double>(options.hidden)) : 1;
  at::Tensor base = at::empty({static_cast<int64_t>(gaps.size()), options.hidden}, at::kDouble);
  auto* value = base.data_ptr<double>();
  for (const double gap : gaps) {
    for (size_t column = 0; column < period.size(); ++column) {
      const double angle = gap / period[column];
      *value++ = (column % 2 == 0 ? std::sin(angle) : std::cos(angle)) / divisor;
    }
  }
  return base.to(type);
}

RelativeTemporalEncodingImpl::RelativeTemporalEncodingImpl(const ModelOptions& options)
    : options_(options) {
  const int64_t hidden = options.hidden;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  weight = register_parameter("weight", torch::empty({hidden, hidden}).uniform_(-bound, bound));
  bias = register_parameter("bias", torch::empty({hidden}).uniform_(-bound, bound));
}

at::Tensor RelativeTemporalEncodingImpl::forward(std::span<const double> gaps) const {
  const at::Tensor base = sinusoids(gaps, options_, weight.options().requires_grad(false));
  return at::addmm(bias, base, weight.t());
}

}  // namespace hgt
