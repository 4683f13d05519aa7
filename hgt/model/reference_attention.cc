#include "hgt/model/reference_attention.h"

#include <torch/version.h>

#include <limits>

#include "hgt/model/layer.h"

namespace hgt {

namespace {

using at::indexing::Slice;

// The edges of one relation, as index tensors on the device of the vectors.
struct RelationEdges {
  uint32_t set = 0;              // slice of the matrices
  uint32_t source_type_set = 0;  // slice of the projections: sources of a relation have one type
  // [edges of the relation] rows of the graph, place of the gap, number of the edge.
  at::Tensor sources, targets, gaps, places;
};

at::Tensor to_index(const std::vector<int64_t>& values, const at::Device& device) {
  return at::tensor(values, at::kLong).to(device);
}

// The type of a row, given the offsets of the types.
uint32_t type_of(const std::vector<uint32_t>& offsets, uint32_t row) {
  uint32_t type = 0;
  while (offsets[type + size_t{1}] <= row) ++type;
  return type;
}

// One entry for each relation that has edges.
std::vector<RelationEdges> edges_by_relation(const AttentionInputs& inputs) {
  const LayerGraph& graph = inputs.graph;
  struct Lists {
    std::vector<int64_t> sources, targets, gaps, places;
  };
  std::vector<Lists> lists(inputs.relation_sets.size());
  for (uint32_t target = 0; target < graph.num_targets(); ++target) {
    for (const uint64_t edge : graph.incoming(target)) {
      Lists& list = lists[index(graph.relations[edge])];
      list.sources.push_back(graph.sources[edge]);
      list.targets.push_back(target);
      list.gaps.push_back(graph.gaps[edge]);
      list.places.push_back(static_cast<int64_t>(edge));
    }
  }
  const at::Device device = inputs.node_vectors.device();
  std::vector<RelationEdges> relations;
  for (size_t relation = 0; relation < lists.size(); ++relation) {
    const Lists& list = lists[relation];
    if (list.sources.empty()) continue;
    const uint32_t type =
        type_of(graph.source_offsets, static_cast<uint32_t>(list.sources.front()));
    relations.push_back({.set = inputs.relation_sets[relation],
                         .source_type_set = inputs.type_sets[type],
                         .sources = to_index(list.sources, device),
                         .targets = to_index(list.targets, device),
                         .gaps = to_index(list.gaps, device),
                         .places = to_index(list.places, device)});
  }
  return relations;
}

// The d rows from `first` on of one set of weights: [rows, d] -> [rows, d].
at::Tensor linear_of_set(const at::Tensor& weight, const at::Tensor& bias, int64_t set,
                         int64_t first, const at::Tensor& vectors) {
  const Slice rows(first, first + vectors.size(1));
  return at::linear(vectors, weight.index({set, rows}), bias.index({set, rows}));
}

// K or M of sources of one relation.
at::Tensor project_sources(const AttentionInputs& inputs, const RelationEdges& edges,
                           ProjectionPart part, const at::Tensor& sources) {
  const int64_t first = first_row(part, sources.size(1));
  if (inputs.relation_weight.defined()) {
    return linear_of_set(inputs.relation_weight, inputs.relation_bias, edges.set, first, sources);
  }
  return linear_of_set(inputs.projection_weight, inputs.projection_bias, edges.source_type_set,
                       first, sources);
}

// Q-Linear of every target: [targets, h, k].
at::Tensor queries_of_targets(const AttentionInputs& inputs, int64_t heads) {
  const LayerGraph& graph = inputs.graph;
  std::vector<at::Tensor> blocks;
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    const int64_t first = graph.source_offsets[type];
    const at::Tensor own = inputs.node_vectors.slice(0, first, first + graph.num_targets(type));
    const int64_t last_rows = inputs.projection_weight.size(1) - own.size(1);
    blocks.push_back(linear_of_set(inputs.projection_weight, inputs.projection_bias,
                                   inputs.type_sets[type], last_rows, own));
  }
  const at::Tensor queries = at::cat(blocks);
  return queries.view({queries.size(0), heads, queries.size(1) / heads});
}

// LibTorch 1 says of scatter_reduce that it is new, each time a program starts; our users need not
// know.
#if TORCH_VERSION_MAJOR < 2
class Silence : public c10::WarningHandler {
 public:
  void process(const c10::SourceLocation& /*where*/, const std::string& /*message*/,
               const bool /*verbatim*/) override {}
};
using SilenceGuard = c10::Warning::WarningHandlerGuard;
#else
class Silence {};
struct SilenceGuard {
  explicit SilenceGuard(Silence* /*silence*/) {}
};
#endif

// The highest score of each target: [edges, h] -> [targets, h]; minus infinity without edges.
at::Tensor highest_scores(const at::Tensor& scores, const at::Tensor& targets,
                          int64_t num_targets) {
  Silence silence;
  const SilenceGuard guard(&silence);
  const at::Tensor lowest = at::full({num_targets, scores.size(1)},
                                     -std::numeric_limits<double>::infinity(), scores.options());
  return at::scatter_reduce(lowest, 0, targets.unsqueeze(1).expand_as(scores), scores, "amax");
}

// Softmax over the edges of each target: [edges, h] -> [edges, h]. `targets`: [edges].
at::Tensor edge_softmax(const at::Tensor& scores, const at::Tensor& targets, int64_t num_targets) {
  const int64_t heads = scores.size(1);
  const at::Tensor highest = highest_scores(scores.detach(), targets, num_targets);
  const at::Tensor powers = (scores - highest.index_select(0, targets)).exp();
  const at::Tensor sums =
      at::zeros({num_targets, heads}, scores.options()).index_add(0, targets, powers);
  return powers / sums.index_select(0, targets);
}

}  // namespace

