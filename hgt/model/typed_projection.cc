#include "hgt/model/typed_projection.h"

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

// y = x w, or y += x w.
void product(const at::Tensor& y, const at::Tensor& x, const at::Tensor& w, bool add) {
  if (y.numel() == 0) return;
  at::Tensor out = y;
  if (add) {
    out.addmm_(x, w);
  } else {
    at::mm_out(out, x, w);
  }
}

// y = x w^T + b.
void linear(const at::Tensor& y, const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) {
  if (y.numel() == 0) return;
  at::Tensor out = y;
  at::addmm_out(out, b, x, w.t());
}

// K, M and Q of one type, as maps of what its rows are given as.
struct TypeMaps {
  at::Tensor weight;  // [3d, width]
  at::Tensor bias;    // [3d]
};

// The part of the layer's tensors that one type reads.
struct TypeInputs {
  at::Tensor rows;        // [sources, width]
  at::Tensor adaptation;  // [d, width] A; undefined: the rows are vectors
  at::Tensor shift;       // [d] a
};

TypeInputs inputs_of(const FixedInputs& fixed, size_t type, const at::Tensor& vectors,
                     const at::Tensor& adaptation_weight, const at::Tensor& adaptation_bias) {
  const TypeRows& rows = fixed.types[type];
  if (rows.first_vector >= 0) return {vectors.narrow(0, rows.first_vector, rows.sources), {}, {}};
  return {fixed.features[type], adaptation_weight.narrow(1, rows.first_column, rows.width),
          adaptation_bias[rows.place]};
}

TypeMaps maps_of(const TypeInputs& inputs, const at::Tensor& weight, const at::Tensor& bias) {
  if (!inputs.adaptation.defined()) return {weight, bias};
  return {at::mm(weight, inputs.adaptation), at::addmv(bias, weight, inputs.shift)};
}

// Gradients of slices, of which the first that comes is written and the others are added.
class SliceGradients {
 public:
  explicit SliceGradients(const at::Tensor& like)
      : all_(at::empty_like(like)), written_(static_cast<size_t>(like.size(0)) * 2, false) {}

  // slice[first, first + count) += x w; part 0 is keys and messages, part 1 queries.
  void add(int64_t set, int part, const at::Tensor& x, const at::Tensor& w) {
    const auto written = written_.begin() + 2 * set + part;
    product(rows(set, part), x, w, *written);
    *written = true;
  }
  // What nothing was added to is zero.
  at::Tensor finish() {
    for (int64_t set = 0; set < all_.size(0); ++set) {
      for (const int part : {0, 1}) {
        if (!written_[static_cast<size_t>(2 * set + part)]) rows(set, part).zero_();
      }
    }
    return all_;
  }

 private:
  at::Tensor rows(int64_t set, int part) const {
    const int64_t hidden = all_.size(1) / 3;
    return all_[set].narrow(0, part == 0 ? 0 : 2 * hidden, part == 0 ? 2 * hidden : hidden);
  }

  at::Tensor all_;  // [T, 3d, d]
  std::vector<bool> written_;
};

struct InputGradients {
  at::Tensor vectors, adaptation_weight, adaptation_bias, time_vectors;
};

// The backward pass of all types.
class ProjectionBackward {
 public:
  ProjectionBackward(const FixedInputs& fixed, const variable_list& saved,
                     const at::Tensor& source_gradient, const at::Tensor& query_gradient)
      : fixed_(fixed),
        vectors_(saved[0]),
        adaptation_weight_(saved[1]),
        adaptation_bias_(saved[2]),
        time_vectors_(saved[3]),
        weight_(saved[4]),
        source_gradient_(source_gradient),
        query_gradient_(query_gradient),
        weight_gradient_(weight_),
        bias_gradient_(at::zeros({weight_.size(0), weight_.size(1)}, weight_.options())),
        inputs_{at::empty_like(vectors_), at::empty_like(adaptation_weight_),
                at::zeros_like(adaptation_bias_), at::empty_like(time_vectors_)} {}

