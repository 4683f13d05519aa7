// The equations are in typed_projection.h. A "type" below is a node type of the graph, a "set" a
// slice of the weights; several types use one set under -Heter.
//
// forward: two rounds of products. The first makes the maps C = P A and c = a P^T + p of types that
// are given by features; the second, which reads them, makes all rows of the three tables.
// backward: two rounds again. The first makes the gradients of inputs and, as dp = dc and dC, of
// maps; the second, which reads these, makes dP, dA and da. The maps themselves are not made again:
// no gradient reads them.
#include "hgt/model/typed_projection.h"

#include "hgt/model/product_sums.h"
#include "hgt/model/typed_linear.h"

namespace hgt {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Consecutive rows of a table.
struct RowRange {
  int64_t first, count;

  at::Tensor of(const at::Tensor& table) const { return table.narrow(0, first, count); }
};

// Where one type is in the tables. The targets of a type are its first sources.
struct TypeRanges {
  int64_t set;                  // its slice of the weights
  RowRange sources;             // of the layer graph, and of the table of keys and messages
  RowRange targets;             // of the layer graph, and of the tables of queries and own vectors
  RowRange times;               // among the (type, gap) rows
  int64_t first_vector;         // among the vectors; kHasFeatures: there are none of the type
  int64_t first_column, width;  // of its A, in the tensor of all
  int64_t place;                // among the types with features: the row of its a

  bool has_features() const { return first_vector == kHasFeatures; }
  RowRange vectors() const { return {.first = first_vector, .count = sources.count}; }
  static constexpr int64_t kHasFeatures = -1;
};

// What does not change between forward and backward and has no gradient.
struct FixedInputs : torch::CustomClassHolder {
  std::vector<TypeRanges> types;
  std::vector<at::Tensor> features;  // [types] or none
  int64_t num_sources = 0;           // the first (type, gap) row of the table of keys and messages
  int64_t source_rows = 0;
  int64_t num_targets = 0;

  // The (type, gap) rows of a type in the table of keys and messages.
  RowRange time_rows(const TypeRanges& type) const {
    return {.first = num_sources + type.times.first, .count = type.times.count};
  }
};

RowRange range(const std::vector<uint32_t>& offsets, size_t type) {
  return {.first = offsets[type], .count = int64_t{offsets[type + 1]} - offsets[type]};
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
  // Of the types before: rows among the vectors, columns of A, types with features.
  int64_t vectors = 0;
  int64_t columns = 0;
  int64_t adapted = 0;
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const RowRange sources = range(graph.source_offsets, type);
    const bool adapts = !features.empty() && features[type].defined();
    const int64_t width = adapts ? features[type].size(1) : 0;
    fixed->types.push_back({.set = type_sets[type],
                            .sources = sources,
                            .targets = range(graph.target_offsets, type),
                            .times = range(plan.time_offsets, type),
                            .first_vector = adapts ? TypeRanges::kHasFeatures : vectors,
                            .first_column = columns,
                            .width = width,
                            .place = adapted});
    adapted += adapts ? 1 : 0;
    vectors += adapts ? 0 : sources.count;
    columns += width;
  }
  return fixed;
}

// The tensors that have gradients and that the backward pass reads, and their order in autograd's
// lists of saved tensors.
struct SavedTensors {
  at::Tensor vectors;            // [sources of types without features, d]
  at::Tensor adaptation_weight;  // [d, all widths] A, side by side
  at::Tensor adaptation_bias;    // [types with features, d] a
  at::Tensor time_vectors;       // [(type, gap) rows, d]
  at::Tensor weight;             // [T, 3d, d] P

  variable_list list() const {
    return {vectors, adaptation_weight, adaptation_bias, time_vectors, weight};
  }
  static SavedTensors from(const variable_list& list) {
    return {.vectors = list[0],
            .adaptation_weight = list[1],
            .adaptation_bias = list[2],
            .time_vectors = list[3],
            .weight = list[4]};
  }
};

// Places of the three tables in autograd's lists of results and of their gradients.
constexpr size_t kSources = 0;
constexpr size_t kQueries = 1;
constexpr size_t kOwn = 2;

