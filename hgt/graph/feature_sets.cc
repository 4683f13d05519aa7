#include "hgt/graph/feature_sets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"

namespace hgt {

namespace {

// As ArrayRecord names them.
void add_files(const std::string& type, const FeatureSpec& features, std::set<std::string>& files) {
  files.insert(type + "/" + features.file);
  if (features.mean) files.insert(type + "/" + features.mean->counts);
}

// The files of the features of one choice.
std::set<std::string> files_of_features(const Schema& schema) {
  std::set<std::string> files;
  for (const NodeTypeSpec& type : schema.node_types()) {
    if (type.features) add_files(type.name, *type.features, files);
  }
  return files;
}

// Whatever its set: features have files named so, and nothing else has.
bool holds_features(const ArrayRecord& array) {
  return Path(array.file).filename().string().starts_with("features");
}

void forget_other_features(Schema& schema, const std::set<std::string>& used) {
  std::erase_if(schema.arrays, [&](const ArrayRecord& array) {
    return holds_features(array) && !used.contains(array.file);
  });
}

}  // namespace

Schema read_schema(const Path& folder) {
  const Path file = folder / "schema.json";
  if (!std::filesystem::exists(folder)) {
    throw Error(fmt::format("{}: there is no such graph folder", folder.string()));
  }
  if (!std::filesystem::is_regular_file(file)) {
    throw Error(fmt::format(
        "{}: is not a graph folder (it has no schema.json); make one with 'hgt import' or 'hgt "
        "generate'",
        folder.string()));
  }
  return Schema::from_json(read_text(file), file);
}

std::vector<FeatureSet> all_feature_sets(const Schema& stored) {
  FeatureSet imported{.name = std::string(kImportedSet)};
  for (const NodeTypeSpec& type : stored.node_types()) {
    if (type.features) imported.types.emplace(type.name, *type.features);
  }
  std::vector<FeatureSet> sets = {std::move(imported)};
  sets.insert(sets.end(), stored.feature_sets.begin(), stored.feature_sets.end());
  return sets;
}

const FeatureSet* find_feature_set(const Schema& stored, std::string_view name) {
  const auto found = std::find_if(stored.feature_sets.begin(), stored.feature_sets.end(),
                                  [&](const FeatureSet& set) { return set.name == name; });
  return found == stored.feature_sets.end() ? nullptr : &*found;
}

std::string newest_feature_set(const Schema& stored) {
  const auto newest = std::find_if(stored.feature_sets.rbegin(), stored.feature_sets.rend(),
                                   [](const FeatureSet& set) { return !is_unfinished(set.name); });
  return newest == stored.feature_sets.rend() ? std::string(kImportedSet) : newest->name;
}

Schema with_features(Schema stored, std::string_view set) {
  if (set != kImportedSet) {
    const FeatureSet* found = find_feature_set(stored, set);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const FeatureSet& each : all_feature_sets(stored)) names.push_back(each.name);
      throw Error(fmt::format("there is no feature set '{}'; the sets are {}", set,
                              fmt::join(names, ", ")));
    }
    for (size_t i = 0; i < stored.node_types().size(); ++i) {
      NodeTypeSpec& type = stored.at(NodeType(i));
      type.features.reset();
      const auto own = found->types.find(type.name);
      if (own != found->types.end()) type.features = own->second;
    }
  }
  stored.feature_sets.clear();
  forget_other_features(stored, files_of_features(stored));
  return stored;
}

Schema without_features(Schema stored) {
  for (size_t i = 0; i < stored.node_types().size(); ++i) stored.at(NodeType(i)).features.reset();
  stored.feature_sets.clear();
  forget_other_features(stored, {});
  return stored;
}

void drop_unused_features(Schema& stored) {
  std::set<std::string> used = files_of_features(stored);
  for (const FeatureSet& set : stored.feature_sets) {
    for (const auto& [type, spec] : set.types) add_files(type, spec, used);
  }
  forget_other_features(stored, used);
}

}  // namespace hgt