AttentionOutputs reference_attention(const AttentionInputs& inputs, bool with_weights) {
  const int64_t hidden = inputs.node_vectors.size(1);
  const int64_t heads = hidden / inputs.attention_matrices.size(2);
  // [h, k, k], be it the same for all heads.
  const auto matrix = [&](const at::Tensor& matrices, uint32_t set) {
    const bool one = inputs.relation_weight.defined();
    return matrices[one ? 0 : set].expand({heads, -1, -1});
  };
  const int64_t targets = inputs.graph.num_targets();
  const at::Tensor queries = queries_of_targets(inputs, heads);
  // By relation, to be joined: [e, h], [e, h, k], [e], [e].
  std::vector<at::Tensor> scores;
  std::vector<at::Tensor> messages;
  std::vector<at::Tensor> target_rows;
  std::vector<at::Tensor> places;
  for (const RelationEdges& edges : edges_by_relation(inputs)) {
    at::Tensor sources = inputs.node_vectors.index_select(0, edges.sources);  // [e, d]
    if (inputs.time_vectors.defined()) {
      sources = sources + inputs.time_vectors.index_select(0, edges.gaps);
    }
    const auto by_head = [&](ProjectionPart part) {
      return project_sources(inputs, edges, part, sources).view({-1, heads, hidden / heads});
    };
    const at::Tensor query = queries.index_select(0, edges.targets);  // [e, h, k]
    scores.push_back(at::einsum(
        "ehi,hij,ehj->eh",
        {by_head(ProjectionPart::key), matrix(inputs.attention_matrices, edges.set), query}));
    messages.push_back(at::einsum("ehi,hij->ehj", {by_head(ProjectionPart::message),
                                                   matrix(inputs.message_matrices, edges.set)}));
    target_rows.push_back(edges.targets);
    places.push_back(edges.places);
  }
  at::Tensor aggregated =
      at::zeros({targets, heads, hidden / heads}, inputs.node_vectors.options());
  at::Tensor weights = at::zeros({0, heads}, inputs.node_vectors.options());
  if (!scores.empty()) {
    const at::Tensor rows = at::cat(target_rows);
    const at::Tensor attention = edge_softmax(at::cat(scores), rows, targets);
    aggregated = aggregated.index_add(0, rows, at::cat(messages) * attention.unsqueeze(2));
    if (with_weights) {  // back to the order of the graph
      weights = at::empty_like(attention).index_copy(0, at::cat(places), attention.detach());
    }
  }
  return {.aggregated = aggregated.view({targets, hidden}),
          .weights = with_weights ? weights : at::Tensor(),
          .own = own_vectors(inputs.node_vectors, inputs.graph)};
}

}  // namespace hgt