// The part of the layer's tensors that one type reads.
struct TypeInputs {
  at::Tensor rows;        // [sources, width] x, or [sources, d] H
  at::Tensor adaptation;  // [d, width] A; undefined: the rows are vectors
  at::Tensor shift;       // [1, d] a
};

TypeInputs inputs_of(const FixedInputs& fixed, size_t type, const SavedTensors& saved) {
  const TypeRanges& ranges = fixed.types[type];
  if (!ranges.has_features()) {
    return {.rows = ranges.vectors().of(saved.vectors), .adaptation = {}, .shift = {}};
  }
  return {.rows = fixed.features[type],
          .adaptation = saved.adaptation_weight.narrow(1, ranges.first_column, ranges.width),
          .shift = saved.adaptation_bias.narrow(0, ranges.place, 1)};
}

// K, M and Q of one type, as maps of what its rows are given as: P and p, or C and c.
struct TypeMaps {
  at::Tensor weight;  // [3d, width]
  at::Tensor bias;    // [1, 3d]
};

// Keys and messages are the first 2d rows of the weights of a type, queries the last d.
at::Tensor key_messages(const at::Tensor& of, int64_t hidden, int64_t dim = 0) {
  return of.narrow(dim, first_row(ProjectionPart::key, hidden), 2 * hidden);
}
at::Tensor queries(const at::Tensor& of, int64_t hidden, int64_t dim = 0) {
  return of.narrow(dim, first_row(ProjectionPart::query, hidden), hidden);
}

// The forward pass of all types, in two rounds of products: in the second are those that need maps
// made in the first.
class ProjectionForward {
 public:
  ProjectionForward(const FixedInputs& fixed, const SavedTensors& saved, const at::Tensor& bias)
      : fixed_(fixed),
        saved_(saved),
        bias_(bias),
        tables_{.sources = empty({fixed.source_rows, 2 * hidden()}),
                .queries = empty({fixed.num_targets, hidden()}),
                .own = empty({fixed.num_targets, hidden()})} {}

  void run() {
    for (size_t type = 0; type < fixed_.types.size(); ++type) project_type(type);
    compute_sums(of_maps_);
    compute_sums(of_rows_);
  }
  const ProjectionTables& tables() const { return tables_; }

 private:
  int64_t hidden() const { return saved_.weight.size(2); }
  at::Tensor empty(at::IntArrayRef sizes) const {
    return at::empty(sizes, saved_.weight.options());
  }

  void project_type(size_t type) {
    const TypeRanges& ranges = fixed_.types[type];
    const TypeInputs given = inputs_of(fixed_, type, saved_);
    const at::Tensor weight = saved_.weight[ranges.set];
    const at::Tensor target_rows = given.rows.narrow(0, 0, ranges.targets.count);
    const TypeMaps maps = given.adaptation.defined()
                              ? adapted_maps(ranges, given)
                              : TypeMaps{.weight = weight, .bias = bias_[ranges.set].unsqueeze(0)};
    add_own(ranges, given, target_rows);
    of_rows_.push_back(
        {.y = ranges.sources.of(tables_.sources),
         .start = key_messages(maps.bias[0], hidden()),
         .terms = {{.x = given.rows, .w = key_messages(maps.weight, hidden()).t()}}});
    of_rows_.push_back({.y = ranges.targets.of(tables_.queries),
                        .start = queries(maps.bias[0], hidden()),
                        .terms = {{.x = target_rows, .w = queries(maps.weight, hidden()).t()}}});
    of_rows_.push_back({.y = fixed_.time_rows(ranges).of(tables_.sources),
                        .terms = {{.x = ranges.times.of(saved_.time_vectors),
                                   .w = key_messages(weight, hidden()).t()}}});
  }

  // C = P A and c = a P^T + p.
  TypeMaps adapted_maps(const TypeRanges& ranges, const TypeInputs& given) {
    const at::Tensor weight = saved_.weight[ranges.set];
    TypeMaps maps{.weight = empty({3 * hidden(), ranges.width}), .bias = empty({1, 3 * hidden()})};
    of_maps_.push_back({.y = maps.weight, .terms = {{.x = weight, .w = given.adaptation}}});
    of_maps_.push_back({.y = maps.bias,
                        .start = bias_[ranges.set],
                        .terms = {{.x = given.shift, .w = weight.t()}}});
    return maps;
  }

