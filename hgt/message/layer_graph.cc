#include "hgt/message/layer_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

#include "hgt/error.h"

namespace hgt {

namespace {

constexpr uint32_t kUnreached = std::numeric_limits<uint32_t>::max();

// The sources of the frontier's incoming edges that no step reached before.
std::vector<uint32_t> next_frontier(const Subgraph& subgraph, const std::vector<uint32_t>& frontier,
                                    uint32_t step, std::vector<uint32_t>& distance) {
  std::vector<uint32_t> next;
  for (const uint32_t target : frontier) {
    for (const uint64_t edge : subgraph.incoming(target)) {
      const uint32_t source = subgraph.sources[edge];
      if (distance[source] != kUnreached) continue;
      distance[source] = step;
      next.push_back(source);
    }
  }
  return next;
}

// Steps along edges, against their direction, from the nearest seed; at most `limit`.
std::vector<uint32_t> distances_from_seeds(const Subgraph& subgraph, uint32_t limit) {
  std::vector<uint32_t> distance(subgraph.num_rows(), kUnreached);
  std::vector<uint32_t> frontier;
  for (const uint32_t row : subgraph.seed_rows) {
    if (distance[row] == kUnreached) frontier.push_back(row);
    distance[row] = 0;
  }
  for (uint32_t step = 1; step <= limit && !frontier.empty(); ++step) {
    frontier = next_frontier(subgraph, frontier, step, distance);
  }
  return distance;
}

// For each type, how many of its rows lie within 0, 1, ..., limit steps of a seed.
class RowsWithin {
 public:
  RowsWithin(const Subgraph& subgraph, const std::vector<uint32_t>& distance, uint32_t limit)
      : steps_(limit + 1) {
    const size_t types = subgraph.type_offsets.size() - 1;
    counts_.assign(types * steps_, 0);
    for (size_t type = 0; type < types; ++type) {
      for (const uint32_t row : subgraph.rows(NodeType(type))) {
        if (distance[row] <= limit) ++counts_[type * steps_ + distance[row]];
      }
      const auto first = counts_.begin() + static_cast<ptrdiff_t>(type * steps_);
      std::partial_sum(first, first + steps_, first);
    }
  }
  uint32_t operator()(size_t type, uint32_t steps) const { return counts_[type * steps_ + steps]; }
  // First row of each type, when rows within `steps` are laid out type by type.
  std::vector<uint32_t> offsets(uint32_t steps) const {
    std::vector<uint32_t> offsets{0};
    for (size_t type = 0; type < counts_.size() / steps_; ++type) {
      offsets.push_back(offsets.back() + (*this)(type, steps));
    }
    return offsets;
  }

 private:
  uint32_t steps_;
  std::vector<uint32_t> counts_;
};

// Rows within the receptive field, by type, within a type by distance: what a layer needs of a type
// is then the beginning of its block.
struct FieldOrder {
  std::vector<uint32_t> rows;   // of the sub-graph
  std::vector<uint32_t> place;  // [rows of the sub-graph] within its type's block
};

FieldOrder order_by_distance(const Subgraph& subgraph, const std::vector<uint32_t>& distance,
                             const RowsWithin& within, uint32_t limit) {
  const std::vector<uint32_t> offsets = within.offsets(limit);
  FieldOrder order{.rows = std::vector<uint32_t>(offsets.back()),
                   .place = std::vector<uint32_t>(subgraph.num_rows(), kUnreached)};
  std::vector<uint32_t> next(limit + size_t{1});
  for (size_t type = 0; type + 1 < subgraph.type_offsets.size(); ++type) {
    for (uint32_t steps = 0; steps <= limit; ++steps) {
      next[steps] = steps == 0 ? 0 : within(type, steps - 1);
    }
    for (const uint32_t row : subgraph.rows(NodeType(type))) {
      if (distance[row] > limit) continue;
      const uint32_t place = next[distance[row]]++;
      order.place[row] = place;
      order.rows[offsets[type] + place] = row;
    }
  }
  return order;
}

std::vector<uint32_t> types_of_rows(const Subgraph& subgraph) {
  std::vector<uint32_t> types;
  types.reserve(subgraph.num_rows());
  for (uint32_t type = 0; type + 1 < subgraph.type_offsets.size(); ++type) {
    types.insert(types.end(), subgraph.num_rows(NodeType(type)), type);
  }
  return types;
}

uint32_t degree(const Subgraph& subgraph, uint32_t row) {
  return static_cast<uint32_t>(subgraph.incoming(row).size());
}

// Makes the graphs of the layers of one trimmed sub-graph.
class Trimmer {
 public:
  Trimmer(const Subgraph& subgraph, uint32_t layers, const DistinctGaps& gaps)
      : subgraph_(subgraph),
        layers_(layers),
        gaps_(gaps),
        type_of_row_(types_of_rows(subgraph)),
        distance_(distances_from_seeds(subgraph, layers)),
        within_(subgraph, distance_, layers),
        order_(order_by_distance(subgraph, distance_, within_, layers)) {}

