#include "hgt/model/edge_operations.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hgt/model/number_type.h"
#include "hgt/model/typed_linear.h"

namespace hgt {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kRowsPerTask = 64;

struct ListsHolder : torch::CustomClassHolder {
  explicit ListsHolder(SharedLists value) : lists(std::move(value)) {}
  SharedLists lists;
};

bool has_fast_path(const at::Tensor& tensor) {
  return tensor.device().is_cpu() &&
         (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble);
}

void keep(AutogradContext* context, const c10::intrusive_ptr<ListsHolder>& holder) {
  context->saved_data["lists"] = c10::IValue::make_capsule(holder);
}

const EdgeLists& kept(AutogradContext* context) {
  const auto capsule = context->saved_data["lists"].toCapsule();
  return *static_cast<const ListsHolder&>(*capsule).lists;
}

// Widths of one head of the values.
struct Heads {
  int64_t count, width;
};

// to[i] += weight * from[i] for one head.
template <typename T>
void add_scaled(T* __restrict to, T weight, const T* __restrict from, int64_t width) {
  for (int64_t i = 0; i < width; ++i) to[i] += weight * from[i];
}

// One row of a weighted sum: to += weights x from, head by head.
template <typename T>
void add_row(T* to, const T* weights, const T* from, const Heads& heads) {
  for (int64_t head = 0; head < heads.count; ++head) {
    add_scaled(to + head * heads.width, weights[head], from + head * heads.width, heads.width);
  }
}

template <typename T>
void sum_rows(const EdgeLists& lists, const Heads& heads, const T* values, const T* weights,
              T* out) {
  const int64_t d = heads.count * heads.width;
  parallel_rows(lists.num_rows(), kRowsPerTask, [&](int64_t row) {
    T* const to = out + row * d;
    std::fill_n(to, d, T(0));
    for (uint64_t e = lists.offsets[row]; e < lists.offsets[row + 1]; ++e) {
      add_row(to, weights + e * heads.count, values + int64_t{lists.sources[e]} * d, heads);
    }
  });
}

template <typename T>
void sum_uses(const EdgeLists& lists, const Heads& heads, const T* gradient, const T* weights,
              T* out) {
  const int64_t d = heads.count * heads.width;
  parallel_rows(lists.num_sources, kRowsPerTask, [&](int64_t source) {
    T* const to = out + source * d;
    std::fill_n(to, d, T(0));
    for (uint64_t use = lists.use_offsets[source]; use < lists.use_offsets[source + 1]; ++use) {
      const uint64_t e = lists.uses[use];
      add_row(to, weights + e * heads.count, gradient + int64_t{lists.rows[e]} * d, heads);
    }
  });
}

template <typename T>
T dot(const T* left, const T* right, int64_t width) {
  T sum = 0;
  for (int64_t i = 0; i < width; ++i) sum += left[i] * right[i];
  return sum;
}

template <typename T>
void weight_gradients(const EdgeLists& lists, const Heads& heads, const T* gradient,
                      const T* values, T* out) {
  const int64_t d = heads.count * heads.width;
  parallel_rows(static_cast<int64_t>(lists.num_edges()), 4 * kRowsPerTask, [&](int64_t e) {
    const T* const left = gradient + int64_t{lists.rows[e]} * d;
    const T* const right = values + int64_t{lists.sources[e]} * d;
    for (int64_t head = 0; head < heads.count; ++head) {
      const int64_t at = head * heads.width;
      out[e * heads.count + head] = dot(left + at, right + at, heads.width);
    }
  });
}

class WeightedSum : public torch::autograd::Function<WeightedSum> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values,
                            const at::Tensor& weights,
                            const c10::intrusive_ptr<ListsHolder>& holder) {
    const EdgeLists& lists = *holder->lists;
    const at::Tensor out = at::empty({lists.num_rows(), values.size(1)}, values.options());
    with_number_type(values, [&](auto zero) {
      using T = decltype(zero);
      sum_rows(lists, heads_of(values, weights), values.data_ptr<T>(), weights.data_ptr<T>(),
               out.data_ptr<T>());
    });
    context->save_for_backward({values, weights});
    context->saved_data["learned_weights"] = weights.requires_grad();
    keep(context, holder);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& values = saved[0];
    const at::Tensor& weights = saved[1];
    const EdgeLists& lists = kept(context);
    const Heads heads = heads_of(values, weights);
    const at::Tensor gradient = gradients[0].contiguous();
    const at::Tensor value_gradient = at::empty_like(values);
    at::Tensor weight_gradient;
    if (context->saved_data["learned_weights"].toBool()) weight_gradient = at::empty_like(weights);
    with_number_type(values, [&](auto zero) {
      using T = decltype(zero);
      sum_uses(lists, heads, gradient.data_ptr<T>(), weights.data_ptr<T>(),
               value_gradient.data_ptr<T>());
      if (!weight_gradient.defined()) return;
      weight_gradients(lists, heads, gradient.data_ptr<T>(), values.data_ptr<T>(),
                       weight_gradient.data_ptr<T>());
    });
    return {value_gradient, weight_gradient, at::Tensor()};
  }

 private:
  static Heads heads_of(const at::Tensor& values, const at::Tensor& weights) {
    return {weights.size(1), values.size(1) / weights.size(1)};
  }
};

