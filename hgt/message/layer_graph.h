// The edges along which one layer of a graph neural network passes messages, and the layers' graphs
// of a sampled sub-graph.
//
// A layer reads one vector per input row and writes one per output row. Both are contiguous by node
// type, and the outputs of a type are its first inputs: output i of type tau is input i of type tau
// one layer on. Edges are grouped by target, in any order within it.
//
// receptive_field() trims: of L layers, layer l only needs the instances that reach a seed in L - l
// further steps along edges. Exact on the seeds; most of the work of the last layers disappears.
//
//   const ReceptiveField field = receptive_field(subgraph, 3);
//   // field.rows: rows of the sub-graph that layer 1 reads; field.layers[0..2];
//   // field.seed_rows: where the seeds are in the output of layer 3
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hgt/graph/types.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

struct LayerGraph {
  std::vector<uint32_t> source_offsets;  // [types + 1] input rows of each type
  std::vector<uint32_t> target_offsets;  // [types + 1] output rows of each type
  std::vector<uint64_t> edge_offsets;    // [outputs + 1] the incoming edges of an output row
  std::vector<uint32_t> sources;         // [edges] input row
  std::vector<Relation> relations;       // [edges] the schema's; then one `self` for each type
  std::vector<uint32_t> gaps;            // [edges] place in gap_values
  std::vector<double> gap_values;        // the distinct Delta T(t, s): any real numbers
  std::vector<uint64_t> edge_ids;        // [edges] in the sub-graph that this was made from
  // [inputs] edges into the instance in that sub-graph, whether or not this layer computes it; or
  // none, where nobody counted them.
  std::vector<uint32_t> source_degrees = {};

  uint32_t num_types() const { return static_cast<uint32_t>(source_offsets.size()) - 1; }
  uint32_t num_sources() const { return source_offsets.back(); }
  uint32_t num_targets() const { return target_offsets.back(); }
  uint64_t num_edges() const { return sources.size(); }
  uint32_t num_sources(uint32_t type) const {
    return source_offsets[type + 1] - source_offsets[type];
  }
  uint32_t num_targets(uint32_t type) const {
    return target_offsets[type + 1] - target_offsets[type];
  }
  Numbers<uint64_t> incoming(uint32_t target) const {
    return {edge_offsets[target], edge_offsets[target + size_t{1}]};
  }
};

// What a layer works out of its graph before it computes; layers have kinds of their own.
struct LayerPlan {
  LayerPlan() = default;
  LayerPlan(const LayerPlan&) = default;
  LayerPlan& operator=(const LayerPlan&) = default;
  LayerPlan(LayerPlan&&) = default;
  LayerPlan& operator=(LayerPlan&&) = default;
  virtual ~LayerPlan() = default;

  uint32_t source_rows = 0;  // of the table that the layer reads sources from
};

// Throws Error when the arrays are inconsistent; names the first inconsistency.
void check(const LayerGraph& graph, size_t num_relations);
// The same for what reads edges only: the outputs of a type need not be inputs of it.
void check_edges(const LayerGraph& graph, size_t num_relations);

struct ReceptiveField {
  std::vector<uint32_t> type_offsets;  // [types + 1] rows of each type
  std::vector<uint32_t> rows;          // of the sub-graph, that the first layer reads, by type
  // [layers], each reads what the one before wrote. Untrimmed ones share one graph.
  std::vector<std::shared_ptr<const LayerGraph>> layers;
  std::vector<uint32_t> seed_rows;  // [seeds as asked] in the output of the last layer
};

enum class Trim { off, on };

// Requires layers > 0. With Trim::off every layer computes every instance.
ReceptiveField receptive_field(const Subgraph& subgraph, uint32_t layers, Trim trim = Trim::on);

// Distinct values in ascending order, and the place of each gap among them.
struct DistinctGaps {
  std::vector<double> values;
  std::vector<uint32_t> places;
};
DistinctGaps distinct_gaps(std::span<const int64_t> gaps);

}  // namespace hgt
