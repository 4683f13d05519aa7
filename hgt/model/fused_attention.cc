#include "hgt/model/fused_attention.h"

#include "hgt/message/attention.h"
#include "hgt/model/typed_linear.h"

namespace hgt {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What does not change between forward and backward and is no tensor.
struct Fixed {
  std::shared_ptr<const AttentionPlan> plan;
  std::vector<uint32_t> source_offsets;  // [types + 1]
  std::vector<uint32_t> target_offsets;  // [types + 1]
  std::vector<uint32_t> type_sets;       // [types]
  HeadShape shape;
};

struct FixedHolder : torch::CustomClassHolder {
  explicit FixedHolder(Fixed value) : fixed(std::move(value)) {}
  Fixed fixed;
};

// The rows of one type in the tables, and its slice of the weights.
struct TypeRows {
  int64_t set;
  int64_t first_source, sources;
  int64_t first_target, targets;
  int64_t first_time, times;  // among the (type, gap) rows
};

std::vector<TypeRows> rows_by_type(const Fixed& fixed) {
  std::vector<TypeRows> rows;
  for (size_t type = 0; type < fixed.type_sets.size(); ++type) {
    const auto range = [&](const std::vector<uint32_t>& offsets) {
      return std::pair<int64_t, int64_t>(offsets[type], int64_t{offsets[type + 1]} - offsets[type]);
    };
    const auto [first_source, sources] = range(fixed.source_offsets);
    const auto [first_target, targets] = range(fixed.target_offsets);
    const auto [first_time, times] = range(fixed.plan->time_offsets);
    rows.push_back(
        {fixed.type_sets[type], first_source, sources, first_target, targets, first_time, times});
  }
  return rows;
}

template <typename T>
AttentionTables<T> tables_of(const at::Tensor& sources, const at::Tensor& queries,
                             const at::Tensor& attention, const at::Tensor& message) {
  return {.sources = sources.data_ptr<T>(),
          .queries = queries.data_ptr<T>(),
          .attention_matrices = attention.data_ptr<T>(),
          .message_matrices = message.data_ptr<T>()};
}

// y += x w for every row, or y = x w: nothing to do without rows.
void add_product(const at::Tensor& y, const at::Tensor& x, const at::Tensor& w, bool add = true) {
  if (y.numel() == 0) return;
  at::Tensor out = y;
  if (add) {
    out.addmm_(x, w);
  } else {
    at::mm_out(out, x, w);
  }
}

// What the projections read.
struct Projected {
  const at::Tensor& node_vectors;
  const at::Tensor& time_vectors;
  const at::Tensor& weight;
  const at::Tensor& bias;
};

// Keys and messages of all inputs and (type, gap) rows, queries of all targets.
void project(const Fixed& fixed, const Projected& inputs, at::Tensor& sources,
             at::Tensor& queries) {
  const auto& [node_vectors, time_vectors, weight, bias] = inputs;
  const int64_t hidden = node_vectors.size(1);
  for (const TypeRows& rows : rows_by_type(fixed)) {
    const at::Tensor w = weight[rows.set];
    const at::Tensor b = bias[rows.set];
    const at::Tensor key_message = w.narrow(0, 0, 2 * hidden).t();
    if (rows.sources > 0) {
      at::Tensor out = sources.narrow(0, rows.first_source, rows.sources);
      at::addmm_out(out, b.narrow(0, 0, 2 * hidden),
                    node_vectors.narrow(0, rows.first_source, rows.sources), key_message);
    }
    if (rows.targets > 0) {
      at::Tensor out = queries.narrow(0, rows.first_target, rows.targets);
      at::addmm_out(out, b.narrow(0, 2 * hidden, hidden),
                    node_vectors.narrow(0, rows.first_source, rows.targets),
                    w.narrow(0, 2 * hidden, hidden).t());
    }
    if (rows.times > 0) {
      const int64_t first = fixed.plan->num_sources + rows.first_time;
      add_product(sources.narrow(0, first, rows.times),
                  time_vectors.narrow(0, rows.first_time, rows.times), key_message, false);
    }
  }
}

struct ProjectionGradients {
  at::Tensor node_vectors, time_vectors, weight, bias;
};

ProjectionGradients project_backward(const Fixed& fixed, const at::Tensor& node_vectors,
                                     const at::Tensor& time_vectors, const at::Tensor& weight,
                                     const at::Tensor& sources, const at::Tensor& queries) {
  const int64_t hidden = node_vectors.size(1);
  ProjectionGradients gradients{
      .node_vectors = at::empty_like(node_vectors),
      .time_vectors = at::empty_like(time_vectors),
      .weight = at::zeros_like(weight),
      .bias = at::zeros({weight.size(0), weight.size(1)}, weight.options())};
  for (const TypeRows& rows : rows_by_type(fixed)) {
    const at::Tensor w = weight[rows.set];
    const at::Tensor key_message = w.narrow(0, 0, 2 * hidden);
    const at::Tensor key_message_gradient = gradients.weight[rows.set].narrow(0, 0, 2 * hidden);
    at::Tensor bias_gradient = gradients.bias[rows.set];
    if (rows.sources > 0) {
      const at::Tensor own = sources.narrow(0, rows.first_source, rows.sources);
      const at::Tensor inputs = node_vectors.narrow(0, rows.first_source, rows.sources);
      add_product(gradients.node_vectors.narrow(0, rows.first_source, rows.sources), own,
                  key_message, false);
      add_product(key_message_gradient, own.t(), inputs);
      bias_gradient.narrow(0, 0, 2 * hidden).add_(own.sum(0));
    }
    if (rows.targets > 0) {
      const at::Tensor own = queries.narrow(0, rows.first_target, rows.targets);
      const at::Tensor inputs = node_vectors.narrow(0, rows.first_source, rows.targets);
      add_product(gradients.node_vectors.narrow(0, rows.first_source, rows.targets), own,
                  w.narrow(0, 2 * hidden, hidden));
      add_product(gradients.weight[rows.set].narrow(0, 2 * hidden, hidden), own.t(), inputs);
      bias_gradient.narrow(0, 2 * hidden, hidden).add_(own.sum(0));
    }
    if (rows.times > 0) {
      const at::Tensor own =
          sources.narrow(0, fixed.plan->num_sources + rows.first_time, rows.times);
      const at::Tensor inputs = time_vectors.narrow(0, rows.first_time, rows.times);
      add_product(gradients.time_vectors.narrow(0, rows.first_time, rows.times), own, key_message,
                  false);
      add_product(key_message_gradient, own.t(), inputs);
    }
  }
  return gradients;
}

class FusedAttention : public torch::autograd::Function<FusedAttention> {
 public:
  // LibTorch differentiates by each of the arguments: there cannot be fewer of them.
  // time_vectors: [(type, gap) rows, d]. Returns H~ and the attention in the plan's order.
  static variable_list forward(AutogradContext* context, const at::Tensor& node_vectors,
                               const at::Tensor& time_vectors, const at::Tensor& weight,
                               const at::Tensor& bias, const at::Tensor& attention,
                               const at::Tensor& message,
                               const c10::intrusive_ptr<FixedHolder>& holder) {
    const Fixed& fixed = holder->fixed;
    const AttentionPlan& plan = *fixed.plan;
    const int64_t hidden = node_vectors.size(1);
    const auto options = node_vectors.options();
    at::Tensor sources = at::empty({plan.source_rows, 2 * hidden}, options);
    at::Tensor queries = at::empty({plan.num_targets, hidden}, options);
    at::Tensor weights = at::empty({plan.num_edges(), fixed.shape.heads}, options);
    at::Tensor outputs = at::empty({plan.num_targets, hidden}, options);
    project(fixed, {node_vectors, time_vectors, weight, bias}, sources, queries);
    AT_DISPATCH_FLOATING_TYPES(node_vectors.scalar_type(), "fused_attention", [&] {
      auto tables = tables_of<scalar_t>(sources, queries, attention, message);
      tables.weights = weights.data_ptr<scalar_t>();
      tables.outputs = outputs.data_ptr<scalar_t>();
      attend<scalar_t>(plan, fixed.shape, tables);
    });
    context->save_for_backward({node_vectors, time_vectors, weight, attention, message, sources,
                                queries, weights, outputs});
    context->saved_data["fixed"] = c10::IValue::make_capsule(holder);
    context->mark_non_differentiable({weights});
    return {outputs, weights};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& node_vectors = saved[0];
    const at::Tensor& attention = saved[3];
    const at::Tensor& message = saved[4];
    const at::Tensor& sources = saved[5];
    const at::Tensor& queries = saved[6];
    const auto holder = context->saved_data["fixed"].toCapsule();
    const Fixed& fixed = static_cast<const FixedHolder&>(*holder).fixed;
    const at::Tensor output_gradient = gradients[0].contiguous();
    const at::Tensor source_gradient = at::empty_like(sources);
    const at::Tensor query_gradient = at::empty_like(queries);
    const at::Tensor attention_gradient = at::empty_like(attention);
    const at::Tensor message_gradient = at::empty_like(message);
    const at::Tensor pair_queries =
        at::empty({fixed.plan->num_target_pairs(), node_vectors.size(1)}, node_vectors.options());
    const at::Tensor pair_sums = at::empty_like(pair_queries);
    const at::Tensor scores = at::empty_like(saved[7]);
    const at::Tensor partials =
        at::empty({fixed.plan->num_partials, sources.size(1)}, sources.options());
    AT_DISPATCH_FLOATING_TYPES(node_vectors.scalar_type(), "fused_attention_backward", [&] {
      auto tables = tables_of<scalar_t>(sources, queries, attention, message);
      tables.weights = saved[7].data_ptr<scalar_t>();
      tables.outputs = saved[8].data_ptr<scalar_t>();
      attend_backward<scalar_t>(*fixed.plan, fixed.shape, tables,
                                {.outputs = output_gradient.data_ptr<scalar_t>(),
                                 .sources = source_gradient.data_ptr<scalar_t>(),
                                 .queries = query_gradient.data_ptr<scalar_t>(),
                                 .attention_matrices = attention_gradient.data_ptr<scalar_t>(),
                                 .message_matrices = message_gradient.data_ptr<scalar_t>(),
                                 .pair_queries = pair_queries.data_ptr<scalar_t>(),
                                 .pair_sums = pair_sums.data_ptr<scalar_t>(),
                                 .scores = scores.data_ptr<scalar_t>(),
                                 .partials = partials.data_ptr<scalar_t>()});
    });
    const ProjectionGradients projection =
        project_backward(fixed, node_vectors, saved[1], saved[2], source_gradient, query_gradient);
    return {projection.node_vectors, projection.time_vectors, projection.weight, projection.bias,
            attention_gradient,      message_gradient,        at::Tensor()};
  }
};

// The temporal encodings in the order of the plan's (type, gap) rows.
at::Tensor time_rows(const AttentionInputs& inputs) {
  if (!inputs.time_vectors.defined()) {
    return at::empty({0, inputs.node_vectors.size(1)}, inputs.node_vectors.options());
  }
  const std::vector<int64_t> gaps(inputs.plan->time_gaps.begin(), inputs.plan->time_gaps.end());
  return inputs.time_vectors.index_select(0, at::tensor(gaps, at::kLong));
}

at::Tensor in_graph_order(const AttentionPlan& plan, const at::Tensor& weights) {
  const std::vector<int64_t> places(plan.edge_origin.begin(), plan.edge_origin.end());
  return at::empty_like(weights).index_copy_(0, at::tensor(places, at::kLong), weights);
}

}  // namespace

AttentionOutputs fused_attention(const AttentionInputs& inputs, bool with_weights) {
  const at::Tensor& matrices = inputs.attention_matrices;
  const auto holder = c10::make_intrusive<FixedHolder>(
      Fixed{.plan = inputs.plan,
            .source_offsets = inputs.graph.source_offsets,
            .target_offsets = inputs.graph.target_offsets,
            .type_sets = inputs.type_sets,
            .shape = {.heads = static_cast<uint32_t>(matrices.size(1)),
                      .width = static_cast<uint32_t>(matrices.size(2))}});
  const variable_list results = FusedAttention::apply(
      inputs.node_vectors.contiguous(), time_rows(inputs), inputs.projection_weight,
      inputs.projection_bias, matrices.contiguous(), inputs.message_matrices.contiguous(), holder);
  return {
      .aggregated = results[0],
      .weights = with_weights ? in_graph_order(*inputs.plan, results[1].detach()) : at::Tensor()};
}

}  // namespace hgt
