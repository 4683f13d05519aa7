// A full matrix for each meta relation: against loops, against the printed layer that it contains,
// its size, and where it is used. That both paths agree, with all their gradients, is in
// layer_paths_test.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "hgt/model/encoder.h"
#include "hgt/model/finite_differences_test.h"
#include "hgt/model/random_batch_test.h"
#include "reference/full_matrix_reference.h"

namespace hgt {
namespace {

using Doubles = std::vector<double>;

constexpr LayerPath kBothPaths[] = {LayerPath::reference, LayerPath::fused};

// Small: the oracle takes d * d steps for each edge.
RandomCase full_matrix_case(uint64_t seed) {
  RandomCase made = random_case(seed % 16);  // hidden 8
  made.seed = seed;
  made.options.matrix_per_relation = true;
  return made;
}

Doubles to_doubles(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

FullMatrixReference reference_of(const HgtLayer& layer, const RandomCase& made,
                                 const at::Tensor& input) {
  const LayerGraph& graph = made.graph;
  const int64_t d = made.options.hidden;
  FullMatrixReference oracle{.hidden = static_cast<size_t>(d),
                             .heads = static_cast<size_t>(made.options.heads)};
  oracle.divisor = std::sqrt(
      static_cast<double>(made.options.divide_by_head_width ? d / made.options.heads : d));
  for (int64_t set = 0; set < layer->relation_weight.size(0); ++set) {
    const at::Tensor weight = layer->relation_weight[set];
    const at::Tensor bias = layer->relation_bias[set];
    oracle.key_weights.push_back(to_doubles(weight.slice(0, 0, d)));
    oracle.message_weights.push_back(to_doubles(weight.slice(0, d, 2 * d)));
    oracle.key_biases.push_back(to_doubles(bias.slice(0, 0, d)));
    oracle.message_biases.push_back(to_doubles(bias.slice(0, d, 2 * d)));
  }
  const LayerByHand by_hand{*layer, made.options, made.schema, graph, input};
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    const int64_t set = made.options.heter ? type : 0;
    for (uint32_t i = 0; i < graph.num_targets(type); ++i) {
      const at::Tensor own = input[graph.source_offsets[type] + i];
      oracle.queries.push_back(
          to_doubles(at::mv(layer->projection_weight[set], own) + layer->projection_bias[set]));
    }
  }
  for (uint32_t target = 0; target < graph.num_targets(); ++target) {
    for (const uint64_t edge : graph.incoming(target)) {
      const size_t relation = index(graph.relations[edge]);
      oracle.edges.push_back({.target = target,
                              .relation = made.options.heter ? relation : 0,
                              .source = to_doubles(by_hand.source_vector(edge))});
    }
  }
  return oracle;
}

void expect_what_loops_give(const RandomCase& made, LayerPath path) {
  const at::Tensor input = random_input(made, at::kDouble);
  HgtLayer layer = random_layer(made, path, at::kDouble);
  layer->eval();
  std::vector<Doubles> weights;
  const std::vector<Doubles> received = reference_of(layer, made, input).run(weights);
  const LayerByHand by_hand{*layer, made.options, made.schema, made.graph, input};
  AttentionTrace trace;
  const at::Tensor outputs = layer->forward(input, made.graph, &trace).detach();
  for (size_t edge = 0; edge < weights.size(); ++edge) {
    EXPECT_LE(distance(trace[0].weights[static_cast<int64_t>(edge)],
                       at::tensor(weights[edge], at::kDouble)),
              1e-10)
        << "seed " << made.seed;
  }
  uint32_t target = 0;
  for (uint32_t type = 0; type < made.graph.num_types(); ++type) {
    for (uint32_t i = 0; i < made.graph.num_targets(type); ++i, ++target) {
      const at::Tensor expected = by_hand.update(type, input[made.graph.source_offsets[type] + i],
                                                 at::tensor(received[target], at::kDouble));
      EXPECT_LE(distance(outputs[target], expected), 1e-10) << "seed " << made.seed;
    }
  }
}

TEST(MatrixPerRelation, IsWhatLoopsOverEdgesGive) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    for (const LayerPath path : kBothPaths) expect_what_loops_give(full_matrix_case(seed), path);
  }
}

// [h or 1, k, k] -> [d, d]: a block for each head.
at::Tensor block_diagonal(const at::Tensor& matrices, int64_t heads) {
  const at::Tensor all = matrices.expand({heads, -1, -1});
  return at::block_diag(std::vector<at::Tensor>(all.unbind(0)));
}

// Q-Linear and all that both layers have.
void copy_shared_weights(const HgtLayer& printed, HgtLayer& full, int64_t d) {
  auto weights = full->named_parameters();
  for (const auto& parameter : printed->named_parameters()) {
    at::Tensor* own = weights.find(parameter.key());
    if (own == nullptr) continue;
    const bool is_projection = parameter.key().starts_with("projection");
    own->copy_(is_projection ? parameter.value().slice(1, 2 * d, 3 * d) : parameter.value());
  }
}

