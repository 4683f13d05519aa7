// For tests of message passing: random graphs of one layer, with empty types, relations without
// edges, targets without edges, repeated edges, hubs and relations that share matrices; and random
// tables for attention on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "hgt/message/attention_kernels.h"
#include "hgt/message/attention_plan.h"
#include "hgt/message/layer_graph.h"
#include "hgt/random.h"

namespace hgt {

// A layer graph, and which set of matrices each relation uses.
struct TestLayer {
  LayerGraph graph;
  std::vector<uint32_t> sets;  // [relations]
  uint32_t num_sets = 0;

  uint32_t set_of(uint64_t edge) const { return sets[index(graph.relations[edge])]; }
  uint32_t source_type(uint64_t edge) const {
    const auto& offsets = graph.source_offsets;
    const auto next = std::upper_bound(offsets.begin(), offsets.end(), graph.sources[edge]);
    return static_cast<uint32_t>(next - offsets.begin() - 1);
  }
};

struct TestEdge {
  uint32_t target = 0;
  uint32_t source = 0;
  uint32_t relation = 0;
  uint32_t gap = 0;
};

// Lays edges out by target; those of a target keep their order. Gap i is worth 1.5 i - 3.
inline LayerGraph test_layer_graph(const std::vector<uint32_t>& sources,
                                   const std::vector<uint32_t>& targets,
                                   std::vector<TestEdge> edges, uint32_t num_gaps) {
  LayerGraph graph;
  const auto offsets = [](const std::vector<uint32_t>& counts) {
    std::vector<uint32_t> result(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), result.begin() + 1);
    return result;
  };
  graph.source_offsets = offsets(sources);
  graph.target_offsets = offsets(targets);
  std::stable_sort(edges.begin(), edges.end(), [](const TestEdge& left, const TestEdge& right) {
    return left.target < right.target;
  });
  graph.edge_offsets.assign(graph.num_targets() + size_t{1}, 0);
  for (const TestEdge& edge : edges) {
    ++graph.edge_offsets[edge.target + size_t{1}];
    graph.edge_ids.push_back(graph.sources.size());
    graph.sources.push_back(edge.source);
    graph.relations.push_back(Relation(edge.relation));
    graph.gaps.push_back(edge.gap);
  }
  std::partial_sum(graph.edge_offsets.begin(), graph.edge_offsets.end(),
                   graph.edge_offsets.begin());
  for (uint32_t gap = 0; gap < num_gaps; ++gap) graph.gap_values.push_back(1.5 * gap - 3);
  return graph;
}

struct RandomLayerOptions {
  uint32_t types = 4;       // number 1 has no row, the last one no output
  uint32_t most_rows = 24;  // of a type
  uint32_t relations = 9;
  uint32_t most_edges = 60;  // of a relation
  uint32_t gaps = 5;
};

class RandomLayer {
 public:
  RandomLayer(const RandomLayerOptions& options, uint64_t seed)
      : options_(options), draws_(hash(seed)) {
    for (uint32_t type = 0; type < options.types; ++type) {
      sources_.push_back(type == 1 ? 0 : some(options.most_rows));
      const bool none = type == 1 || type + 1 == options.types;
      targets_.push_back(none ? 0 : some(sources_.back()));
    }
    for (uint32_t relation = 0; relation < options.relations; ++relation) {
      add_relation(relation, draws_.below(options.most_edges + uint64_t{1}));
    }
    shuffle();
  }

  // Every third relation or so shares the matrices of an earlier one; set 0 serves nobody.
  TestLayer layer() {
    TestLayer layer{.graph = test_layer_graph(sources_, targets_, edges_, options_.gaps),
                    .sets = {}};
    layer.num_sets = 1;
    for (uint32_t relation = 0; relation < options_.relations; ++relation) {
      const bool shares = relation > 0 && draws_.below(3) == 0;
      layer.sets.push_back(shares ? layer.sets[draws_.below(relation)] : layer.num_sets++);
    }
    return layer;
  }