  // own[t] = H[t], or x A^T + a.
  void add_own(const TypeRanges& ranges, const TypeInputs& given, const at::Tensor& target_rows) {
    const at::Tensor own = ranges.targets.of(tables_.own);
    if (given.adaptation.defined()) {
      of_rows_.push_back({.y = own,
                          .start = given.shift[0],
                          .terms = {{.x = target_rows, .w = given.adaptation.t()}}});
    } else {
      of_rows_.push_back({.y = own, .start = target_rows});
    }
  }

  const FixedInputs& fixed_;
  const SavedTensors& saved_;
  const at::Tensor& bias_;
  ProjectionTables tables_;
  std::vector<ProductSum> of_maps_;
  std::vector<ProductSum> of_rows_;
};

struct InputGradients {
  at::Tensor vectors, adaptation_weight, adaptation_bias, time_vectors;
};

// The backward pass of all types, in two rounds of products: in the second are those that need
// sums of the first, and with them all terms of dP, for a sum is computed in one round.
class ProjectionBackward {
 public:
  ProjectionBackward(const FixedInputs& fixed, const SavedTensors& saved,
                     const ProjectionTables& gradients)
      : fixed_(fixed),
        saved_(saved),
        weight_(saved.weight),
        gradients_(gradients),
        ones_(at::ones({1, fixed.num_sources}, weight_.options())),
        row_sums_(
            at::empty({static_cast<int64_t>(fixed.types.size()), 3 * hidden()}, weight_.options())),
        weight_gradient_(at::empty_like(weight_)),
        inputs_{.vectors = at::empty_like(saved.vectors),
                .adaptation_weight = at::empty_like(saved.adaptation_weight),
                .adaptation_bias = at::empty_like(saved.adaptation_bias),
                .time_vectors = at::empty_like(saved.time_vectors)} {
    // A sum for each half of each dP, to which types then add terms; a set without any gets zeros.
    for (int64_t set = 0; set < weight_.size(0); ++set) {
      second_.push_back({.y = key_messages(weight_gradient_[set], hidden())});
      second_.push_back({.y = queries(weight_gradient_[set], hidden())});
    }
  }

  void run() {
    for (size_t type = 0; type < fixed_.types.size(); ++type) {
      const TypeRanges& ranges = fixed_.types[type];
      sum_rows(type);
      if (ranges.has_features()) {
        features_backward(type);
      } else {
        vectors_backward(ranges);
      }
      times_backward(ranges);
    }
    compute_sums(first_);
    compute_sums(second_);
  }

  const at::Tensor& weight() const { return weight_gradient_; }
  // dp: the row sums of all types of a set.
  at::Tensor bias() const {
    std::vector<int64_t> sets;
    for (const TypeRanges& ranges : fixed_.types) sets.push_back(ranges.set);
    return at::zeros({weight_.size(0), weight_.size(1)}, weight_.options())
        .index_add_(0, at::tensor(sets, at::kLong), row_sums_);
  }
  const InputGradients& inputs() const { return inputs_; }

 private:
  int64_t hidden() const { return weight_.size(2); }
  at::Tensor row_sum(size_t type) const {  // [1, 3d]
    return row_sums_.narrow(0, static_cast<int64_t>(type), 1);
  }
  // [1, count]: times a table of `count` rows, it is the sum of the rows.
  at::Tensor ones(int64_t count) const { return ones_.narrow(1, 0, count); }
  // The terms of dP_KM and dP_Q of a set, which come first in the second round, side by side.
  static constexpr int64_t kSumsPerSet = 2;
  std::vector<MatrixProduct>& key_message_gradient(int64_t set) {
    return second_[static_cast<size_t>(kSumsPerSet * set)].terms;
  }
  std::vector<MatrixProduct>& query_gradient(int64_t set) {
    return second_[static_cast<size_t>(kSumsPerSet * set + 1)].terms;
  }

  // The type's part of dp, or its dc: sum of dsources[s] | sum of dqueries[t].
  void sum_rows(size_t type) {
    const TypeRanges& ranges = fixed_.types[type];
    const at::Tensor sums = row_sum(type);
    first_.push_back(
        {.y = key_messages(sums, hidden(), 1),
         .terms = {{.x = ones(ranges.sources.count), .w = ranges.sources.of(gradients_.sources)}}});
    first_.push_back(
        {.y = queries(sums, hidden(), 1),
         .terms = {{.x = ones(ranges.targets.count), .w = ranges.targets.of(gradients_.queries)}}});
  }

