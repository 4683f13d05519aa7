#include "hgt/model/typed_linear.h"

#include <algorithm>

#include "hgt/error.h"

namespace hgt {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RowsHolder : torch::CustomClassHolder {
  explicit RowsHolder(TypedRows value) : rows(std::move(value)) {}
  TypedRows rows;
};

// Rows are taken in runs that stay in the cache between gelu and the matrix product; a product of
// so many rows already runs at full speed.
constexpr int64_t kRowsPerRun = 1024;

// Calls block(set, first, count) for runs of rows of one type.
template <typename Block>
void for_runs(const TypedRows& rows, const Block& block) {
  for (size_t type = 0; type < rows.sets.size(); ++type) {
    const int64_t end = rows.offsets[type + 1];
    for (int64_t first = rows.offsets[type]; first < end; first += kRowsPerRun) {
      block(static_cast<int64_t>(rows.sets[type]), first, std::min(kRowsPerRun, end - first));
    }
  }
}

class GeluLinear : public torch::autograd::Function<GeluLinear> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias, const c10::intrusive_ptr<RowsHolder>& holder) {
    const at::Tensor y = at::empty({x.size(0), weight.size(1)}, x.options());
    for_runs(holder->rows, [&](int64_t set, int64_t first, int64_t count) {
      at::Tensor out = y.narrow(0, first, count);
      at::addmm_out(out, bias[set], at::gelu(x.narrow(0, first, count)), weight[set].t());
    });
    context->save_for_backward({x, weight});
    context->saved_data["rows"] = c10::IValue::make_capsule(holder);
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& weight = saved[1];
    const auto holder = context->saved_data["rows"].toCapsule();
    const TypedRows& rows = static_cast<const RowsHolder&>(*holder).rows;
    const at::Tensor y_gradient = gradients[0].contiguous();
    const at::Tensor x_gradient = at::empty_like(x);
    const at::Tensor weight_gradient = at::zeros_like(weight);
    const at::Tensor bias_gradient = at::zeros({weight.size(0), weight.size(1)}, weight.options());
    for_runs(rows, [&](int64_t set, int64_t first, int64_t count) {
      const at::Tensor own = y_gradient.narrow(0, first, count);
      const at::Tensor before = x.narrow(0, first, count);
      weight_gradient[set].addmm_(own.t(), at::gelu(before));
      bias_gradient[set].add_(own.sum(0));
      at::Tensor out = x_gradient.narrow(0, first, count);
      at::gelu_backward_out(out, at::mm(own, weight[set]), before);
    });
    return {x_gradient, weight_gradient, bias_gradient, at::Tensor()};
  }
};

}  // namespace

void refuse_second_derivatives() {
  if (!at::GradMode::is_enabled()) return;
  throw Error("the fused path has no second derivatives; choose LayerPath::reference for them");
}

at::Tensor gelu_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       const TypedRows& rows) {
  return GeluLinear::apply(x, weight, bias, c10::make_intrusive<RowsHolder>(rows));
}

}  // namespace hgt
