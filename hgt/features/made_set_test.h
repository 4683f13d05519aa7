// For tests: features made as if a graph had one feature set.
#pragma once

#include <vector>

#include "hgt/features/make_features.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {

// Changes what the graph has: a set on top of the one before, in its place.
inline std::vector<MadeFeatures> make(const Path& graph, const FeatureStep& step,
                                      bool again = false,
                                      const ProgressSink& progress = no_progress) {
  const FeatureLock lock(graph);
  const FeatureSetOptions options{
      .base = HeteroGraph::open(graph).feature_set(), .replace = true, .again = again};
  return make_feature_set(lock, {step}, options, progress);
}

}  // namespace hgt
