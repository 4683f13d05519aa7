#include "hgt/model/typed_linear.h"

#include "hgt/error.h"
#include "hgt/model/blas_memory.h"
#include "hgt/model/product_sums.h"

namespace hgt {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RowsHolder : torch::CustomClassHolder {
  explicit RowsHolder(TypedRows value) : rows(std::move(value)) {}
  TypedRows rows;
};

// Calls block(set, first, count) for the rows of each type.
template <typename Block>
void for_types(const TypedRows& rows, const Block& block) {
  for (size_t type = 0; type < rows.sets.size(); ++type) {
    const int64_t first = rows.offsets[type];
    block(static_cast<int64_t>(rows.sets[type]), first, rows.offsets[type + 1] - first);
  }
}

class GeluLinear : public torch::autograd::Function<GeluLinear> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias, const c10::intrusive_ptr<RowsHolder>& holder) {
    const at::Tensor y = at::empty({x.size(0), weight.size(1)}, x.options());
    require_headroom();
    const at::Tensor activated = at::gelu(x);
    std::vector<ProductSum> sums;
    for_types(holder->rows, [&](int64_t set, int64_t first, int64_t count) {
      sums.push_back({.y = y.narrow(0, first, count),
                      .start = bias[set],
                      .terms = {{.x = activated.narrow(0, first, count), .w = weight[set].t()}}});
    });
    compute_sums(sums);
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
    at::Tensor x_gradient = at::empty_like(x);
    const at::Tensor weight_gradient = at::empty_like(weight);
    const at::Tensor bias_gradient = at::empty({weight.size(0), weight.size(1)}, weight.options());
    require_headroom();
    const at::Tensor activated = at::gelu(x);
    const at::Tensor ones = at::ones({1, x.size(0)}, x.options());
    std::vector<ProductSum> sums;
    std::vector<ProductSum> parameters;  // [2 sets] weight, bias
    for (int64_t set = 0; set < weight.size(0); ++set) {
      parameters.push_back({.y = weight_gradient[set]});
      parameters.push_back({.y = bias_gradient.narrow(0, set, 1)});
    }
    for_types(rows, [&](int64_t set, int64_t first, int64_t count) {
      const at::Tensor own = y_gradient.narrow(0, first, count);
      sums.push_back(
          {.y = x_gradient.narrow(0, first, count), .terms = {{.x = own, .w = weight[set]}}});
      const auto of_set = parameters.begin() + 2 * set;
      of_set[0].terms.push_back({own.t(), activated.narrow(0, first, count)});
      of_set[1].terms.push_back({ones.narrow(1, first, count), own});
    });
    sums.insert(sums.end(), parameters.begin(), parameters.end());
    compute_sums(sums);
    require_headroom();
    at::gelu_backward_out(x_gradient, x_gradient, x);
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