  ReceptiveField field() {
    ReceptiveField field;
    field.type_offsets = within_.offsets(layers_);
    for (uint32_t layer = 1; layer <= layers_; ++layer) {
      field.layers.push_back(std::make_shared<LayerGraph>(layer_graph(layers_ - layer)));
    }
    const std::vector<uint32_t> first = within_.offsets(0);
    for (const uint32_t row : subgraph_.seed_rows) {
      field.seed_rows.push_back(first[type_of_row_[row]] + order_.place[row]);
    }
    field.rows = std::move(order_.rows);
    return field;
  }

 private:
  // The graph of a layer that writes the rows within `steps` and reads those within `steps + 1`.
  LayerGraph layer_graph(uint32_t steps) const {
    LayerGraph layer;
    layer.source_offsets = within_.offsets(steps + 1);
    layer.target_offsets = within_.offsets(steps);
    layer.gap_values = gaps_.values;
    layer.edge_offsets.push_back(0);
    const std::vector<uint32_t> all = within_.offsets(layers_);
    const auto for_targets = [&](const auto& what) {
      for (uint32_t type = 0; type < layer.num_types(); ++type) {
        for (uint32_t i = 0; i < layer.num_targets(type); ++i) what(order_.rows[all[type] + i]);
      }
    };
    uint64_t edges = 0;
    for_targets([&](uint32_t row) { edges += subgraph_.incoming(row).size(); });
    layer.sources.reserve(edges);
    layer.relations.reserve(edges);
    layer.gaps.reserve(edges);
    layer.edge_ids.reserve(edges);
    for_targets([&](uint32_t row) { append_edges(row, layer); });
    for (uint32_t type = 0; type < layer.num_types(); ++type) {
      for (uint32_t i = 0; i < layer.num_sources(type); ++i) {
        layer.source_degrees.push_back(degree(subgraph_, order_.rows[all[type] + i]));
      }
    }
    return layer;
  }

  void append_edges(uint32_t row, LayerGraph& layer) const {
    for (const uint64_t edge : subgraph_.incoming(row)) {
      const uint32_t source = subgraph_.sources[edge];
      layer.sources.push_back(layer.source_offsets[type_of_row_[source]] + order_.place[source]);
      layer.relations.push_back(subgraph_.relations[edge]);
      layer.gaps.push_back(gaps_.places[edge]);
      layer.edge_ids.push_back(edge);
    }
    layer.edge_offsets.push_back(layer.sources.size());
  }

  const Subgraph& subgraph_;
  uint32_t layers_;
  const DistinctGaps& gaps_;
  std::vector<uint32_t> type_of_row_;
  std::vector<uint32_t> distance_;
  RowsWithin within_;
  FieldOrder order_;
};

ReceptiveField whole_field(const Subgraph& subgraph, uint32_t layers, DistinctGaps gaps) {
  auto graph = std::make_shared<LayerGraph>();
  graph->source_offsets = subgraph.type_offsets;
  graph->target_offsets = subgraph.type_offsets;
  graph->edge_offsets = subgraph.edge_offsets;
  graph->sources = subgraph.sources;
  graph->relations = subgraph.relations;
  graph->gaps = std::move(gaps.places);
  graph->gap_values = std::move(gaps.values);
  graph->edge_ids.resize(subgraph.num_edges());
  std::iota(graph->edge_ids.begin(), graph->edge_ids.end(), uint64_t{0});
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    graph->source_degrees.push_back(degree(subgraph, row));
  }
  ReceptiveField field{.type_offsets = subgraph.type_offsets,
                       .rows = std::vector<uint32_t>(subgraph.num_rows()),
                       .layers = {layers, graph},
                       .seed_rows = subgraph.seed_rows};
  std::iota(field.rows.begin(), field.rows.end(), 0U);
  return field;
}

template <typename Offset>
bool is_ascending(const std::vector<Offset>& offsets) {
  return !offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end());
}

}  // namespace

