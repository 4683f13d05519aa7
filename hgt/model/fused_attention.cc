// See fused_attention.h. Saved for the backward pass: the source table with its pairs, the queries,
// the matrices, H~ and a. Made again there: what belongs to pairs at the targets (attention.h).
#include "hgt/model/fused_attention.h"

#include "hgt/message/attention.h"
#include "hgt/model/number_type.h"
#include "hgt/model/relation_projection.h"
#include "hgt/model/typed_linear.h"

namespace hgt {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Places in autograd's lists: of results, and of tensors saved for the backward pass.
constexpr size_t kOutputs = 0;
constexpr size_t kWeights = 1;
constexpr size_t kSavedSources = 0;
constexpr size_t kSavedQueries = 1;
constexpr size_t kSavedAttention = 2;
constexpr size_t kSavedMessage = 3;
constexpr size_t kSavedOutputs = 4;
constexpr size_t kSavedWeights = 5;

struct PlanHolder : torch::CustomClassHolder {
  explicit PlanHolder(std::shared_ptr<const AttentionPlan> value) : plan(std::move(value)) {}
  std::shared_ptr<const AttentionPlan> plan;
};

// queries: [targets, d]; matrices: [sets, h or 1, k, k], where 1 means that the heads share them.
HeadShape shape_of(const at::Tensor& queries, const at::Tensor& matrices) {
  const auto heads = static_cast<uint32_t>(queries.size(1) / matrices.size(2));
  return {.heads = heads,
          .width = static_cast<uint32_t>(matrices.size(2)),
          .shared = heads > 1 && matrices.size(1) == 1};
}

// The tables that both passes have; `weights` and `outputs` are for the caller to set. The tensors
// are contiguous and must outlive the pointers.
template <typename T>
AttentionTables<T> tables_of(const at::Tensor& sources, const at::Tensor& queries,
                             const at::Tensor& attention, const at::Tensor& message) {
  return {.sources = sources.data_ptr<T>(),
          .queries = queries.data_ptr<T>(),
          .attention_matrices = attention.data_ptr<T>(),
          .message_matrices = message.data_ptr<T>()};
}

// H~ [targets, d] and a [edges, h] in the plan's order. Fills the rows of pairs in `sources`.
variable_list fill_outputs(const AttentionPlan& plan, const at::Tensor& sources,
                           const at::Tensor& queries, const at::Tensor& attention,
                           const at::Tensor& message) {
  const HeadShape shape = shape_of(queries, attention);
  const at::Tensor outputs = at::empty_like(queries);
  const at::Tensor weights = at::empty({plan.num_edges(), shape.heads}, queries.options());
  with_number_type(queries, [&](auto zero) {
    using T = decltype(zero);
    auto tables = tables_of<T>(sources, queries, attention, message);
    tables.weights = weights.data_ptr<T>();
    tables.outputs = outputs.data_ptr<T>();
    attention_forward<T>(plan, shape, tables);
  });
  variable_list results(2);
  results[kOutputs] = outputs;
  results[kWeights] = weights;
  return results;
}

class FusedAttention : public torch::autograd::Function<FusedAttention> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& sources,
                               const at::Tensor& queries, const at::Tensor& attention,
                               const at::Tensor& message,
                               const c10::intrusive_ptr<PlanHolder>& holder) {
    const variable_list results = fill_outputs(*holder->plan, sources, queries, attention, message);
    variable_list saved(6);
    saved[kSavedSources] = sources;
    saved[kSavedQueries] = queries;
    saved[kSavedAttention] = attention;
    saved[kSavedMessage] = message;
    saved[kSavedOutputs] = results[kOutputs];
    saved[kSavedWeights] = results[kWeights];
    context->save_for_backward(saved);
    context->saved_data["plan"] = c10::IValue::make_capsule(holder);
    context->mark_non_differentiable({results[kWeights]});
    return results;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& sources = saved[kSavedSources];
    const at::Tensor& queries = saved[kSavedQueries];
    const at::Tensor& attention = saved[kSavedAttention];
    const at::Tensor& message = saved[kSavedMessage];
    const auto holder = context->saved_data["plan"].toCapsule();
    const AttentionPlan& plan = *static_cast<const PlanHolder&>(*holder).plan;
    const at::Tensor output_gradient = gradients[kOutputs].contiguous();
    const at::Tensor source_gradient = at::empty_like(sources);
    const at::Tensor query_gradient = at::empty_like(queries);
    const at::Tensor attention_gradient = at::empty_like(attention);
    const at::Tensor message_gradient = at::empty_like(message);
    // Room to work in.
    const at::Tensor pair_queries =
        at::empty({plan.num_target_pairs(), queries.size(1)}, queries.options());
    const at::Tensor pair_sum_gradients = at::empty_like(pair_queries);
    const at::Tensor score_gradients = at::empty_like(saved[kSavedWeights]);
    const at::Tensor partials = at::empty({plan.num_partials, sources.size(1)}, sources.options());
    with_number_type(queries, [&](auto zero) {
      using T = decltype(zero);
      auto tables = tables_of<T>(sources, queries, attention, message);
      tables.outputs = saved[kSavedOutputs].data_ptr<T>();
      tables.weights = saved[kSavedWeights].data_ptr<T>();
      attention_backward<T>(plan, shape_of(queries, attention), tables,
                            {.outputs = output_gradient.data_ptr<T>(),
                             .sources = source_gradient.data_ptr<T>(),
                             .queries = query_gradient.data_ptr<T>(),
                             .attention_matrices = attention_gradient.data_ptr<T>(),
                             .message_matrices = message_gradient.data_ptr<T>(),
                             .pair_queries = pair_queries.data_ptr<T>(),
                             .pair_sum_gradients = pair_sum_gradients.data_ptr<T>(),
                             .score_gradients = score_gradients.data_ptr<T>(),
                             .partials = partials.data_ptr<T>()});
    });
    // In the order of forward()'s arguments; the plan has none.
    return {source_gradient, query_gradient, attention_gradient, message_gradient, at::Tensor()};
  }
};

