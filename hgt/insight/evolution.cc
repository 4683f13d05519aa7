#include "hgt/insight/evolution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hgt/error.h"
#include "hgt/model/torch.h"

namespace hgt {

namespace {

constexpr uint64_t kFocusNodes = 3;
constexpr uint64_t kTimes = 6;

// Row of a node at a time; -1: it is not there.
int64_t row_of(const NodesAtTime& at, NodeId node) {
  const auto place = std::lower_bound(at.nodes.begin(), at.nodes.end(), node);
  return place != at.nodes.end() && *place == node ? place - at.nodes.begin() : -1;
}

// The vectors of a node: [times], empty where it is not there yet.
using History = std::vector<std::vector<float>>;

History history_of(Similarity& similarity, NodeId node, const std::vector<Time>& times,
                   const ProgressSink& progress) {
  History history;
  for (const Time time : times) {
    history.push_back(similarity.is_there(node, time) ? similarity.vector(node, time, progress)
                                                      : std::vector<float>());
  }
  return history;
}

// The others that are among the nearest, those first that are nearest on the whole.
std::vector<NodeId> companions(Similarity& similarity, NodeId node, const std::vector<Time>& times,
                               uint64_t count) {
  std::map<NodeId, double> nearness;
  for (const Time time : times) {
    if (!similarity.is_there(node, time)) continue;
    for (const SimilarNode& other : similarity.nearest(node, time, count)) {
      nearness[other.node] += other.similarity;
    }
  }
  std::vector<NodeId> order;
  for (const auto& [other, unused] : nearness) order.push_back(other);
  std::stable_sort(order.begin(), order.end(),
                   [&](NodeId a, NodeId b) { return nearness[a] > nearness[b]; });
  if (order.size() > count) order.resize(count);
  return order;
}

EvolutionLine line_of(Similarity& similarity, const History& history, NodeId other,
                      const std::vector<Time>& times) {
  EvolutionLine line{.node = other};
  for (size_t i = 0; i < times.size(); ++i) {
    const NodesAtTime& at = similarity.at(times[i]);
    const int64_t row = row_of(at, other);
    if (history[i].empty() || row < 0) {
      line.similarity.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    line.similarity.push_back(
        at.similarity(at.rows.distance(history[i], at.rows.vector(static_cast<uint32_t>(row)))));
  }
  return line;
}

}  // namespace

std::vector<Time> spread_times(const HeteroGraph& graph, NodeType type, uint64_t count) {
  std::vector<Time> first = first_times(graph, type);
  first.erase(std::remove(first.begin(), first.end(), kNoTime), first.end());
  if (first.empty() || !graph.schema().time_range || count == 0) return {};
  const auto middle = first.begin() + static_cast<ptrdiff_t>(first.size() / 2);
  std::nth_element(first.begin(), middle, first.end());
  const Time last = graph.schema().time_range->second;
  const int64_t span = int64_t{last} - *middle;
  std::vector<Time> times;
  for (uint64_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 1 : static_cast<double>(i) / static_cast<double>(count - 1);
    const auto time = static_cast<Time>(*middle + std::llround(static_cast<double>(span) * share));
    if (times.empty() || times.back() < time) times.push_back(time);
  }
  return times;
}

std::vector<std::array<double, 2>> project(std::span<const float> rows, uint64_t width) {
  const auto count = static_cast<int64_t>(rows.size() / width);
  std::vector<std::array<double, 2>> places(static_cast<size_t>(count), {0, 0});
  if (count == 0) return places;
  const torch::NoGradGuard no_gradient;
  at::Tensor table = torch::from_blob(const_cast<float*>(rows.data()),
                                      {count, static_cast<int64_t>(width)}, at::kFloat)
                         .to(at::kDouble);
  table = table - table.mean(0, true);
  const at::Tensor axes = std::get<2>(at::linalg_svd(table, false));  // [rank, width]
  const int64_t used = std::min<int64_t>(2, axes.size(0));
  at::Tensor along = at::matmul(table, axes.narrow(0, 0, used).t()).contiguous();
  for (int64_t axis = 0; axis < used; ++axis) {
    const at::Tensor values = along.select(1, axis);
    const auto far = values.abs().argmax().item<int64_t>();
    const double sign = values[far].item<double>() < 0 ? -1 : 1;
    for (int64_t row = 0; row < count; ++row) {
      places[static_cast<size_t>(row)][static_cast<size_t>(axis)] =
          sign * values[row].item<double>();
    }
  }
  return places;
}

namespace {

// Nodes at times, and what becomes of them on one plane.
class Map {
 public:
  explicit Map(size_t times) : nodes_(times), vectors_(times) {}

  void add(size_t time, NodeId node, std::span<const float> vector) {
    nodes_[time].push_back(node);
    vectors_[time].insert(vectors_[time].end(), vector.begin(), vector.end());
  }
  bool has(size_t time, NodeId node) const {
    return std::find(nodes_[time].begin(), nodes_[time].end(), node) != nodes_[time].end();
  }
  std::vector<std::vector<Evolution::Point>> points(uint64_t width) const {
    std::vector<float> rows;
    for (const auto& some : vectors_) rows.insert(rows.end(), some.begin(), some.end());
    const auto places = project(rows, width);
    std::vector<std::vector<Evolution::Point>> points;
    size_t next = 0;
    for (const auto& nodes : nodes_) {
      points.emplace_back();
      for (const NodeId node : nodes) points.back().push_back({node, places[next++]});
    }
    return points;
  }

 private:
  std::vector<std::vector<NodeId>> nodes_;   // [times]
  std::vector<std::vector<float>> vectors_;  // [times][nodes * width]
};

}  // namespace

Evolution evolve(Similarity& similarity, const EvolutionOptions& options,
                 const ProgressSink& progress) {
  const HeteroGraph& graph = similarity.graph();
  const NodeType type = similarity.representations().type();
  Evolution result{.times =
                       options.times.empty() ? spread_times(graph, type, kTimes) : options.times};
  if (result.times.empty()) throw Error("nodes without any dated neighbor have no history");
  std::vector<NodeId> focus = options.focus;
  if (focus.empty()) {
    focus = most_prominent(graph, type, natural_standing(graph.schema()), kFocusNodes);
  }
  Map map(result.times.size());
  for (size_t i = 0; i < result.times.size(); ++i) {
    const NodesAtTime& at = similarity.at(result.times[i], progress);
    for (uint32_t row = 0; row < at.rows.rows(); ++row) {
      map.add(i, at.nodes[row], at.rows.vector(row));
    }
  }
  for (const NodeId node : focus) {
    result.focus.push_back({.node = node});
    const History history = history_of(similarity, node, result.times, progress);
    for (size_t i = 0; i < history.size(); ++i) {
      if (!history[i].empty() && !map.has(i, node)) map.add(i, node, history[i]);
    }
    for (const NodeId other : companions(similarity, node, result.times, options.lines)) {
      result.focus.back().lines.push_back(line_of(similarity, history, other, result.times));
    }
  }
  result.map = map.points(similarity.representations().width());
  return result;
}

}  // namespace hgt
