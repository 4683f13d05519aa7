// What making a feature set comes to: whether it is there already, and about how long it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hgt/features/feature_step.h"
#include "hgt/features/recipe.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {

// Tells what the step makes for the type on this graph from all that is made in another way, or
// from other data.
std::string key_of_features(const PlannedStep& plan, const std::string& type, const Schema& schema);
// Likewise, of all steps on top of the features that the graph has.
std::string key_of_recipe(const std::vector<PlannedStep>& plans, const Schema& base);

// Of any set, finished or not.
std::optional<FeatureSpec> find_features(const Schema& stored, const std::string& type,
                                         const std::string& key);

// About how long a step takes, in seconds: by the rates that are stated in feature_plan.cc,
// whatever the machine, and for XLNet and BERT by some titles that are encoded for the purpose. The
// types of a step of walks are made by one training: `first` says whether it is counted here.
double estimate_seconds(const PlannedStep& plan, const std::string& type, const HeteroGraph& graph,
                        bool first);

}  // namespace hgt
