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

// K-Linear and M-Linear of a type: [d, 2d].
at::Tensor key_message_weight(const at::Tensor& weight, int64_t set) {
  return weight[set].narrow(0, 0, 2 * weight.size(2)).t();
}

// Keys and messages of inputs that lie by type: the first rows of `sources`.
void project_inputs(const std::vector<uint32_t>& offsets, const std::vector<uint32_t>& type_sets,
                    const ProjectionWeights& weights, const at::Tensor& node_vectors,
                    const at::Tensor& sources) {
  const int64_t hidden = node_vectors.size(1);
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const int64_t first = offsets[type];
    const int64_t rows = int64_t{offsets[type + 1]} - first;
    if (rows == 0) continue;
    at::Tensor out = sources.narrow(0, first, rows);
    at::addmm_out(out, weights.bias[type_sets[type]].narrow(0, 0, 2 * hidden),
                  node_vectors.narrow(0, first, rows),
                  key_message_weight(weights.weight, type_sets[type]));
  }
}

// Keys and messages of the (type, gap) rows, which have no bias.
void project_times(const Fixed& fixed, const at::Tensor& weight, const at::Tensor& time_vectors,
                   const at::Tensor& sources) {
  for (const TypeRows& rows : rows_by_type(fixed)) {
    if (rows.times == 0) continue;
    const int64_t first = fixed.plan->num_sources + rows.first_time;
    add_product(sources.narrow(0, first, rows.times),
                time_vectors.narrow(0, rows.first_time, rows.times),
                key_message_weight(weight, rows.set), false);
  }
}

// Queries of the targets; first_row: where a type's targets begin in node_vectors.
template <typename FirstRow>
void project_queries(const Fixed& fixed, const ProjectionWeights& weights,
                     const at::Tensor& node_vectors, const FirstRow& first_row,
                     const at::Tensor& queries) {
  const int64_t hidden = node_vectors.size(1);
  for (const TypeRows& rows : rows_by_type(fixed)) {
    if (rows.targets == 0) continue;
    at::Tensor out = queries.narrow(0, rows.first_target, rows.targets);
    at::addmm_out(out, weights.bias[rows.set].narrow(0, 2 * hidden, hidden),
                  node_vectors.narrow(0, first_row(rows), rows.targets),
                  weights.weight[rows.set].narrow(0, 2 * hidden, hidden).t());
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
    const ProjectionWeights projections{weight, bias};
    project_inputs(fixed.source_offsets, fixed.type_sets, projections, node_vectors, sources);
    project_times(fixed, weight, time_vectors, sources);
    project_queries(
        fixed, projections, node_vectors, [](const TypeRows& rows) { return rows.first_source; },
        queries);
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
at::Tensor time_rows(const AttentionPlan& plan, const at::Tensor& time_vectors,
                     const at::Tensor& like) {
  if (!time_vectors.defined()) return at::empty({0, like.size(1)}, like.options());
  const std::vector<int64_t> gaps(plan.time_gaps.begin(), plan.time_gaps.end());
  return time_vectors.index_select(0, at::tensor(gaps, at::kLong));
}

at::Tensor in_graph_order(const AttentionPlan& plan, const at::Tensor& weights) {
  const std::vector<int64_t> places(plan.edge_origin.begin(), plan.edge_origin.end());
  return at::empty_like(weights).index_copy_(0, at::tensor(places, at::kLong), weights);
}

}  // namespace

namespace {

Fixed fixed_part(const LayerGraph& graph, const std::vector<uint32_t>& type_sets,
                 std::shared_ptr<const AttentionPlan> plan, const at::Tensor& matrices) {
  return {.plan = std::move(plan),
          .source_offsets = graph.source_offsets,
          .target_offsets = graph.target_offsets,
          .type_sets = type_sets,
          .shape = {.heads = static_cast<uint32_t>(matrices.size(1)),
                    .width = static_cast<uint32_t>(matrices.size(2))}};
}

}  // namespace

AttentionOutputs fused_attention(const AttentionInputs& inputs, bool with_weights) {
  const at::Tensor& matrices = inputs.attention_matrices;
  const auto holder = c10::make_intrusive<FixedHolder>(
      fixed_part(inputs.graph, inputs.type_sets, inputs.plan, matrices));
  const variable_list results = FusedAttention::apply(
      inputs.node_vectors.contiguous(),
      time_rows(*inputs.plan, inputs.time_vectors, inputs.node_vectors), inputs.projection_weight,
      inputs.projection_bias, matrices.contiguous(), inputs.message_matrices.contiguous(), holder);
  return {
      .aggregated = results[0],
      .weights = with_weights ? in_graph_order(*inputs.plan, results[1].detach()) : at::Tensor()};
}

void project_key_messages(const std::vector<uint32_t>& type_offsets,
                          const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                          const at::Tensor& node_vectors, const at::Tensor& key_messages) {
  const torch::NoGradGuard no_gradient;
  project_inputs(type_offsets, type_sets, weights, node_vectors, key_messages);
}

at::Tensor attend_projected(const AttentionInputs& inputs, const at::Tensor& sources) {
  const torch::NoGradGuard no_gradient;
  const at::Tensor& targets = inputs.node_vectors;
  const AttentionPlan& plan = *inputs.plan;
  const Fixed fixed =
      fixed_part(inputs.graph, inputs.type_sets, inputs.plan, inputs.attention_matrices);
  const at::Tensor queries = at::empty_like(targets);
  const at::Tensor outputs = at::empty_like(targets);
  const at::Tensor weights = at::empty({plan.num_edges(), fixed.shape.heads}, targets.options());
  project_queries(
      fixed, {inputs.projection_weight, inputs.projection_bias}, targets,
      [](const TypeRows& rows) { return rows.first_target; }, queries);
  project_times(fixed, inputs.projection_weight, time_rows(plan, inputs.time_vectors, targets),
                sources);
  const at::Tensor attention = inputs.attention_matrices.contiguous();
  const at::Tensor message = inputs.message_matrices.contiguous();
  AT_DISPATCH_FLOATING_TYPES(targets.scalar_type(), "attend_projected", [&] {
    auto tables = tables_of<scalar_t>(sources, queries, attention, message);
    tables.weights = weights.data_ptr<scalar_t>();
    tables.outputs = outputs.data_ptr<scalar_t>();
    attend<scalar_t>(plan, fixed.shape, tables);
  });
  return outputs;
}

}  // namespace hgt
