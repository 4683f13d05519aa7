#include "hgt/insight/similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"

namespace hgt {

double NodesAtTime::similarity(double distance) const {
  const double scale = rows.mean_distance();
  return scale > 0 ? 1 / (1 + distance / scale) : 1;
}

Similarity::Similarity(const Run& run, NodeType type, const SimilarityOptions& options)
    : representations_(run, type, options.representation),
      options_(options),
      standing_(options.standing.value_or(natural_standing(graph().schema()))),
      candidates_(nodes_where(graph(), type, options.where)),
      eligible_(candidates_.size()),
      first_times_(first_times(graph(), type)) {
  if (options.among == 0) return;
  candidates_ = most_prominent(graph(), type, standing_, options.among, std::move(candidates_));
  std::sort(candidates_.begin(), candidates_.end());
}

bool Similarity::has_times() const {
  return graph().schema().time_range && graph().times(representations_.type()).empty();
}

bool Similarity::is_there(NodeId node, Time time) const {
  return time == kNoTime || first_times_[node] == kNoTime || first_times_[node] <= time;
}

std::string Similarity::describe() const {
  const Schema& schema = graph().schema();
  const NodeType type = representations_.type();
  std::string kind = "of type " + schema.at(type).name;
  if (!options_.where.empty()) kind += " with " + hgt::describe(schema, type, options_.where);
  if (options_.among == 0) return fmt::format("all {} {}", eligible_, kind);
  return fmt::format("the {} most {} of {} nodes {}", candidates_.size(), to_string(standing_),
                     eligible_, kind);
}

NodesAtTime Similarity::make(Time time, const ProgressSink& progress) const {
  std::vector<NodeId> nodes;
  for (const NodeId node : candidates_) {
    if (is_there(node, time)) nodes.push_back(node);
  }
  std::vector<float> vectors = representations_.at(time, nodes, progress);
  return {.nodes = std::move(nodes),
          .rows = NearestRows(std::move(vectors), representations_.width(), options_.distance,
                              options_.exact_rows)};
}

const NodesAtTime& Similarity::at(Time time, const ProgressSink& progress) {
  if (has_times() != (time != kNoTime)) {
    const std::string& type = graph().schema().at(representations_.type()).name;
    throw Error(has_times()
                    ? fmt::format("give the time at which nodes of type {} are compared", type)
                    : fmt::format("nodes of type {} cannot be asked for at {}: {}", type,
                                  format_time(time, graph().schema().time_unit),
                                  graph().schema().time_range ? "they have a time of their own"
                                                              : "the graph has no times"));
  }
  const auto found =
      std::ranges::find(made_, time, [](const auto& one) -> Time { return one.first; });
  if (found != made_.end()) {
    made_.splice(made_.end(), made_, found);
  } else {
    made_.emplace_back(time, make(time, progress));
    if (made_.size() > kKeptTimes) made_.pop_front();
  }
  return made_.back().second;
}

std::vector<float> Similarity::vector(NodeId node, Time time, const ProgressSink& progress) {
  const NodesAtTime& compared = at(time, progress);
  const auto own = std::lower_bound(compared.nodes.begin(), compared.nodes.end(), node);
  if (own == compared.nodes.end() || *own != node) {
    return representations_.at(time, std::vector{node}, progress);
  }
  const auto row = compared.rows.vector(static_cast<uint32_t>(own - compared.nodes.begin()));
  return {row.begin(), row.end()};
}

std::vector<SimilarNode> Similarity::nearest(NodeId node, Time time, uint64_t top,
                                             const ProgressSink& progress) {
  const NodesAtTime& others = at(time, progress);
  top = std::min<uint64_t>(top, others.nodes.size());
  std::vector<SimilarNode> result;
  const std::vector<NearRow> rows = others.rows.nearest(vector(node, time, progress), top + 1);
  for (const NearRow& row : rows) {
    if (others.nodes[row.row] == node || result.size() == top) continue;
    result.push_back({.node = others.nodes[row.row],
                      .distance = row.distance,
                      .similarity = others.similarity(row.distance)});
  }
  return result;
}

}  // namespace hgt