 private:
  uint32_t some(uint32_t most) { return static_cast<uint32_t>(1 + draws_.below(most)); }
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(draws_.below(end)); }

  static uint32_t row(const std::vector<uint32_t>& counts, uint32_t type, uint32_t place) {
    return std::accumulate(counts.begin(), counts.begin() + type, place);
  }

  // From one type to another. Of each four relations, one has few sources and gaps, one has every
  // edge three times, one brings half its edges to one target, one is plain or empty.
  void add_relation(uint32_t relation, uint64_t edges) {
    uint32_t source_type = below(options_.types);
    uint32_t target_type = below(options_.types);
    while (sources_[source_type] == 0) source_type = below(options_.types);
    while (targets_[target_type] == 0) target_type = below(options_.types);
    const uint32_t style = relation % 4;
    if (style == 3 && relation % 8 == 3) return;  // no edge at all
    const uint32_t most_sources =
        style == 0 ? std::min(5U, sources_[source_type]) : sources_[source_type];
    for (uint64_t i = 0; i < edges; ++i) {
      const uint32_t most_targets = style == 2 && i % 2 == 0 ? 1 : targets_[target_type];
      const TestEdge edge{.target = row(targets_, target_type, below(most_targets)),
                          .source = row(sources_, source_type, below(most_sources)),
                          .relation = relation,
                          .gap = style == 0 ? below(2) : below(options_.gaps)};
      edges_.insert(edges_.end(), style == 1 ? 3 : 1, edge);
    }
  }

  void shuffle() {
    for (size_t i = edges_.size(); i > 1; --i) std::swap(edges_[i - 1], edges_[draws_.below(i)]);
  }

  RandomLayerOptions options_;
  Draws draws_;
  std::vector<uint32_t> sources_, targets_;  // of each type
  std::vector<TestEdge> edges_;
};

inline TestLayer random_layer(const RandomLayerOptions& options, uint64_t seed) {
  return RandomLayer(options, seed).layer();
}

// Few targets with thousands of edges: rows that are used too often for one chunk, as they are and,
// through relation 1 with its two sources for 1500 targets, as pairs.
inline TestLayer hub_layer(uint32_t hub_edges) {
  std::vector<TestEdge> edges;
  Draws draws(7);
  const auto below = [&](uint64_t end) { return static_cast<uint32_t>(draws.below(end)); };
  for (uint32_t i = 0; i < hub_edges; ++i) {
    edges.push_back({.target = 1500, .source = 450 + below(5), .relation = 0, .gap = below(2)});
  }
  for (uint32_t target = 0; target < 1500; ++target) {
    edges.push_back({.target = target, .source = target % 2, .relation = 1, .gap = below(2)});
    edges.push_back({.target = target, .source = target % 450, .relation = 2, .gap = below(3)});
    if (target % 3 == 0) {
      edges.push_back({.target = target, .source = 455 + below(700), .relation = 3, .gap = 1});
    }
  }
  return {.graph = test_layer_graph({455, 1560}, {2, 1500}, edges, 4),
          .sets = {0, 1, 2, 3},
          .num_sets = 4};
}

// --- tables for attention ---

using Values = std::vector<double>;

struct AttentionInputs {
  Values sources;  // [inputs and (type, gap) rows, 2d]
  Values queries, attention, message, output_gradients;
};

// Numbers in [-scale, scale) that a float holds exactly: one reference serves float and double.
inline Values random_values(uint64_t count, double scale, Draws& draws) {
  Values values(count);
  for (double& value : values) value = static_cast<float>(scale * (2 * draws.unit() - 1));
  return values;
}

struct AttentionCase {
  TestLayer layer;
  HeadShape shape;
  AttentionPlan plan;
  AttentionInputs inputs;

  // Matrices are scaled so that scores are about one.
  AttentionCase(TestLayer given, bool temporal, HeadShape with, uint64_t seed = 1)
      : layer(std::move(given)),
        shape(with),
        plan(layer.graph, layer.sets, layer.num_sets, temporal) {
    Draws draws(hash(seed));
    const uint64_t hidden = shape.hidden();
    const uint64_t matrices = layer.num_sets * shape.numbers_per_relation();
    inputs.sources = random_values(2 * hidden * plan.first_source_pair(), 1, draws);
    inputs.queries = random_values(plan.num_targets * hidden, 1, draws);
    inputs.attention = random_values(matrices, 3.0 / shape.width, draws);
    inputs.message = random_values(matrices, 3.0 / shape.width, draws);
    inputs.output_gradients = random_values(plan.num_targets * hidden, 1, draws);
  }
};

}  // namespace hgt
