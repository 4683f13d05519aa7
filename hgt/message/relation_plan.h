// The plan of a layer whose keys and messages have a matrix for each set of relations
// (ModelOptions::matrix_per_relation): a source is projected once for each set that it sends edges
// of. To attention such a pair (source, set) is an input of its own, its set stands for its type,
// and all relations are one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hgt/message/attention_plan.h"
#include "hgt/message/layer_graph.h"

namespace hgt {

// source_rows: those of the layer graph, as they are.
struct RelationPlan : LayerPlan {
  // relation_sets[r]: which of num_sets matrices relation r uses.
  RelationPlan(const LayerGraph& graph, const std::vector<uint32_t>& relation_sets,
               uint32_t num_sets, bool temporal);

  uint32_t num_pairs() const { return static_cast<uint32_t>(pair_sources.size()); }

  std::vector<uint32_t> pair_offsets;  // [sets + 1] pairs of each set
  std::vector<uint32_t> pair_sources;  // [pairs] input of the layer graph
  // Its inputs are the pairs, its edges in the order of the layer graph; one set of matrices.
  std::shared_ptr<const AttentionPlan> attention;

 private:
  // The pairs of one set, whose `edges` get theirs as `sources`. pair_of: [sources] memory, which
  // is left as it was.
  void pair_up(const LayerGraph& graph, const std::vector<uint64_t>& edges,
               std::vector<uint32_t>& pair_of, std::vector<uint32_t>& sources);
};

}  // namespace hgt
