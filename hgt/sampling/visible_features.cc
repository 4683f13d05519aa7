#include "hgt/sampling/visible_features.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "hgt/graph/mean_features.h"

namespace hgt {

namespace {

bool lists(const std::vector<Relation>& relations, Relation relation) {
  return std::find(relations.begin(), relations.end(), relation) != relations.end();
}

bool is_before(const HiddenEdge& a, const HiddenEdge& b) {
  return std::tie(a.target, a.source, a.relation) < std::tie(b.target, b.source, b.relation);
}

void sort_by_target(std::vector<HiddenEdge>& edges) {
  std::sort(edges.begin(), edges.end(), is_before);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

std::span<const HiddenEdge> edges_into(std::span<const HiddenEdge> edges, NodeId target) {
  const auto first = std::partition_point(
      edges.begin(), edges.end(), [&](const HiddenEdge& edge) { return edge.target < target; });
  const auto last = std::partition_point(
      first, edges.end(), [&](const HiddenEdge& edge) { return edge.target == target; });
  return {first, last};
}

// Which neighbors of a node are in its mean only by way of hidden edges.
class HiddenNeighbors {
 public:
  HiddenNeighbors(const HeteroGraph& graph, NodeType type)
      : graph_(graph), relations_(mean_relations(graph.schema(), type)) {
    if (relations_.empty()) return;
    source_ = graph.schema().at(relations_.front()).source;
    until_ = graph.schema().at(type).features->mean->until.value_or(until_);
  }

  // Ascending. hidden: those of the node, by source.
  std::vector<NodeId> of(NodeId node, std::span<const HiddenEdge> hidden) const {
    std::vector<NodeId> neighbors;
    for (size_t first = 0; first < hidden.size();) {
      const NodeId source = hidden[first].source;
      size_t last = first;
      while (last < hidden.size() && hidden[last].source == source) ++last;
      if (is_hidden(source, node, hidden.subspan(first, last - first))) neighbors.push_back(source);
      first = last;
    }
    return neighbors;
  }

 private:
  // Hidden edges join the two, and no others.
  bool is_hidden(NodeId source, NodeId node, std::span<const HiddenEdge> hidden) const {
    bool joined = false;
    for (const Relation relation : relations_) {
      if (!counts(relation, source, node)) continue;
      const bool seen = std::none_of(hidden.begin(), hidden.end(), [&](const HiddenEdge& edge) {
        return edge.relation == relation;
      });
      if (seen) return false;
      joined = true;
    }
    return joined && source < graph_.num_nodes(source_) && graph_.time(source_, source) <= until_;
  }

  bool counts(Relation relation, NodeId source, NodeId node) const {
    const Neighbors list = graph_.unchecked_incoming(relation, node);
    const auto [first, last] = std::equal_range(list.sources.begin(), list.sources.end(), source);
    if (list.times.empty()) return first != last;
    for (auto at = first; at != last; ++at) {
      if (list.times[static_cast<size_t>(at - list.sources.begin())] <= until_) return true;
    }
    return false;
  }

  const HeteroGraph& graph_;
  std::vector<Relation> relations_;
  NodeType source_{};
  Time until_ = std::numeric_limits<Time>::max();
};

}  // namespace

namespace {

void leave_out_hidden(const HeteroGraph& graph, const Subgraph& subgraph, NodeType type,
                      std::span<const NodeId> nodes, std::span<float> rows) {
  if (subgraph.hidden_from_means.empty()) return;
  const std::vector<HiddenEdge>& hidden = subgraph.hidden_from_means[index(type)];
  if (hidden.empty()) return;
  const uint64_t width = graph.features(type).width;
  const HeteroGraph stored = graph.without_known_labels();
  const uint64_t mean_width = stored.features(type).width;
  const HiddenNeighbors hidden_neighbors(stored, type);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<NodeId> neighbors =
        hidden_neighbors.of(nodes[i], edges_into(hidden, nodes[i]));
    if (neighbors.empty()) continue;
    leave_out(stored, type, nodes[i], neighbors, rows.subspan(i * width, mean_width));
  }
}

// All instances of a seed's node, not only the one that is asked about.
void forget_labels_of_seeds(const HeteroGraph& graph, const Subgraph& subgraph, NodeType type,
                            std::span<const NodeId> nodes, std::span<float> rows) {
  const KnownLabels* known = graph.known_labels();
  if (known == nullptr || known->type != type) return;
  std::vector<NodeId> asked;
  for (const uint32_t row : subgraph.seed_rows) {
    if (subgraph.type_of(row) == type) asked.push_back(subgraph.nodes[row]);
  }
  std::sort(asked.begin(), asked.end());
  const uint64_t width = graph.features(type).width;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!std::binary_search(asked.begin(), asked.end(), nodes[i])) continue;
    const std::span columns = rows.subspan(i * width, width).last(known->classes);
    std::fill(columns.begin(), columns.end(), 0.0F);
  }
}

}  // namespace

