#include "hgt/model/dropout.h"

#include "hgt/random.h"

namespace hgt {

namespace {

// 0 or 1 / (1 - p) for each number, by a hash of its place.
at::Tensor pattern(const at::Tensor& like, double probability, uint64_t key) {
  at::Tensor mask = at::empty(like.sizes(), at::kFloat);
  auto* values = mask.data_ptr<float>();
  const auto threshold = static_cast<uint64_t>(probability * 0x1.0p32);
  const auto kept = static_cast<float>(1 / (1 - probability));
  at::parallel_for(0, mask.numel(), 1 << 14, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const uint64_t bits = mix64(key + static_cast<uint64_t>(i)) >> 32U;
      values[i] = bits < threshold ? 0.0F : kept;
    }
  });
  return mask.to(like.options().requires_grad(false));
}

}  // namespace

at::Tensor drop_out(const at::Tensor& values, double probability, bool training) {
  if (!training || probability == 0 || values.numel() == 0) return values;
  const auto key = at::randint(std::numeric_limits<int64_t>::max(), {1}, at::kLong).item<int64_t>();
  return values * pattern(values, probability, hash(static_cast<uint64_t>(key)));
}

}  // namespace hgt