// The temporal encodings in the order of the plan's (type, gap) rows: [(type, gap) rows, d]. A gap
// that sources of several types have is there several times.
at::Tensor time_rows(const AttentionInputs& inputs) {
  const at::Tensor& weight = inputs.projection_weight;
  if (!inputs.time_vectors.defined()) return at::empty({0, weight.size(2)}, weight.options());
  const std::vector<int64_t> gaps(inputs.plan->time_gaps.begin(), inputs.plan->time_gaps.end());
  return inputs.time_vectors.index_select(0, at::tensor(gaps, at::kLong));
}

// [edges, h] from the plan's order of edges to that of the layer graph.
at::Tensor in_graph_order(const AttentionPlan& plan, const at::Tensor& weights) {
  const std::vector<int64_t> places(plan.edge_origin.begin(), plan.edge_origin.end());
  return at::empty_like(weights).index_copy_(0, at::tensor(places, at::kLong), weights);
}

ProjectionTables project(const AttentionInputs& inputs) {
  if (inputs.relation_weight.defined()) {
    return project_pairs(inputs.graph, inputs.type_sets, *inputs.relation_plan, inputs.node_vectors,
                         time_rows(inputs),
                         {.weight = inputs.relation_weight,
                          .bias = inputs.relation_bias,
                          .query_weight = inputs.projection_weight,
                          .query_bias = inputs.projection_bias});
  }
  return project_all(inputs.graph, inputs.type_sets, *inputs.plan,
                     {.vectors = inputs.node_vectors,
                      .adapted = inputs.adapted,
                      .time_vectors = time_rows(inputs)},
                     {inputs.projection_weight, inputs.projection_bias});
}

}  // namespace

AttentionOutputs fused_attention(const AttentionInputs& inputs, bool with_weights) {
  const ProjectionTables tables = project(inputs);
  const variable_list results = FusedAttention::apply(
      tables.sources, tables.queries, inputs.attention_matrices.contiguous(),
      inputs.message_matrices.contiguous(), c10::make_intrusive<PlanHolder>(inputs.plan));
  return {.aggregated = results[kOutputs],
          .weights = with_weights ? in_graph_order(*inputs.plan, results[kWeights].detach())
                                  : at::Tensor(),
          .own = tables.own};
}

at::Tensor fused_attention_prepared(const AttentionInputs& inputs, const at::Tensor& sources) {
  const torch::NoGradGuard no_gradient;
  const at::Tensor& targets = inputs.node_vectors;
  const at::Tensor queries = at::empty_like(targets);
  project_queries(inputs.graph.target_offsets, inputs.type_sets,
                  {inputs.projection_weight, inputs.projection_bias}, targets, queries);
  project_times(*inputs.plan, inputs.type_sets, inputs.projection_weight, time_rows(inputs),
                sources);
  return fill_outputs(*inputs.plan, sources, queries, inputs.attention_matrices.contiguous(),
                      inputs.message_matrices.contiguous())[kOutputs];
}

}  // namespace hgt