void copy_visible_features(const HeteroGraph& graph, const Subgraph& subgraph, NodeType type,
                           std::span<const NodeId> nodes, std::span<float> rows) {
  graph.copy_features(type, nodes, rows);
  leave_out_hidden(graph, subgraph, type, nodes, rows);
  forget_labels_of_seeds(graph, subgraph, type, nodes, rows);
}

HiddenFromMeans::HiddenFromMeans(const HeteroGraph& graph, const HiddenEdges& hidden)
    : graph_(graph) {
  const Schema& schema = graph.schema();
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    Mean mean{.type = NodeType(i), .relations = mean_relations(schema, NodeType(i))};
    if (mean.relations.empty() || !has_source_of_mean(schema, mean.type)) continue;
    for (const Relation relation : mean.relations) {
      const bool at_seeds =
          lists(hidden.at_seeds, relation) || lists(hidden.at_seeds, schema.reverse(relation));
      if (at_seeds) mean.at_seeds.push_back(relation);
    }
    for (const HiddenEdge& edge : hidden.edges) add_either_way(schema, mean, edge, mean.always);
    sort_by_target(mean.always);
    means_.push_back(std::move(mean));
  }
}

void HiddenFromMeans::add_either_way(const Schema& schema, const Mean& mean, const HiddenEdge& edge,
                                     std::vector<HiddenEdge>& edges) {
  if (lists(mean.relations, edge.relation)) edges.push_back(edge);
  const Relation reverse = schema.reverse(edge.relation);
  if (lists(mean.relations, reverse)) edges.push_back({reverse, edge.target, edge.source});
}

void HiddenFromMeans::add_at_seed(const Mean& mean, const Seed& seed,
                                  std::vector<HiddenEdge>& edges) const {
  const Schema& schema = graph_.schema();
  for (const Relation relation : mean.at_seeds) {
    if (schema.at(relation).source == seed.type) {
      const auto targets = graph_.incoming(schema.reverse(relation), seed.node).sources;
      for (const NodeId target : targets) edges.push_back({relation, seed.node, target});
    }
    if (schema.at(relation).target == seed.type) {
      const auto sources = graph_.incoming(relation, seed.node).sources;
      for (const NodeId source : sources) edges.push_back({relation, source, seed.node});
    }
  }
}

void HiddenFromMeans::add_always(const Mean& mean, std::span<const NodeId> nodes,
                                 std::vector<HiddenEdge>& edges) {
  if (mean.always.empty()) return;
  for (const NodeId node : nodes) {
    const auto always = edges_into(mean.always, node);
    edges.insert(edges.end(), always.begin(), always.end());
  }
}

void HiddenFromMeans::collect(const Request& request, Subgraph& subgraph) const {
  if (means_.empty()) {
    subgraph.hidden_from_means.clear();
    return;
  }
  subgraph.hidden_from_means.resize(graph_.schema().node_types().size());
  for (std::vector<HiddenEdge>& edges : subgraph.hidden_from_means) edges.clear();
  for (const Mean& mean : means_) {
    std::vector<HiddenEdge>& edges = subgraph.hidden_from_means[index(mean.type)];
    for (const Seed& seed : request.seeds) add_at_seed(mean, seed, edges);
    for (const HiddenEdge& edge : request.hidden) {
      add_either_way(graph_.schema(), mean, edge, edges);
    }
    add_always(mean, subgraph.nodes_of(mean.type), edges);
    sort_by_target(edges);
  }
}

}  // namespace hgt
