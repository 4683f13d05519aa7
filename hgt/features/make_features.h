// Runs the steps of recipes on a graph folder.
#pragma once

#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/features/feature_step.h"
#include "hgt/graph/feature_writer.h"
#include "hgt/graph/schema.h"
#include "hgt/progress.h"

namespace hgt {

struct MadeFeatures {
  std::string type;
  FeatureSpec spec;
  bool already = false;  // the graph had them before: made by the same step from the same data
};

// A step that no node of a type would get features from.
class NoFeatures : public Error {
 public:
  using Error::Error;
};

// Gives the types of the step their features. What was stopped, by Ctrl-C or otherwise, goes on
// when the same step is asked for again; what is there already is not made again unless `again`.
// Throws Error: a step that does not fit the graph, no node that would get features.
std::vector<MadeFeatures> make_features(const FeatureLock& lock, const FeatureStep& step,
                                        bool again, const ProgressSink& progress);

}  // namespace hgt