  // dH of targets, dH of the other sources, and terms of dP_KM and dP_Q.
  void vectors_backward(const TypeRanges& ranges) {
    const at::Tensor given = ranges.vectors().of(saved_.vectors);
    const at::Tensor to = ranges.vectors().of(inputs_.vectors);
    const at::Tensor from = ranges.sources.of(gradients_.sources);
    const at::Tensor from_queries = ranges.targets.of(gradients_.queries);
    const at::Tensor back = key_messages(weight_[ranges.set], hidden());
    const RowRange targets{.first = 0, .count = ranges.targets.count};
    const RowRange others{.first = targets.count, .count = ranges.sources.count - targets.count};
    first_.push_back({.y = targets.of(to),
                      .start = ranges.targets.of(gradients_.own),
                      .terms = {{.x = targets.of(from), .w = back},
                                {.x = from_queries, .w = queries(weight_[ranges.set], hidden())}}});
    first_.push_back({.y = others.of(to), .terms = {{.x = others.of(from), .w = back}}});
    key_message_gradient(ranges.set).push_back({.x = from.t(), .w = given});
    query_gradient(ranges.set).push_back({.x = from_queries.t(), .w = targets.of(given)});
  }

  // dC first; from it and dc, terms of dP, and dA and da.
  void features_backward(size_t type) {
    const TypeRanges& ranges = fixed_.types[type];
    const TypeInputs given = inputs_of(fixed_, type, saved_);
    const at::Tensor map = at::empty({3 * hidden(), ranges.width}, weight_.options());  // dC
    const at::Tensor sums = row_sum(type);                                              // dc
    const at::Tensor of_own = ranges.targets.of(gradients_.own);
    const at::Tensor target_rows = given.rows.narrow(0, 0, ranges.targets.count);
    first_.push_back(
        {.y = key_messages(map, hidden()),
         .terms = {{.x = ranges.sources.of(gradients_.sources).t(), .w = given.rows}}});
    first_.push_back(
        {.y = queries(map, hidden()),
         .terms = {{.x = ranges.targets.of(gradients_.queries).t(), .w = target_rows}}});
    // dP = dC A^T + dc^T a, of the rows that `part` takes.
    const auto add_both = [&](std::vector<MatrixProduct>& terms, const auto& part) {
      terms.push_back({.x = part(map, 0), .w = given.adaptation.t()});
      terms.push_back({.x = part(sums, 1).t(), .w = given.shift});
    };
    add_both(key_message_gradient(ranges.set),
             [&](const at::Tensor& of, int64_t dim) { return key_messages(of, hidden(), dim); });
    add_both(query_gradient(ranges.set),
             [&](const at::Tensor& of, int64_t dim) { return queries(of, hidden(), dim); });
    const at::Tensor& weight = weight_[ranges.set];
    second_.push_back(
        {.y = inputs_.adaptation_weight.narrow(1, ranges.first_column, ranges.width),
         .terms = {{.x = weight.t(), .w = map}, {.x = of_own.t(), .w = target_rows}}});
    second_.push_back(
        {.y = inputs_.adaptation_bias.narrow(0, ranges.place, 1),
         .terms = {{.x = sums, .w = weight}, {.x = ones(ranges.targets.count), .w = of_own}}});
  }

  // dRTE, and a term of dP_KM. No biases: times have no part in dp.
  void times_backward(const TypeRanges& ranges) {
    const at::Tensor from = fixed_.time_rows(ranges).of(gradients_.sources);
    first_.push_back({.y = ranges.times.of(inputs_.time_vectors),
                      .terms = {{.x = from, .w = key_messages(weight_[ranges.set], hidden())}}});
    key_message_gradient(ranges.set)
        .push_back({.x = from.t(), .w = ranges.times.of(saved_.time_vectors)});
  }

  const FixedInputs& fixed_;
  const SavedTensors& saved_;
  const at::Tensor& weight_;
  const ProjectionTables& gradients_;
  at::Tensor ones_;             // [1, sources]
  at::Tensor row_sums_;         // [types, 3d]
  at::Tensor weight_gradient_;  // [T, 3d, d] dP
  InputGradients inputs_;
  std::vector<ProductSum> first_;
  std::vector<ProductSum> second_;  // [kSumsPerSet T] dP_KM and dP_Q of each set; then dA, da
};

