// Gives the nodes of a graph their input features (docs/features.md).
//
//   const FeatureLock lock("papers.graph");
//   const HeteroGraph graph = HeteroGraph::open("papers.graph", "imported");
//   const auto steps = default_recipe(graph, {.task = "paper-venue"});  // recipe.h
//   make_feature_set(lock, steps, {.name = "venue"}, progress);
//   const HeteroGraph ready = HeteroGraph::open("papers.graph", "venue");
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
  bool already = false;       // some set had them before: made by the same step from the same data
  std::string left_out = {};  // why the type got none; then there is no spec
};

struct FeatureSetOptions {
  std::string name = "made";
  std::string base = "imported";  // set whose features the types have that no step makes
  bool replace = false;           // a set of this name, should there be one
  bool again = false;             // also what a set has that was made in the same way
  bool lenient = false;           // a step that gives nothing to any of its types is no error
};

struct PlannedFeatures {
  std::string type;
  uint64_t nodes = 0;
  std::string origin;    // as FeatureSpec has it
  bool already = false;  // as MadeFeatures has it
  double seconds = 0;    // about how long they take (feature_plan.h)
};
struct FeatureSetPlan {
  bool exists = false;  // made by the same steps from the same data: nothing is to be done
  std::vector<PlannedFeatures> types = {};
};

// What make_feature_set() would do. Throws Error: what can be found wrong without doing it, and a
// set of this name that is there and is not to be replaced.
FeatureSetPlan plan_feature_set(const Path& folder, const std::vector<FeatureStep>& steps,
                                const FeatureSetOptions& options);

// Makes a feature set of all steps. What was stopped, by Ctrl-C or otherwise, continues when
// the same is requested again; no other set is touched. A type of which no node would get features
// is left out: it has those of the base. Throws Error: see above; NoFeatures: a step gives nothing
// to any of its types.
std::vector<MadeFeatures> make_feature_set(const FeatureLock& lock,
                                           const std::vector<FeatureStep>& steps,
                                           const FeatureSetOptions& options,
                                           const ProgressSink& progress);

// Types whose features are the mean of features that have been replaced since.
std::vector<std::string> outdated_means(const Schema& schema);

}  // namespace hgt