// One number per edge and head: that of the source plus that of the row.
template <typename T>
void add_ends(const EdgeLists& lists, int64_t heads, const T* at_sources, const T* at_rows,
              T* out) {
  for (uint64_t e = 0; e < lists.num_edges(); ++e) {
    for (int64_t i = 0; i < heads; ++i, ++out) {
      *out = at_sources[lists.sources[e] * heads + i] + at_rows[lists.rows[e] * heads + i];
    }
  }
}

// Backward: the gradient of each edge goes to both of its ends.
template <typename T>
void give_to_ends(const EdgeLists& lists, int64_t heads, const T* gradient, T* at_sources,
                  T* at_rows) {
  for (uint64_t e = 0; e < lists.num_edges(); ++e) {
    for (int64_t i = 0; i < heads; ++i, ++gradient) {
      at_sources[lists.sources[e] * heads + i] += *gradient;
      at_rows[lists.rows[e] * heads + i] += *gradient;
    }
  }
}

class EndSums : public torch::autograd::Function<EndSums> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& at_sources,
                            const at::Tensor& at_rows,
                            const c10::intrusive_ptr<ListsHolder>& holder) {
    const EdgeLists& lists = *holder->lists;
    const int64_t heads = at_sources.size(1);
    const at::Tensor out =
        at::empty({static_cast<int64_t>(lists.num_edges()), heads}, at_sources.options());
    with_number_type(at_sources, [&](auto zero) {
      using T = decltype(zero);
      add_ends<T>(lists, heads, at_sources.data_ptr<T>(), at_rows.data_ptr<T>(), out.data_ptr<T>());
    });
    keep(context, holder);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const EdgeLists& lists = kept(context);
    const at::Tensor gradient = gradients[0].contiguous();
    const int64_t heads = gradient.size(1);
    const at::Tensor at_sources = at::zeros({lists.num_sources, heads}, gradient.options());
    const at::Tensor at_rows = at::zeros({lists.num_rows(), heads}, gradient.options());
    with_number_type(gradient, [&](auto zero) {
      using T = decltype(zero);
      give_to_ends<T>(lists, heads, gradient.data_ptr<T>(), at_sources.data_ptr<T>(),
                      at_rows.data_ptr<T>());
    });
    return {at_sources, at_rows, at::Tensor()};
  }
};

// One head of one row: scores to weights.
template <typename T>
void softmax_list(const EdgeLists& lists, uint32_t row, int64_t heads, const T* scores, T* out) {
  const uint64_t first = lists.offsets[row];
  const uint64_t last = lists.offsets[row + size_t{1}];
  if (first == last) return;
  T highest = scores[first * heads];
  for (uint64_t e = first; e < last; ++e) highest = std::max(highest, scores[e * heads]);
  double total = 0;
  for (uint64_t e = first; e < last; ++e) {
    out[e * heads] = std::exp(scores[e * heads] - highest);
    total += out[e * heads];
  }
  for (uint64_t e = first; e < last; ++e) out[e * heads] = static_cast<T>(out[e * heads] / total);
}

template <typename T>
void softmax_rows(const EdgeLists& lists, int64_t heads, const T* scores, T* out) {
  if (lists.num_edges() == 0) return;  // scores may be nullptr
  parallel_rows(lists.num_rows(), kRowsPerTask, [&](int64_t row) {
    for (int64_t head = 0; head < heads; ++head) {
      softmax_list(lists, static_cast<uint32_t>(row), heads, scores + head, out + head);
    }
  });
}

