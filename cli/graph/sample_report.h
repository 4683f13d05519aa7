// What `hgt sample` prints about a sub-graph: tables to read, or JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/sampling_options.h"
#include "hgt/sampling/subgraph.h"
#include "hgt/sampling/time_split.h"

namespace hgt::cli {

// What was asked for and what came of it.
struct SampleResult {
  HeteroGraph graph;
  SamplingOptions options = {};
  TimeSplit time_split = {};
  Split split = Split::none;             // that of the latest seed; none: no seed has a time
  std::vector<std::string> hidden = {};  // edge types, as asked for
  Subgraph subgraph = {};
  double seconds = 0;  // of sampling alone
  bool verified = false;
};

// `rows`: number of instances to list, seeds first, then hop by hop.
std::string sample_text(const SampleResult& result, uint64_t rows);
std::string sample_json(const SampleResult& result);

}  // namespace hgt::cli