class Projection : public torch::autograd::Function<Projection> {
 public:
  // LibTorch differentiates by each of the arguments: there cannot be fewer of them.
  // NOLINTNEXTLINE(readability-function-size)
  static variable_list forward(AutogradContext* context, const at::Tensor& vectors,
                               const at::Tensor& adaptation_weight,
                               const at::Tensor& adaptation_bias, const at::Tensor& time_vectors,
                               const at::Tensor& weight, const at::Tensor& bias,
                               const c10::intrusive_ptr<FixedInputs>& fixed) {
    const SavedTensors saved{.vectors = vectors,
                             .adaptation_weight = adaptation_weight,
                             .adaptation_bias = adaptation_bias,
                             .time_vectors = time_vectors,
                             .weight = weight};
    ProjectionForward forward(*fixed, saved, bias);
    forward.run();
    context->save_for_backward(saved.list());
    context->saved_data["fixed"] = c10::IValue::make_capsule(fixed);
    variable_list results(3);
    results[kSources] = forward.tables().sources;
    results[kQueries] = forward.tables().queries;
    results[kOwn] = forward.tables().own;
    return results;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const auto holder = context->saved_data["fixed"].toCapsule();
    const SavedTensors saved = SavedTensors::from(context->get_saved_variables());
    const ProjectionTables of_tables{.sources = gradients[kSources],
                                     .queries = gradients[kQueries],
                                     .own = gradients[kOwn].contiguous()};
    ProjectionBackward backward(static_cast<const FixedInputs&>(*holder), saved, of_tables);
    backward.run();
    const InputGradients& inputs = backward.inputs();
    // In the order of forward()'s arguments; `fixed` has none.
    return {inputs.vectors,      inputs.adaptation_weight, inputs.adaptation_bias,
            inputs.time_vectors, backward.weight(),        backward.bias(),
            at::Tensor()};
  }
};

}  // namespace

ProjectionTables project_all(const LayerGraph& graph, const std::vector<uint32_t>& type_sets,
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
  return {.sources = tables[kSources], .queries = tables[kQueries], .own = tables[kOwn]};
}

void project_key_messages(const std::vector<uint32_t>& type_offsets,
                          const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                          const at::Tensor& vectors, const at::Tensor& result) {
  const torch::NoGradGuard no_gradient;
  const int64_t hidden = vectors.size(1);
  std::vector<ProductSum> sums;
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const RowRange rows = range(type_offsets, type);
    const int64_t set = type_sets[type];
    sums.push_back(
        {.y = rows.of(result),
         .start = key_messages(weights.bias[set], hidden),
         .terms = {{.x = rows.of(vectors), .w = key_messages(weights.weight[set], hidden).t()}}});
  }
  compute_sums(sums);
}

void project_times(const AttentionPlan& plan, const std::vector<uint32_t>& type_sets,
                   const at::Tensor& weight, const at::Tensor& time_vectors,
                   const at::Tensor& sources) {
  const torch::NoGradGuard no_gradient;
  const int64_t hidden = weight.size(2);
  std::vector<ProductSum> sums;
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const RowRange times = range(plan.time_offsets, type);
    sums.push_back({.y = sources.narrow(0, plan.num_sources + times.first, times.count),
                    .terms = {{.x = times.of(time_vectors),
                               .w = key_messages(weight[type_sets[type]], hidden).t()}}});
  }
  compute_sums(sums);
}

void project_queries(const std::vector<uint32_t>& target_offsets,
                     const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                     const at::Tensor& vectors, const at::Tensor& result) {
  const torch::NoGradGuard no_gradient;
  const int64_t hidden = vectors.size(1);
  std::vector<ProductSum> sums;
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const RowRange rows = range(target_offsets, type);
    const int64_t set = type_sets[type];
    sums.push_back(
        {.y = rows.of(result),
         .start = queries(weights.bias[set], hidden),
         .terms = {{.x = rows.of(vectors), .w = queries(weights.weight[set], hidden).t()}}});
  }
  compute_sums(sums);
}

}  // namespace hgt