// K_r = K-Linear W_ATT mu, M_r = M-Linear W_MSG, for a relation with these slices of the weights.
struct Slices {
  int64_t relation, type, edge;
};
void multiply_out(const HgtLayer& printed, HgtLayer& full, const Slices& of,
                  const ModelOptions& options) {
  const int64_t d = options.hidden;
  const at::Tensor attention = block_diagonal(printed->attention_weight[of.edge], options.heads) *
                               printed->relation_prior[of.relation];
  const at::Tensor message = block_diagonal(printed->message_weight[of.edge], options.heads);
  for (const auto& [first, matrix] : {std::pair(int64_t{0}, attention), std::pair(d, message)}) {
    const at::Tensor weight = printed->projection_weight[of.type].slice(0, first, first + d);
    const at::Tensor bias = printed->projection_bias[of.type].slice(0, first, first + d);
    full->relation_weight[of.relation].slice(0, first, first + d).copy_(at::mm(matrix.t(), weight));
    full->relation_bias[of.relation].slice(0, first, first + d).copy_(at::mv(matrix.t(), bias));
  }
}

TEST(MatrixPerRelation, ContainsThePrintedLayer) {
  const torch::NoGradGuard no_gradient;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    RandomCase made = random_case(seed);
    made.options.matrix_per_relation = false;
    made.options.prior = Prior::meta_relation;
    HgtLayer printed = random_layer(made, LayerPath::reference, at::kDouble);
    made.options.matrix_per_relation = true;
    HgtLayer full = random_layer(made, LayerPath::fused, at::kDouble);
    copy_shared_weights(printed, full, made.options.hidden);
    for (int64_t i = 0; i < full->relation_weight.size(0); ++i) {
      const auto& [source, edge, target] = made.schema.relations[static_cast<size_t>(i)];
      const bool heter = made.options.heter;
      multiply_out(printed, full,
                   {.relation = i, .type = heter ? source : 0, .edge = heter ? edge : 0},
                   made.options);
    }
    printed->eval();
    full->eval();
    const at::Tensor input = random_input(made, at::kDouble);
    EXPECT_LE(distance(full->forward(input, made.graph), printed->forward(input, made.graph)),
              1e-10)
        << "seed " << seed;
  }
}

TEST(MatrixPerRelation, HasTheGradientsOfFiniteDifferences) {
  for (const uint64_t seed : {0U, 2U, 5U, 9U}) {  // with and without -Heter and -RTE
    const RandomCase made = full_matrix_case(seed);
    HgtLayer layer = random_layer(made, LayerPath::fused, at::kDouble);
    layer->eval();
    const at::Tensor input = random_input(made, at::kDouble);
    Results gradients = results_of(layer, made.graph, input, seed);
    const at::Tensor cotangent =
        random_rows(hash(seed, 5), made.graph.num_targets(), made.options.hidden, at::kDouble);
    const torch::NoGradGuard no_gradient;
    const auto loss = [&] {
      return (layer->forward(input, made.graph) * cotangent).sum().item<double>();
    };
    EXPECT_LE(distance(gradients.at("input"), finite_differences(input, loss)), 1e-6);
    for (const auto& name : {"relation_bias", "projection_weight", "projection_bias"}) {
      const at::Tensor parameter = layer->named_parameters()[name];
      EXPECT_LE(distance(gradients.at(name), finite_differences(parameter, loss)), 1e-6) << name;
    }
    const at::Tensor first = layer->relation_weight[0];
    EXPECT_LE(distance(gradients.at("relation_weight")[0], finite_differences(first, loss)), 1e-6);
  }
}

TEST(MatrixPerRelation, IsTheSameInTwoPartsForWholeGraphs) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const RandomCase made = full_matrix_case(seed);
    HgtLayer layer = random_layer(made, LayerPath::fused, at::kDouble);
    layer->eval();
    const torch::NoGradGuard no_gradient;
    const at::Tensor input = random_input(made, at::kDouble);
    const at::Tensor prepared =
        at::empty({input.size(0), layer->prepared_width(input.size(1))}, at::kDouble);
    layer->prepare_rows(input, made.graph.source_offsets, prepared);
    const SharedPlan plan = layer->plan(made.graph);
    EXPECT_EQ(plan->source_rows, made.graph.num_sources());
    EXPECT_TRUE(at::equal(
        layer->forward_prepared(own_vectors(input, made.graph), prepared, made.graph, plan),
        layer->forward(input, made.graph)));
  }
}

// Per layer: R (2 d^2 + 2 d) for keys and messages, T (2 d^2 + 2 d) for Q-Linear and A-Linear; the
// printed layer has T (4 d^2 + 4 d) + E 2 k^2 + R.
TEST(MatrixPerRelation, HasTheParametersThatTheDocumentsState) {
  constexpr int64_t d = 256;
  constexpr int64_t k = d / 8;
  constexpr int64_t types = 5;
  constexpr int64_t edge_types = 9;
  ModelSchema schema;
  for (int64_t type = 0; type < types; ++type) schema.node_types.push_back({std::to_string(type)});
  for (int64_t edge = 0; edge < edge_types; ++edge) {
    schema.edge_types.push_back(std::to_string(edge));
    for (uint32_t type = 0; type < 3; ++type) {
      schema.relations.push_back({type, static_cast<uint32_t>(edge), type + 1});
    }
  }
  const auto relations = static_cast<int64_t>(schema.relations.size());
  ModelOptions options = paper_preset();
  options.rte = false;
  EXPECT_EQ(num_parameters(*HgtLayer(options, schema)),
            types * (4 * d * d + 4 * d) + edge_types * 2 * k * k + relations);
  options.matrix_per_relation = true;
  EXPECT_EQ(num_parameters(*HgtLayer(options, schema)), (relations + types) * (2 * d * d + 2 * d));
}

}  // namespace
}  // namespace hgt
