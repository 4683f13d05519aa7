#include "hgt/model/typed_projection.h"

#include "hgt/model/product_sums.h"
#include "hgt/model/typed_linear.h"

namespace hgt {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The rows of one type in the tables, and its slice of the weights.
struct TypeRows {
  int64_t set;
  int64_t first_source, sources;
  int64_t first_target, targets;
  int64_t first_time, times;    // among the (type, gap) rows
  int64_t first_vector;         // among the vectors; -1: the type has features
  int64_t first_column, width;  // of its adaptation
  int64_t place;                // among the types with features
};

// What does not change between forward and backward and has no gradient.
struct FixedInputs : torch::CustomClassHolder {
  std::vector<TypeRows> types;
  std::vector<at::Tensor> features;  // [types] or none
  int64_t num_sources = 0;
  int64_t source_rows = 0;
  int64_t num_targets = 0;
};

std::pair<int64_t, int64_t> range(const std::vector<uint32_t>& offsets, size_t type) {
  return {offsets[type], int64_t{offsets[type + 1]} - offsets[type]};
}

c10::intrusive_ptr<FixedInputs> fixed_inputs(const LayerGraph& graph,
                                             const std::vector<uint32_t>& type_sets,
                                             const AttentionPlan& plan,
                                             const std::vector<at::Tensor>& features) {
  auto fixed = c10::make_intrusive<FixedInputs>();
  fixed->features = features;
  fixed->num_sources = plan.num_sources;
  fixed->source_rows = plan.source_rows;
  fixed->num_targets = plan.num_targets;
  int64_t vectors = 0;
  int64_t columns = 0;
  int64_t adapted = 0;
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const auto [first_source, sources] = range(graph.source_offsets, type);
    const auto [first_target, targets] = range(graph.target_offsets, type);
    const auto [first_time, times] = range(plan.time_offsets, type);
    const bool adapts = !features.empty() && features[type].defined();
    const int64_t width = adapts ? features[type].size(1) : 0;
    fixed->types.push_back({type_sets[type], first_source, sources, first_target, targets,
                            first_time, times, adapts ? -1 : vectors, columns, width, adapted});
    adapted += adapts ? 1 : 0;
    vectors += adapts ? 0 : sources;
    columns += width;
  }
  return fixed;
}

// The part of the layer's tensors that one type reads.
struct TypeInputs {
  at::Tensor rows;        // [sources, width]
  at::Tensor adaptation;  // [d, width] A; undefined: the rows are vectors
  at::Tensor shift;       // [1, d] a
};

TypeInputs inputs_of(const FixedInputs& fixed, size_t type, const at::Tensor& vectors,
                     const at::Tensor& adaptation_weight, const at::Tensor& adaptation_bias) {
  const TypeRows& rows = fixed.types[type];
  if (rows.first_vector >= 0) return {vectors.narrow(0, rows.first_vector, rows.sources), {}, {}};
  return {fixed.features[type], adaptation_weight.narrow(1, rows.first_column, rows.width),
          adaptation_bias.narrow(0, rows.place, 1)};
}

// K, M and Q of one type, as maps of what its rows are given as.
struct TypeMaps {
  at::Tensor weight;  // [3d, width]
  at::Tensor bias;    // [1, 3d]
};

// Keys and messages are the first 2d rows of the weights of a type, queries the last d.
at::Tensor key_messages(const at::Tensor& of, int64_t hidden, int64_t dim = 0) {
  return of.narrow(dim, 0, 2 * hidden);
}
at::Tensor queries(const at::Tensor& of, int64_t hidden, int64_t dim = 0) {
  return of.narrow(dim, 2 * hidden, hidden);
}

struct InputGradients {
  at::Tensor vectors, adaptation_weight, adaptation_bias, time_vectors;
};

