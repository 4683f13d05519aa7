#include "hgt/model/fused_attention.h"

#include "hgt/message/attention.h"
#include "hgt/model/typed_linear.h"

namespace hgt {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct PlanHolder : torch::CustomClassHolder {
  explicit PlanHolder(std::shared_ptr<const AttentionPlan> value) : plan(std::move(value)) {}
  std::shared_ptr<const AttentionPlan> plan;
};

// matrices: [sets, h or 1, k, k]
HeadShape shape_of(const at::Tensor& queries, const at::Tensor& matrices) {
  const auto heads = static_cast<uint32_t>(queries.size(1) / matrices.size(2));
  return {.heads = heads,
          .width = static_cast<uint32_t>(matrices.size(2)),
          .shared = heads > 1 && matrices.size(1) == 1};
}

template <typename T>
AttentionTables<T> tables_of(const at::Tensor& sources, const at::Tensor& queries,
                             const at::Tensor& attention, const at::Tensor& message) {
  return {.sources = sources.data_ptr<T>(),
          .queries = queries.data_ptr<T>(),
          .attention_matrices = attention.data_ptr<T>(),
          .message_matrices = message.data_ptr<T>()};
}

// H~ and the attention in the plan's order. Fills the rows of pairs in `sources`.
variable_list attend_tables(const AttentionPlan& plan, const at::Tensor& sources,
                            const at::Tensor& queries, const at::Tensor& attention,
                            const at::Tensor& message) {
  const HeadShape shape = shape_of(queries, attention);
  const at::Tensor outputs = at::empty_like(queries);
  const at::Tensor weights = at::empty({plan.num_edges(), shape.heads}, queries.options());
  AT_DISPATCH_FLOATING_TYPES(queries.scalar_type(), "attend", [&] {
    auto tables = tables_of<scalar_t>(sources, queries, attention, message);
    tables.weights = weights.data_ptr<scalar_t>();
    tables.outputs = outputs.data_ptr<scalar_t>();
    attend<scalar_t>(plan, shape, tables);
  });
  return {outputs, weights};
}

class FusedAttention : public torch::autograd::Function<FusedAttention> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& sources,
                               const at::Tensor& queries, const at::Tensor& attention,
                               const at::Tensor& message,
                               const c10::intrusive_ptr<PlanHolder>& holder) {
    const variable_list results =
        attend_tables(*holder->plan, sources, queries, attention, message);
    context->save_for_backward({sources, queries, attention, message, results[0], results[1]});
    context->saved_data["plan"] = c10::IValue::make_capsule(holder);
    context->mark_non_differentiable({results[1]});
    return results;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& sources = saved[0];
    const at::Tensor& queries = saved[1];
    const at::Tensor& attention = saved[2];
    const at::Tensor& message = saved[3];
    const auto holder = context->saved_data["plan"].toCapsule();
    const AttentionPlan& plan = *static_cast<const PlanHolder&>(*holder).plan;
    const at::Tensor output_gradient = gradients[0].contiguous();
    const at::Tensor source_gradient = at::empty_like(sources);
    const at::Tensor query_gradient = at::empty_like(queries);
    const at::Tensor attention_gradient = at::empty_like(attention);
    const at::Tensor message_gradient = at::empty_like(message);
    const at::Tensor pair_queries =
        at::empty({plan.num_target_pairs(), queries.size(1)}, queries.options());
    const at::Tensor pair_sums = at::empty_like(pair_queries);
    const at::Tensor scores = at::empty_like(saved[5]);
    const at::Tensor partials = at::empty({plan.num_partials, sources.size(1)}, sources.options());
    AT_DISPATCH_FLOATING_TYPES(queries.scalar_type(), "attend_backward", [&] {
      auto tables = tables_of<scalar_t>(sources, queries, attention, message);
      tables.outputs = saved[4].data_ptr<scalar_t>();
      tables.weights = saved[5].data_ptr<scalar_t>();
      attend_backward<scalar_t>(plan, shape_of(queries, attention), tables,
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
    return {source_gradient, query_gradient, attention_gradient, message_gradient, at::Tensor()};
  }
};

// The temporal encodings in the order of the plan's (type, gap) rows.
at::Tensor time_rows(const AttentionInputs& inputs) {
  const at::Tensor& weight = inputs.projection_weight;
  if (!inputs.time_vectors.defined()) return at::empty({0, weight.size(2)}, weight.options());
  const std::vector<int64_t> gaps(inputs.plan->time_gaps.begin(), inputs.plan->time_gaps.end());
  return inputs.time_vectors.index_select(0, at::tensor(gaps, at::kLong));
}

at::Tensor in_graph_order(const AttentionPlan& plan, const at::Tensor& weights) {
  const std::vector<int64_t> places(plan.edge_origin.begin(), plan.edge_origin.end());
  return at::empty_like(weights).index_copy_(0, at::tensor(places, at::kLong), weights);
}

}  // namespace

AttentionOutputs fused_attention(const AttentionInputs& inputs, bool with_weights) {
  const ProjectionTables tables = project(inputs.graph, inputs.type_sets, *inputs.plan,
                                          {.vectors = inputs.node_vectors,
                                           .adapted = inputs.adapted,
                                           .time_vectors = time_rows(inputs)},
                                          {inputs.projection_weight, inputs.projection_bias});
  const variable_list results = FusedAttention::apply(
      tables.sources, tables.queries, inputs.attention_matrices.contiguous(),
      inputs.message_matrices.contiguous(), c10::make_intrusive<PlanHolder>(inputs.plan));
  return {
      .aggregated = results[0],
      .weights = with_weights ? in_graph_order(*inputs.plan, results[1].detach()) : at::Tensor(),
      .own = tables.own};
}

at::Tensor attend_projected(const AttentionInputs& inputs, const at::Tensor& sources) {
  const torch::NoGradGuard no_gradient;
  const at::Tensor& targets = inputs.node_vectors;
  const at::Tensor queries = at::empty_like(targets);
  project_queries(inputs.graph.target_offsets, inputs.type_sets,
                  {inputs.projection_weight, inputs.projection_bias}, targets, queries);
  project_times(*inputs.plan, inputs.type_sets, inputs.projection_weight, time_rows(inputs),
                sources);
  return attend_tables(*inputs.plan, sources, queries, inputs.attention_matrices.contiguous(),
                       inputs.message_matrices.contiguous())[0];
}

}  // namespace hgt
