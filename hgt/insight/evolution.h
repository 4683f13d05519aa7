// How nodes of a type move relative to one another over time: for some of them, which others are
// near at each time; and all of them as points in one plane.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hgt/insight/similarity.h"

namespace hgt {

struct EvolutionOptions {
  std::vector<NodeId> focus = {};  // empty: the three most prominent
  std::vector<Time> times = {};    // empty: spread_times()
  uint64_t lines = 5;              // others per focus node: those that are nearest at some time
};

struct EvolutionLine {
  NodeId node = 0;
  std::vector<double> similarity = {};  // [times] NaN: one of the two is not there yet
};

struct Evolution {
  std::vector<Time> times = {};
  struct Focus {
    NodeId node = 0;
    std::vector<EvolutionLine> lines = {};
  };
  std::vector<Focus> focus = {};
  struct Point {
    NodeId node = 0;
    std::array<double, 2> place = {};
  };
  // [times] the nodes that are there, on the same plane: those that are compared, then what else is
  // in focus.
  std::vector<std::vector<Point>> map = {};
};

// At most `count` times, evenly spread from when half of the nodes are there to the last.
std::vector<Time> spread_times(const HeteroGraph& graph, NodeType type, uint64_t count);

// Throws Error as Similarity does; instances of the type must have a choice of times.
Evolution evolve(Similarity& similarity, const EvolutionOptions& options,
                 const ProgressSink& progress = no_progress);

// The plane in which the rows ([rows * width]) vary most (principal components), each axis such
// that the row farthest along it lies on the positive side. [rows]
std::vector<std::array<double, 2>> project(std::span<const float> rows, uint64_t width);

}  // namespace hgt