DistinctGaps distinct_gaps(std::span<const int64_t> gaps) {
  DistinctGaps result;
  if (gaps.empty()) return result;
  std::vector<int64_t> values(gaps.begin(), gaps.end());
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const int64_t least = *low;
  const auto range = static_cast<uint64_t>(*high) - static_cast<uint64_t>(least) + 1;
  result.places.resize(gaps.size());
  if (range != 0 && range <= 4 * gaps.size()) {  // years: a table of all gaps between
    std::vector<uint32_t> place(range, 0);
    for (const int64_t gap : gaps) place[static_cast<uint64_t>(gap - least)] = 1;
    for (size_t i = 0; i < place.size(); ++i) {
      if (place[i] == 0) continue;
      place[i] = static_cast<uint32_t>(result.values.size());
      result.values.push_back(static_cast<double>(least + static_cast<int64_t>(i)));
    }
    std::transform(gaps.begin(), gaps.end(), result.places.begin(),
                   [&](int64_t gap) { return place[static_cast<uint64_t>(gap - least)]; });
    return result;
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::transform(gaps.begin(), gaps.end(), result.places.begin(), [&](int64_t gap) {
    return static_cast<uint32_t>(std::lower_bound(values.begin(), values.end(), gap) -
                                 values.begin());
  });
  result.values.assign(values.begin(), values.end());
  return result;
}

ReceptiveField receptive_field(const Subgraph& subgraph, uint32_t layers, Trim trim) {
  assert(layers > 0);
  DistinctGaps gaps = distinct_gaps(subgraph.gaps);
  if (trim == Trim::off) return whole_field(subgraph, layers, std::move(gaps));
  return Trimmer(subgraph, layers, gaps).field();
}

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error("the graph of a layer is inconsistent: " + what);
}

void check_offsets(const LayerGraph& graph) {
  if (!is_ascending(graph.source_offsets) || !is_ascending(graph.target_offsets) ||
      graph.source_offsets.size() != graph.target_offsets.size()) {
    refuse("source_offsets and target_offsets must start at 0, ascend and have types + 1 entries");
  }
}

void check_lists(const LayerGraph& graph, size_t num_relations) {
  if (!is_ascending(graph.edge_offsets) ||
      graph.edge_offsets.size() != graph.num_targets() + size_t{1} ||
      graph.edge_offsets.back() != graph.num_edges()) {
    refuse(
        "edge_offsets must start at 0, ascend to the number of edges and have outputs + 1 entries");
  }
  if (graph.relations.size() != graph.num_edges() || graph.gaps.size() != graph.num_edges() ||
      graph.edge_ids.size() != graph.num_edges()) {
    refuse("sources, relations, gaps and edge_ids must have the same length");
  }
  if (!graph.source_degrees.empty() && graph.source_degrees.size() != graph.num_sources()) {
    refuse("source_degrees must have an entry for each input, or none");
  }
  for (uint64_t edge = 0; edge < graph.num_edges(); ++edge) {
    if (graph.sources[edge] < graph.num_sources() && index(graph.relations[edge]) < num_relations &&
        graph.gaps[edge] < graph.gap_values.size()) {
      continue;
    }
    refuse(fmt::format("edge {} names source {} of {}, relation {} of {}, gap {} of {}", edge,
                       graph.sources[edge], graph.num_sources(), index(graph.relations[edge]),
                       num_relations, graph.gaps[edge], graph.gap_values.size()));
  }
}

}  // namespace

void check(const LayerGraph& graph, size_t num_relations) {
  check_offsets(graph);
  for (uint32_t type = 0; type < graph.num_types(); ++type) {
    if (graph.num_targets(type) > graph.num_sources(type)) {
      refuse(fmt::format("type {} has {} outputs but only {} inputs", type, graph.num_targets(type),
                         graph.num_sources(type)));
    }
  }
  check_lists(graph, num_relations);
}

void check_edges(const LayerGraph& graph, size_t num_relations) {
  check_offsets(graph);
  check_lists(graph, num_relations);
}

}  // namespace hgt