  void run() {
    for (size_t type = 0; type < fixed_.types.size(); ++type) {
      if (fixed_.types[type].first_vector >= 0) {
        vectors_backward(fixed_.types[type]);
      } else {
        features_backward(type);
      }
      times_backward(fixed_.types[type]);
    }
  }

  at::Tensor weight() { return weight_gradient_.finish(); }
  const at::Tensor& bias() const { return bias_gradient_; }
  const InputGradients& inputs() const { return inputs_; }

 private:
  int64_t hidden() const { return weight_.size(2); }
  at::Tensor of_sources(const TypeRows& rows) const {
    return source_gradient_.narrow(0, rows.first_source, rows.sources);
  }
  at::Tensor of_targets(const TypeRows& rows) const {
    return query_gradient_.narrow(0, rows.first_target, rows.targets);
  }
  // [3d]: sums over the rows of the type.
  at::Tensor row_sums(const TypeRows& rows) const {
    return at::cat({of_sources(rows).sum(0), of_targets(rows).sum(0)});
  }

  void vectors_backward(const TypeRows& rows) {
    if (rows.sources == 0) return;
    const at::Tensor given = vectors_.narrow(0, rows.first_vector, rows.sources);
    const at::Tensor gradient = inputs_.vectors.narrow(0, rows.first_vector, rows.sources);
    const at::Tensor own = weight_[rows.set];
    product(gradient, of_sources(rows), own.narrow(0, 0, 2 * hidden()), false);
    weight_gradient_.add(rows.set, 0, of_sources(rows).t(), given);
    bias_gradient_[rows.set].add_(row_sums(rows));
    if (rows.targets == 0) return;
    product(gradient.narrow(0, 0, rows.targets), of_targets(rows),
            own.narrow(0, 2 * hidden(), hidden()), true);
    weight_gradient_.add(rows.set, 1, of_targets(rows).t(), given.narrow(0, 0, rows.targets));
  }

  // The maps K A and K a + k get gradients first; from them, K, k, A and a.
  void features_backward(size_t type) {
    const TypeRows& rows = fixed_.types[type];
    const TypeInputs given =
        inputs_of(fixed_, type, vectors_, adaptation_weight_, adaptation_bias_);
    at::Tensor map_gradient = at::empty({3 * hidden(), rows.width}, weight_.options());
    product(map_gradient.narrow(0, 0, 2 * hidden()), of_sources(rows).t(), given.rows, false);
    product(map_gradient.narrow(0, 2 * hidden(), hidden()), of_targets(rows).t(),
            given.rows.narrow(0, 0, rows.targets), false);
    const at::Tensor sums = row_sums(rows);
    const at::Tensor own = weight_[rows.set];
    const at::Tensor back = given.adaptation.t();
    for (const int part : {0, 1}) {
      const int64_t first = part == 0 ? 0 : 2 * hidden();
      const int64_t count = part == 0 ? 2 * hidden() : hidden();
      weight_gradient_.add(rows.set, part, map_gradient.narrow(0, first, count), back);
      weight_gradient_.add(rows.set, part, sums.narrow(0, first, count).unsqueeze(1),
                           given.shift.unsqueeze(0));
    }
    bias_gradient_[rows.set].add_(sums);
    product(inputs_.adaptation_weight.narrow(1, rows.first_column, rows.width), own.t(),
            map_gradient, false);
    inputs_.adaptation_bias[rows.place].addmv_(own.t(), sums);
  }

  void times_backward(const TypeRows& rows) {
    if (rows.times == 0) return;
    const at::Tensor own =
        source_gradient_.narrow(0, fixed_.num_sources + rows.first_time, rows.times);
    product(inputs_.time_vectors.narrow(0, rows.first_time, rows.times), own,
            weight_[rows.set].narrow(0, 0, 2 * hidden()), false);
    weight_gradient_.add(rows.set, 0, own.t(),
                         time_vectors_.narrow(0, rows.first_time, rows.times));
  }