// The backward pass of all types, in two rounds of products: in the second are those that need
// sums of the first.
class ProjectionBackward {
 public:
  ProjectionBackward(const FixedInputs& fixed, const variable_list& saved,
                     const ProjectionTables& gradients)
      : fixed_(fixed),
        vectors_(saved[0]),
        adaptation_weight_(saved[1]),
        adaptation_bias_(saved[2]),
        time_vectors_(saved[3]),
        weight_(saved[4]),
        gradients_(gradients),
        ones_(at::ones({1, fixed.num_sources}, weight_.options())),
        row_sums_(
            at::empty({static_cast<int64_t>(fixed.types.size()), 3 * hidden()}, weight_.options())),
        weight_gradient_(at::empty_like(weight_)),
        inputs_{at::empty_like(vectors_), at::empty_like(adaptation_weight_),
                at::empty_like(adaptation_bias_), at::empty_like(time_vectors_)} {
    for (int64_t set = 0; set < weight_.size(0); ++set) {
      second_.push_back({key_messages(weight_gradient_[set], hidden()), {}, {}});
      second_.push_back({queries(weight_gradient_[set], hidden()), {}, {}});
    }
  }

  void run() {
    for (size_t type = 0; type < fixed_.types.size(); ++type) {
      const TypeRows& rows = fixed_.types[type];
      sum_rows(type);
      if (rows.first_vector >= 0) {
        vectors_backward(rows);
      } else {
        features_backward(type);
      }
      times_backward(rows);
    }
    compute(first_);
    compute(second_);
  }

  const at::Tensor& weight() const { return weight_gradient_; }
  at::Tensor bias() const {
    std::vector<int64_t> sets;
    for (const TypeRows& rows : fixed_.types) sets.push_back(rows.set);
    return at::zeros({weight_.size(0), weight_.size(1)}, weight_.options())
        .index_add_(0, at::tensor(sets, at::kLong), row_sums_);
  }
  const InputGradients& inputs() const { return inputs_; }

 private:
  int64_t hidden() const { return weight_.size(2); }
  at::Tensor of_sources(const TypeRows& rows) const {
    return gradients_.sources.narrow(0, rows.first_source, rows.sources);
  }
  static at::Tensor of_targets(const TypeRows& rows, const at::Tensor& table) {
    return table.narrow(0, rows.first_target, rows.targets);
  }
  std::vector<MatrixProduct>& key_message_gradient(int64_t set) {
    return second_[static_cast<size_t>(2 * set)].terms;
  }
  std::vector<MatrixProduct>& query_gradient(int64_t set) {
    return second_[static_cast<size_t>(2 * set + 1)].terms;
  }

  // Gradients of k, m and q, type by type.
  void sum_rows(size_t type) {
    const TypeRows& rows = fixed_.types[type];
    const at::Tensor sums = row_sums_.narrow(0, static_cast<int64_t>(type), 1);
    first_.push_back({key_messages(sums, hidden(), 1),
                      {},
                      {{ones_.narrow(1, 0, rows.sources), of_sources(rows)}}});
    first_.push_back({queries(sums, hidden(), 1),
                      {},
                      {{ones_.narrow(1, 0, rows.targets), of_targets(rows, gradients_.queries)}}});
  }

  void vectors_backward(const TypeRows& rows) {
    const at::Tensor given = vectors_.narrow(0, rows.first_vector, rows.sources);
    const at::Tensor to = inputs_.vectors.narrow(0, rows.first_vector, rows.sources);
    const at::Tensor from = of_sources(rows);
    const at::Tensor from_queries = of_targets(rows, gradients_.queries);
    const at::Tensor back = key_messages(weight_[rows.set], hidden());
    const int64_t others = rows.sources - rows.targets;
    first_.push_back({to.narrow(0, 0, rows.targets),
                      of_targets(rows, gradients_.own),
                      {{from.narrow(0, 0, rows.targets), back},
                       {from_queries, queries(weight_[rows.set], hidden())}}});
    first_.push_back(
        {to.narrow(0, rows.targets, others), {}, {{from.narrow(0, rows.targets, others), back}}});
    key_message_gradient(rows.set).push_back({from.t(), given});
    query_gradient(rows.set).push_back({from_queries.t(), given.narrow(0, 0, rows.targets)});
  }

