// Recipes: the steps that give all types of a graph their features.
//
//   until = "2014"            # what is set here applies to all steps
//
//   [[features]]
//   type = "paper"
//   encoder = "vectors"
//   vectors = "glove.6B.100d.txt"
//
//   [[features]]
//   type = "author"
//   mean-of = "paper"
#pragma once

#include <string>
#include <vector>

#include "hgt/features/feature_step.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/graph/types.h"

namespace hgt {

// Each step starts from what the file says for all. A file that the recipe names is relative to the
// folder of the recipe. Throws Error with file and line.
std::vector<FeatureStep> read_recipe(const Path& file);

// The recipe that did best in docs/results.md, with the encoder and the bounds of `step`: titles
// for event types that have names, means of them for the plain types beside, and metapath2vec for
// the other types. Where nothing has a title, metapath2vec for all. A type
// that nothing usable leads to is left out. Never empty; throws Error: nothing can be made.
std::vector<FeatureStep> default_recipe(const HeteroGraph& graph, const FeatureStep& step);

// Meta paths over usable relations for the types: T-N-T and T-N-M-N-T for all neighbors N of T and
// M of N. Empty: nothing leads to them.
std::vector<std::string> propose_walks(const std::vector<std::string>& types, const Schema& schema,
                                       const Reach& reach);

// A step as it will be made on a graph.
struct PlannedStep {
  FeatureStep step;  // meta paths instead of "auto"; without the types that are unmet
  Reach reach;
  std::vector<std::string> unmet = {};  // "auto" found no path for them: nothing usable leads there
};

// Throws Error: all that can be found wrong with a step without reading the graph or large files.
PlannedStep plan_step(const FeatureStep& step, const HeteroGraph& graph);

// Plans all of them, so that what is wrong with the last does not show after hours. Throws Error
// also: the mean of a type that has no features and does not get them before.
std::vector<PlannedStep> plan_steps(const std::vector<FeatureStep>& steps,
                                    const HeteroGraph& graph);

std::string describe(const PlannedStep& plan, const Schema& schema);  // in words, for people

// The features of a type of the step are a mean over relations that the task hides: what a batch
// hides is left out of it then.
bool is_left_out_of(const PlannedStep& plan, const std::string& type, const Schema& schema);

// The relations that the features of a type of the step come by. Throws Error: there are none that
// may be used.
std::vector<Relation> relations_used(const PlannedStep& plan, const std::string& type,
                                     const Schema& schema);

}  // namespace hgt