  const FixedInputs& fixed_;
  const at::Tensor& vectors_;
  const at::Tensor& adaptation_weight_;
  const at::Tensor& adaptation_bias_;
  const at::Tensor& time_vectors_;
  const at::Tensor& weight_;
  const at::Tensor& source_gradient_;
  const at::Tensor& query_gradient_;
  SliceGradients weight_gradient_;
  at::Tensor bias_gradient_;
  InputGradients inputs_;
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
    const at::Tensor queries = at::empty({fixed->num_targets, hidden}, weight.options());
    for (size_t type = 0; type < fixed->types.size(); ++type) {
      const TypeRows& rows = fixed->types[type];
      const TypeInputs inputs =
          inputs_of(*fixed, type, vectors, adaptation_weight, adaptation_bias);
      const TypeMaps maps = maps_of(inputs, weight[rows.set], bias[rows.set]);
      linear(sources.narrow(0, rows.first_source, rows.sources), inputs.rows,
             maps.weight.narrow(0, 0, 2 * hidden), maps.bias.narrow(0, 0, 2 * hidden));
      linear(queries.narrow(0, rows.first_target, rows.targets),
             inputs.rows.narrow(0, 0, rows.targets), maps.weight.narrow(0, 2 * hidden, hidden),
             maps.bias.narrow(0, 2 * hidden, hidden));
      product(sources.narrow(0, fixed->num_sources + rows.first_time, rows.times),
              time_vectors.narrow(0, rows.first_time, rows.times),
              weight[rows.set].narrow(0, 0, 2 * hidden).t(), false);
    }
    context->save_for_backward({vectors, adaptation_weight, adaptation_bias, time_vectors, weight});
    context->saved_data["fixed"] = c10::IValue::make_capsule(fixed);
    return {sources, queries};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivatives();
    const auto holder = context->saved_data["fixed"].toCapsule();
    const variable_list saved = context->get_saved_variables();
    ProjectionBackward backward(static_cast<const FixedInputs&>(*holder), saved, gradients[0],
                                gradients[1]);
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
  return {tables[0], tables[1]};
}

void project_key_messages(const std::vector<uint32_t>& type_offsets,
                          const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                          const at::Tensor& vectors, const at::Tensor& key_messages) {
  const torch::NoGradGuard no_gradient;
  const int64_t width = 2 * vectors.size(1);
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const auto [first, rows] = range(type_offsets, type);
    linear(key_messages.narrow(0, first, rows), vectors.narrow(0, first, rows),
           weights.weight[type_sets[type]].narrow(0, 0, width),
           weights.bias[type_sets[type]].narrow(0, 0, width));
  }
}

void project_times(const AttentionPlan& plan, const std::vector<uint32_t>& type_sets,
                   const at::Tensor& weight, const at::Tensor& time_vectors,
                   const at::Tensor& sources) {
  const torch::NoGradGuard no_gradient;
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const auto [first, rows] = range(plan.time_offsets, type);
    product(sources.narrow(0, plan.num_sources + first, rows), time_vectors.narrow(0, first, rows),
            weight[type_sets[type]].narrow(0, 0, sources.size(1)).t(), false);
  }
}

void project_queries(const std::vector<uint32_t>& target_offsets,
                     const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                     const at::Tensor& vectors, const at::Tensor& queries) {
  const torch::NoGradGuard no_gradient;
  const int64_t hidden = vectors.size(1);
  for (size_t type = 0; type < type_sets.size(); ++type) {
    const auto [first, rows] = range(target_offsets, type);
    linear(queries.narrow(0, first, rows), vectors.narrow(0, first, rows),
           weights.weight[type_sets[type]].narrow(0, 2 * hidden, hidden),
           weights.bias[type_sets[type]].narrow(0, 2 * hidden, hidden));
  }
}

}  // namespace hgt
