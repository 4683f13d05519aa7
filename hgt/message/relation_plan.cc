#include "hgt/message/relation_plan.h"

#include <limits>

namespace hgt {

void RelationPlan::pair_up(const LayerGraph& graph, const std::vector<uint64_t>& edges,
                           std::vector<uint32_t>& pair_of, std::vector<uint32_t>& sources) {
  constexpr uint32_t kUnpaired = std::numeric_limits<uint32_t>::max();
  pair_of.resize(graph.num_sources(), kUnpaired);
  for (const uint64_t edge : edges) {
    const uint32_t source = graph.sources[edge];
    if (pair_of[source] == kUnpaired) {
      pair_of[source] = num_pairs();
      pair_sources.push_back(source);
    }
    sources[edge] = pair_of[source];
  }
  for (const uint64_t edge : edges) pair_of[graph.sources[edge]] = kUnpaired;
}

RelationPlan::RelationPlan(const LayerGraph& graph, const std::vector<uint32_t>& relation_sets,
                           uint32_t num_sets, bool temporal) {
  source_rows = graph.num_sources();
  std::vector<std::vector<uint64_t>> edges_of(num_sets);
  for (uint64_t edge = 0; edge < graph.num_edges(); ++edge) {
    edges_of[relation_sets[index(graph.relations[edge])]].push_back(edge);
  }
  LayerGraph pairs;
  pairs.sources.resize(graph.num_edges());
  pair_offsets.push_back(0);
  std::vector<uint32_t> pair_of;
  for (const std::vector<uint64_t>& edges : edges_of) {
    pair_up(graph, edges, pair_of, pairs.sources);
    pair_offsets.push_back(num_pairs());
  }
  pairs.source_offsets = pair_offsets;
  // All outputs stand under the first set: the plan of attention cuts them into blocks, no more.
  pairs.target_offsets.assign(num_sets + size_t{1}, graph.num_targets());
  pairs.target_offsets.front() = 0;
  pairs.edge_offsets = graph.edge_offsets;
  pairs.relations.assign(graph.num_edges(), Relation(0));
  pairs.gaps = graph.gaps;
  pairs.gap_values = graph.gap_values;
  pairs.edge_ids = graph.edge_ids;
  attention = std::make_shared<AttentionPlan>(pairs, std::vector<uint32_t>{0}, 1, temporal);
}

}  // namespace hgt