  // The maps K A and K a + k get gradients first; from them, K, k, A and a.
  void features_backward(size_t type) {
    const TypeRows& rows = fixed_.types[type];
    const TypeInputs given =
        inputs_of(fixed_, type, vectors_, adaptation_weight_, adaptation_bias_);
    const at::Tensor map = at::empty({3 * hidden(), rows.width}, weight_.options());
    const at::Tensor sums = row_sums_.narrow(0, static_cast<int64_t>(type), 1);
    const at::Tensor of_own = of_targets(rows, gradients_.own);
    const at::Tensor target_rows = given.rows.narrow(0, 0, rows.targets);
    first_.push_back({key_messages(map, hidden()), {}, {{of_sources(rows).t(), given.rows}}});
    first_.push_back(
        {queries(map, hidden()), {}, {{of_targets(rows, gradients_.queries).t(), target_rows}}});
    const auto add_both = [&](std::vector<MatrixProduct>& terms, const auto& part) {
      terms.push_back({part(map, 0), given.adaptation.t()});
      terms.push_back({part(sums, 1).t(), given.shift});
    };
    add_both(key_message_gradient(rows.set),
             [&](const at::Tensor& of, int64_t dim) { return key_messages(of, hidden(), dim); });
    add_both(query_gradient(rows.set),
             [&](const at::Tensor& of, int64_t dim) { return queries(of, hidden(), dim); });
    const at::Tensor& own = weight_[rows.set];
    second_.push_back({inputs_.adaptation_weight.narrow(1, rows.first_column, rows.width),
                       {},
                       {{own.t(), map}, {of_own.t(), target_rows}}});
    second_.push_back({inputs_.adaptation_bias.narrow(0, rows.place, 1),
                       {},
                       {{sums, own}, {ones_.narrow(1, 0, rows.targets), of_own}}});
  }

  void times_backward(const TypeRows& rows) {
    const at::Tensor own =
        gradients_.sources.narrow(0, fixed_.num_sources + rows.first_time, rows.times);
    first_.push_back({inputs_.time_vectors.narrow(0, rows.first_time, rows.times),
                      {},
                      {{own, key_messages(weight_[rows.set], hidden())}}});
    key_message_gradient(rows.set).push_back(
        {own.t(), time_vectors_.narrow(0, rows.first_time, rows.times)});
  }

  const FixedInputs& fixed_;
  const at::Tensor& vectors_;
  const at::Tensor& adaptation_weight_;
  const at::Tensor& adaptation_bias_;
  const at::Tensor& time_vectors_;
  const at::Tensor& weight_;
  const ProjectionTables& gradients_;
  at::Tensor ones_;      // [1, sources]
  at::Tensor row_sums_;  // [types, 3d]
  at::Tensor weight_gradient_;
  InputGradients inputs_;
  std::vector<ProductSum> first_;
  std::vector<ProductSum> second_;  // first of all [2 sets] keys and messages, queries
};

class Projection : public torch::autograd::Function<Projection> {
 public:
  // LibTorch differentiates by each of the arguments: there cannot be fewer of them.
  static variable_list forward(AutogradContext* context, const at::Tensor& vectors,
                               const at::Tensor& adaptation_weight,
                               const at::Tensor& adaptation_bias, const at::Tensor& time_vectors,
                               const at::Tensor& weight, const at::Tensor& bias,
                               const c10::intrusive_ptr<FixedInputs>& fixed) {
    const int64_t hidden = weight.size(2);
    const at::Tensor sources = at::empty({fixed->source_rows, 2 * hidden}, weight.options());
    const at::Tensor query_rows = at::empty({fixed->num_targets, hidden}, weight.options());
    const at::Tensor own = at::empty({fixed->num_targets, hidden}, weight.options());
    std::vector<ProductSum> of_maps;
    std::vector<ProductSum> of_rows;
    for (size_t type = 0; type < fixed->types.size(); ++type) {
      const TypeRows& rows = fixed->types[type];
      const TypeInputs given = inputs_of(*fixed, type, vectors, adaptation_weight, adaptation_bias);
      const at::Tensor own_weight = weight[rows.set];
      const at::Tensor own_rows = own.narrow(0, rows.first_target, rows.targets);
      const at::Tensor target_rows = given.rows.narrow(0, 0, rows.targets);
      TypeMaps maps{own_weight, bias[rows.set].unsqueeze(0)};
      if (given.adaptation.defined()) {
        maps = {at::empty({3 * hidden, rows.width}, weight.options()),
                at::empty({1, 3 * hidden}, weight.options())};
        of_maps.push_back({maps.weight, {}, {{own_weight, given.adaptation}}});
        of_maps.push_back({maps.bias, bias[rows.set], {{given.shift, own_weight.t()}}});
        of_rows.push_back({own_rows, given.shift[0], {{target_rows, given.adaptation.t()}}});
      } else {
        of_rows.push_back({own_rows, target_rows, {}});
      }
      of_rows.push_back({sources.narrow(0, rows.first_source, rows.sources),
                         key_messages(maps.bias[0], hidden),
                         {{given.rows, key_messages(maps.weight, hidden).t()}}});
      of_rows.push_back({query_rows.narrow(0, rows.first_target, rows.targets),
                         queries(maps.bias[0], hidden),
                         {{target_rows, queries(maps.weight, hidden).t()}}});
      of_rows.push_back({sources.narrow(0, fixed->num_sources + rows.first_time, rows.times),
                         {},
                         {{time_vectors.narrow(0, rows.first_time, rows.times),
                           key_messages(own_weight, hidden).t()}}});
    }
    compute(of_maps);
    compute(of_rows);
    context->save_for_backward({vectors, adaptation_weight, adaptation_bias, time_vectors, weight});
    context->saved_data["fixed"] = c10::IValue::make_capsule(fixed);
    return {sources, query_rows, own};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const auto holder = context->saved_data["fixed"].toCapsule();
    const variable_list saved = context->get_saved_variables();
    const ProjectionTables of_tables{gradients[0], gradients[1], gradients[2].contiguous()};
    ProjectionBackward backward(static_cast<const FixedInputs&>(*holder), saved, of_tables);
    backward.run();
    const InputGradients& inputs = backward.inputs();
    return {inputs.vectors,      inputs.adaptation_weight, inputs.adaptation_bias,
            inputs.time_vectors, backward.weight(),        backward.bias(),
            at::Tensor()};
  }
};

}  // namespace

