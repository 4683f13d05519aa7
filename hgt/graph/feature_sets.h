// The feature sets of a graph: several choices of input vectors for its node types, by name.
//
//   const Schema stored = read_schema("cs.graph");
//   for (const FeatureSet& set : all_feature_sets(stored)) ... set.name, set.types.at("paper") ...
//   const Schema chosen = with_features(stored, "made");
//
// Every graph has the set "imported": what the tables gave, maybe nothing. The others are made
// later (feature_set_writer.h) and are never changed, only removed, or replaced as a whole. What is
// not yet finished is the set NAME.partial.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/schema.h"

namespace hgt {

constexpr std::string_view kImportedSet = "imported";
constexpr std::string_view kUnfinishedEnding = ".partial";

inline bool is_unfinished(std::string_view set) { return set.ends_with(kUnfinishedEnding); }

// As the folder has it, with all sets; the features of its types are the imported ones. Throws
// Error: no graph folder, a damaged file.
Schema read_schema(const Path& folder);

std::vector<FeatureSet> all_feature_sets(const Schema& stored);  // the imported one first

const FeatureSet* find_feature_set(const Schema& stored, std::string_view name);  // made ones

// The set that is used unless another one is asked for: the newest finished one.
std::string newest_feature_set(const Schema& stored);

// The schema as if the graph had been made with the features of this set and no others: its types
// have those, and no other set and no array of another set is listed. Its text therefore stays the
// same whatever sets are added. Throws Error: there is no such set (then it lists them).
Schema with_features(Schema stored, std::string_view set);

Schema without_features(Schema stored);  // of any set

// Forgets arrays of features that no set has any more.
void drop_unused_features(Schema& stored);

}  // namespace hgt
