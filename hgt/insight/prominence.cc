#include "hgt/insight/prominence.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace {

// <event, cites, event>, as it was declared.
std::optional<Relation> citation_relation(const Schema& schema) {
  for (size_t i = 0; i < schema.relations().size(); ++i) {
    const RelationSpec& spec = schema.relations()[i];
    const bool symmetric = schema.reverse(Relation(i)) == Relation(i);
    if (spec.source == spec.target && !spec.reverse && !symmetric &&
        schema.at(spec.source).kind == NodeKind::event) {
      return Relation(i);
    }
  }
  return std::nullopt;
}

std::vector<uint64_t> degrees(const HeteroGraph& graph, NodeType type, Relation relation) {
  std::vector<uint64_t> counts(graph.num_nodes(type));
  for (NodeId node = 0; node < counts.size(); ++node) {
    counts[node] = graph.unchecked_incoming(relation, node).size();
  }
  return counts;
}

std::vector<uint64_t> citations(const HeteroGraph& graph, NodeType type, Relation cites) {
  const NodeType event = graph.schema().at(cites).target;
  const std::vector<uint64_t> own = degrees(graph, event, cites);
  if (type == event) return own;
  std::vector<uint64_t> counts(graph.num_nodes(type));
  for (const Relation relation : graph.schema().incoming(type)) {
    if (graph.schema().at(relation).source != event) continue;
    for (NodeId node = 0; node < counts.size(); ++node) {
      const auto events = graph.incoming(relation, node).sources;
      for (const NodeId source : events) counts[node] += own[source];
    }
  }
  return counts;
}

// The first of a time, if there is one, and those of some events.
Time earlier(Time first, std::span<const Time> times, std::span<const NodeId> events) {
  for (const NodeId event : events) {
    if (times[event] == kNoTime) continue;
    if (first == kNoTime || times[event] < first) first = times[event];
  }
  return first;
}

}  // namespace

std::string_view to_string(Standing standing) {
  return standing == Standing::citations ? "cited" : "linked";
}

Standing natural_standing(const Schema& schema) {
  return citation_relation(schema) ? Standing::citations : Standing::links;
}

std::vector<uint64_t> standings(const HeteroGraph& graph, NodeType type, Standing by) {
  if (by == Standing::citations) {
    const auto cites = citation_relation(graph.schema());
    if (!cites) {
      throw Error("the graph has no citations: no edges that join events of one type");
    }
    return citations(graph, type, *cites);
  }
  std::vector<uint64_t> counts(graph.num_nodes(type));
  for (const Relation relation : graph.schema().incoming(type)) {
    const std::vector<uint64_t> some = degrees(graph, type, relation);
    for (size_t node = 0; node < counts.size(); ++node) counts[node] += some[node];
  }
  return counts;
}

std::vector<NodeId> most_prominent(const HeteroGraph& graph, NodeType type, Standing by,
                                   uint64_t count) {
  std::vector<NodeId> all(graph.num_nodes(type));
  std::iota(all.begin(), all.end(), NodeId{0});
  return most_prominent(graph, type, by, count, std::move(all));
}

std::vector<NodeId> most_prominent(const HeteroGraph& graph, NodeType type, Standing by,
                                   uint64_t count, std::vector<NodeId> nodes) {
  const std::vector<uint64_t> counts = standings(graph, type, by);
  const auto end = nodes.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(count, nodes.size()));
  std::partial_sort(nodes.begin(), end, nodes.end(), [&](NodeId a, NodeId b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : a < b;
  });
  nodes.erase(end, nodes.end());
  return nodes;
}

std::vector<Time> first_times(const HeteroGraph& graph, NodeType type) {
  const auto own = graph.times(type);
  if (!own.empty()) return {own.begin(), own.end()};
  std::vector<Time> first(graph.num_nodes(type), kNoTime);
  for (const Relation relation : graph.schema().incoming(type)) {
    const NodeType source = graph.schema().at(relation).source;
    if (graph.times(source).empty()) continue;
    for (NodeId node = 0; node < first.size(); ++node) {
      const auto events = graph.incoming(relation, node).sources;
      first[node] = earlier(first[node], graph.times(source), events);
    }
  }
  return first;
}

}  // namespace hgt