class EdgeSoftmax : public torch::autograd::Function<EdgeSoftmax> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& scores,
                            const c10::intrusive_ptr<ListsHolder>& holder) {
    const EdgeLists& lists = *holder->lists;
    const int64_t heads = scores.size(1);
    const at::Tensor weights = at::empty_like(scores);
    with_number_type(scores, [&](auto zero) {
      using T = decltype(zero);
      softmax_rows(lists, heads, scores.data_ptr<T>(), weights.data_ptr<T>());
    });
    context->save_for_backward({weights});
    keep(context, holder);
    return weights;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const at::Tensor weights = context->get_saved_variables()[0];
    const EdgeLists& lists = kept(context);
    const int64_t heads = weights.size(1);
    const at::Tensor products = (weights * gradients[0]).contiguous();
    const at::Tensor means = at::zeros({lists.num_rows(), heads}, weights.options());
    const at::Tensor out = at::empty_like(weights);
    with_number_type(weights, [&](auto zero) {
      using T = decltype(zero);
      const T* product = products.data_ptr<T>();
      const T* weight = weights.data_ptr<T>();
      T* mean = means.data_ptr<T>();
      T* to = out.data_ptr<T>();
      const auto numbers = static_cast<int64_t>(lists.num_edges()) * heads;
      for (int64_t i = 0; i < numbers; ++i) {
        mean[lists.rows[i / heads] * heads + i % heads] += product[i];
      }
      for (int64_t i = 0; i < numbers; ++i) {
        to[i] = product[i] - weight[i] * mean[lists.rows[i / heads] * heads + i % heads];
      }
    });
    return {out, at::Tensor()};
  }
};

at::Tensor index_of(const std::vector<uint32_t>& values, const at::Tensor& like) {
  return at::tensor(std::vector<int64_t>(values.begin(), values.end()), at::kLong)
      .to(like.device());
}

}  // namespace

at::Tensor weighted_sum(const at::Tensor& values, const at::Tensor& weights,
                        const SharedLists& lists) {
  if (!has_fast_path(values)) return reference_weighted_sum(values, weights, *lists);
  return WeightedSum::apply(values.contiguous(), weights.contiguous(),
                            c10::make_intrusive<ListsHolder>(lists));
}

at::Tensor reference_weighted_sum(const at::Tensor& values, const at::Tensor& weights,
                                  const EdgeLists& lists) {
  const int64_t heads = weights.size(1);
  const at::Tensor gathered = values.index_select(0, index_of(lists.sources, values))
                                  .view({-1, heads, values.size(1) / heads});
  const at::Tensor messages = (gathered * weights.unsqueeze(2)).view({-1, values.size(1)});
  return at::zeros({lists.num_rows(), values.size(1)}, values.options())
      .index_add(0, index_of(lists.rows, values), messages);
}

at::Tensor edge_mean(const at::Tensor& values, const SharedLists& lists) {
  std::vector<double> shares;
  for (const uint32_t row : lists->rows) {
    shares.push_back(1.0 / static_cast<double>(lists->length(row)));
  }
  return weighted_sum(values, at::tensor(shares, at::kDouble).to(values.options()).unsqueeze(1),
                      lists);
}

at::Tensor end_sums(const at::Tensor& at_sources, const at::Tensor& at_rows,
                    const SharedLists& lists) {
  if (!has_fast_path(at_sources)) return reference_end_sums(at_sources, at_rows, *lists);
  return EndSums::apply(at_sources.contiguous(), at_rows.contiguous(),
                        c10::make_intrusive<ListsHolder>(lists));
}

at::Tensor reference_end_sums(const at::Tensor& at_sources, const at::Tensor& at_rows,
                              const EdgeLists& lists) {
  return at_sources.index_select(0, index_of(lists.sources, at_sources)) +
         at_rows.index_select(0, index_of(lists.rows, at_rows));
}

at::Tensor edge_softmax(const at::Tensor& scores, const SharedLists& lists) {
  if (!has_fast_path(scores)) return reference_edge_softmax(scores, *lists);
  return EdgeSoftmax::apply(scores.contiguous(), c10::make_intrusive<ListsHolder>(lists));
}

at::Tensor reference_edge_softmax(const at::Tensor& scores, const EdgeLists& lists) {
  const at::Tensor rows = index_of(lists.rows, scores);
  const at::Tensor highest =
      at::full({lists.num_rows(), scores.size(1)}, -std::numeric_limits<double>::infinity(),
               scores.options())
          .scatter_reduce(0, rows.unsqueeze(1).expand_as(scores), scores.detach(), "amax");
  const at::Tensor powers = at::exp(scores - highest.index_select(0, rows));
  const at::Tensor totals =
      at::zeros({lists.num_rows(), scores.size(1)}, scores.options()).index_add(0, rows, powers);
  return powers / totals.index_select(0, rows);
}

}  // namespace hgt
