// Gives the nodes of a graph their input features (docs/features.md).
//
//   const FeatureLock lock("papers.graph");
//   const HeteroGraph graph = HeteroGraph::open("papers.graph");
//   for (const FeatureStep& step : default_recipe(graph, {.task = "paper-venue"})) {  // recipe.h
//     make_features(lock, step, false, progress);
//   }
#pragma once

#include <string>
#include <vector>

#include "hgt/features/feature_source.h"
#include "hgt/features/feature_step.h"
#include "hgt/graph/feature_lock.h"
#include "hgt/graph/schema.h"
#include "hgt/progress.h"

namespace hgt {

struct MadeFeatures {
  std::string type;
  FeatureSpec spec;
  bool already = false;       // the graph had them before: made by the same step from the same data
  std::string left_out = {};  // why the type got none; then there is no spec
};

// Gives the types of the step their features. What was stopped, by Ctrl-C or otherwise,
// continues when the same step is requested again; existing features are kept unless `again`.
// A type of which no node would get features is left out. Throws Error: a step that does not fit
// the graph; NoFeatures: all its types are left out.
std::vector<MadeFeatures> make_features(const FeatureLock& lock, const FeatureStep& step,
                                        bool again, const ProgressSink& progress);

// Types whose features are the mean of features that have been replaced since.
std::vector<std::string> outdated_means(const Schema& schema);

}  // namespace hgt
