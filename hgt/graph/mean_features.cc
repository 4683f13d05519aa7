#include "hgt/graph/mean_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "hgt/error.h"
#include "hgt/graph/each_row.h"

namespace hgt {

namespace {

struct FeatureSum {
  std::vector<double> sums;
  uint64_t count = 0;
};

// Of the nodes that have features.
FeatureSum sum_features(const HeteroGraph& graph, NodeType type, std::span<const NodeId> nodes) {
  const FeatureSpec& spec = *graph.schema().at(type).features;
  FeatureSum sum{.sums = std::vector<double>(spec.width - (spec.flagged ? 1 : 0), 0.0)};
  for_each_row(graph, type, nodes, [&](std::span<const float> row) {
    if (spec.flagged && row.back() != 0) return;
    ++sum.count;
    for (size_t j = 0; j < sum.sums.size(); ++j) sum.sums[j] += row[j];
  });
  return sum;
}

// The row of a mean, whose last column says that there is none.
void set_mean(const FeatureSum& sum, std::span<float> row) {
  for (size_t j = 0; j < sum.sums.size(); ++j) {
    row[j] = sum.count == 0 ? 0 : static_cast<float>(sum.sums[j] / static_cast<double>(sum.count));
  }
  row.back() = sum.count == 0 ? 1 : 0;
}

}  // namespace

std::vector<Relation> mean_relations(const Schema& schema, NodeType type) {
  std::vector<Relation> relations;
  const auto& features = schema.at(type).features;
  if (!features || !features->mean) return relations;
  for (const std::string& edge : features->mean->edges) {
    relations.push_back(schema.relation(features->mean->source, edge, schema.at(type).name));
  }
  std::sort(relations.begin(), relations.end());
  return relations;
}

bool has_source_of_mean(const Schema& schema, NodeType type) {
  const FeatureSpec& features = *schema.at(type).features;
  const NodeTypeSpec& source = schema.at(schema.node_type(features.mean->source));
  return source.features && features.mean_of == source.name + "/" + source.features->file;
}

std::vector<NodeId> neighbors_until(const HeteroGraph& graph, std::span<const Relation> relations,
                                    NodeId node, Time until) {
  std::vector<NodeId> neighbors;
  for (const Relation relation : relations) {
    const NodeType source = graph.schema().at(relation).source;
    const Neighbors list = graph.incoming(relation, node);
    for (size_t i = 0; i < list.size(); ++i) {
      const bool late = graph.time(source, list.sources[i]) > until ||
                        (!list.times.empty() && list.times[i] > until);
      if (!late) neighbors.push_back(list.sources[i]);
    }
  }
  std::sort(neighbors.begin(), neighbors.end());
  neighbors.erase(std::unique(neighbors.begin(), neighbors.end()), neighbors.end());
  return neighbors;
}

void leave_out(const HeteroGraph& graph, NodeType type, NodeId node,
               std::span<const NodeId> neighbors, std::span<float> row) {
  const Schema& schema = graph.schema();
  const FeatureSpec& features = *schema.at(type).features;
  const NodeType source = schema.node_type(features.mean->source);
  FeatureSum sum = sum_features(graph, source, neighbors);
  if (sum.count == 0) return;
  const uint64_t all = graph.mean_counts(type)[node];
  if (sum.count > all || row.size() != sum.sums.size() + 1) {
    throw Error(fmt::format(
        "{}: says that {} neighbors of node {} are in its mean, but there are more; the file is "
        "damaged, make the features again with 'hgt features --replace --again'",
        (graph.folder() / schema.at(type).name / features.mean->counts).string(), all, node));
  }
  if (all - sum.count <= sum.count) {
    const std::vector<NodeId> every =
        neighbors_until(graph, mean_relations(schema, type), node,
                        features.mean->until.value_or(std::numeric_limits<Time>::max()));
    std::vector<NodeId> rest;
    std::set_difference(every.begin(), every.end(), neighbors.begin(), neighbors.end(),
                        std::back_inserter(rest));
    set_mean(sum_features(graph, source, rest), row);
    return;
  }
  for (size_t j = 0; j < sum.sums.size(); ++j) {
    sum.sums[j] = static_cast<double>(all) * row[j] - sum.sums[j];
  }
  sum.count = all - sum.count;
  set_mean(sum, row);
}

}  // namespace hgt