ProjectionTables project(const LayerGraph& graph, const std::vector<uint32_t>& type_sets,
                         const AttentionPlan& plan, const ProjectionInputs& inputs,
                         const ProjectionWeights& weights) {
  const auto options = weights.weight.options();
  const int64_t hidden = weights.weight.size(2);
  const AdaptedFeatures& adapted = inputs.adapted;
  const variable_list tables = Projection::apply(
      inputs.vectors.contiguous(),
      adapted.weight.defined() ? adapted.weight : at::empty({hidden, 0}, options),
      adapted.bias.defined() ? adapted.bias : at::empty({0, hidden}, options), inputs.time_vectors,
      weights.weight, weights.bias, fixed_inputs(graph, type_sets, plan, adapted.features));
  return {tables[0], tables[1], tables[2]};
}

void project_key_messages(const std::vector<uint32_t>& type_offsets,
                          const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                          const at::Tensor& vectors, const at::Tensor& result) {
  const torch::NoGradGuard no_gradient;
  const int64_t hidden = vectors.size(1);
  std::vector<ProductSum> sums;
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const auto [first, rows] = range(type_offsets, type);
    sums.push_back({result.narrow(0, first, rows),
                    key_messages(weights.bias[type_sets[type]], hidden),
                    {{vectors.narrow(0, first, rows),
                      key_messages(weights.weight[type_sets[type]], hidden).t()}}});
  }
  compute(sums);
}

void project_times(const AttentionPlan& plan, const std::vector<uint32_t>& type_sets,
                   const at::Tensor& weight, const at::Tensor& time_vectors,
                   const at::Tensor& sources) {
  const torch::NoGradGuard no_gradient;
  std::vector<ProductSum> sums;
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const auto [first, rows] = range(plan.time_offsets, type);
    sums.push_back({sources.narrow(0, plan.num_sources + first, rows),
                    {},
                    {{time_vectors.narrow(0, first, rows),
                      key_messages(weight[type_sets[type]], weight.size(2)).t()}}});
  }
  compute(sums);
}

void project_queries(const std::vector<uint32_t>& target_offsets,
                     const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                     const at::Tensor& vectors, const at::Tensor& result) {
  const torch::NoGradGuard no_gradient;
  const int64_t hidden = vectors.size(1);
  std::vector<ProductSum> sums;
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const auto [first, rows] = range(target_offsets, type);
    sums.push_back(
        {result.narrow(0, first, rows),
         queries(weights.bias[type_sets[type]], hidden),
         {{vectors.narrow(0, first, rows), queries(weights.weight[type_sets[type]], hidden).t()}}});
  }
  compute(sums);
}

}  // namespace hgt
