#include "hgt/graph/feature_set_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

Lock lock_features(const Path& folder) {
  static_cast<void>(read_schema(folder));  // throws: not a graph
  return {folder / ".features.lock",
          fmt::format("{}: another process is computing features; wait for it or stop it",
                      folder.string())};
}

std::string unfinished(const std::string& name) { return name + std::string(kUnfinishedEnding); }

// An unfinished set whose recipe has changed; another ending would make it a finished one.
std::string given_up(const std::string& name) { return unfinished(name + ".before"); }

void forget_set(Schema& stored, const std::string& name) {
  std::erase_if(stored.feature_sets, [&](const FeatureSet& set) { return set.name == name; });
}

// Files that made features once and that no set has any more, or has not yet got: what a killed
// process leaves is made again.
void remove_unlisted_files(const Path& folder, const Schema& stored) {
  std::set<Path> listed;
  for (const ArrayRecord& array : stored.arrays) listed.insert(folder / array.file);
  std::vector<Path> unlisted;
  for (const NodeTypeSpec& type : stored.node_types()) {
    for (const auto& entry : fs::directory_iterator(folder / type.name)) {
      const std::string name = entry.path().filename().string();
      const bool made = name.starts_with("features_") && name.ends_with(".npy");
      if (made && !listed.contains(entry.path())) unlisted.push_back(entry.path());
    }
  }
  for (const Path& file : unlisted) fs::remove(file);
}

void replace_schema(const Path& folder, Schema& stored) {
  drop_unused_features(stored);
  write_text(folder / "schema.json", stored.to_json());
  remove_unlisted_files(folder, stored);
}

}  // namespace

FeatureLock::FeatureLock(const Path& folder) : folder_(folder), lock_(lock_features(folder)) {}

void check_new_feature_set(const NewFeatureSet& wanted, const Path& folder) {
  const Schema stored = read_schema(folder);
  if (!is_valid_name(wanted.name) || wanted.name == kImportedSet || is_unfinished(wanted.name)) {
    throw Error(fmt::format(
        "'{}' cannot be the name of a new feature set: use at most 100 letters, digits, '_', '-' "
        "and '.', no leading dot, no ending {}, and not '{}', which the tables gave",
        wanted.name, kUnfinishedEnding, kImportedSet));
  }
  if (is_unfinished(wanted.base)) {
    throw Error(fmt::format("{}: the feature set '{}' is unfinished, so no other can build on it",
                            folder.string(), wanted.base));
  }
  if (!wanted.replace && find_feature_set(stored, wanted.name) != nullptr) {
    throw Error(fmt::format(
        "{0}: has a feature set '{1}' already; give the new one another name with --set "
        "(and --base {1} to build on that one), or replace it with --replace",
        folder.string(), wanted.name));
  }
  try {
    static_cast<void>(with_features(stored, wanted.base));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", folder.string(), error.what()));
  }
}

FeatureSetWriter::FeatureSetWriter(const FeatureLock& lock, const NewFeatureSet& wanted)
    : folder_(lock.folder()), name_(wanted.name) {
  check_new_feature_set(wanted, folder_);
  Schema stored = read_schema(folder_);
  if (const FeatureSet* begun = find_feature_set(stored, unfinished(name_))) {
    set_ = *begun;
    if (set_.key == wanted.key) return;
    forget_set(stored, unfinished(name_));
    forget_set(stored, given_up(name_));
    set_.name = given_up(name_);
    stored.feature_sets.push_back(set_);
  }
  const std::vector<FeatureSet> sets = all_feature_sets(stored);
  set_ = *std::find_if(sets.begin(), sets.end(),
                       [&](const FeatureSet& set) { return set.name == wanted.base; });
  set_.name = unfinished(name_);
  set_.key = wanted.key;
  stored.feature_sets.push_back(set_);
  replace_schema(folder_, stored);
}

FeatureSetWriter::~FeatureSetWriter() {
  if (finished_ || !set_.steps.empty()) return;
  try {
    undo();
  } catch (...) {  // an unfinished set without features of its own does no harm
    return;
  }
}

void FeatureSetWriter::undo() const {
  Schema stored = read_schema(folder_);
  forget_set(stored, unfinished(name_));
  for (FeatureSet& set : stored.feature_sets) {
    if (set.name == given_up(name_)) set.name = unfinished(name_);
  }
  replace_schema(folder_, stored);
}

HeteroGraph FeatureSetWriter::graph() const { return HeteroGraph::open(folder_, set_.name); }

bool FeatureSetWriter::has_made(const std::string& type) const {
  const auto made = set_.steps.find(type);
  return made != set_.steps.end() && made->second >= step_;
}

void FeatureSetWriter::add(const std::string& type, const FeatureSpec& spec,
                           const std::vector<ArrayRecord>& records) {
  FeatureSet grown = set_;
  grown.types[type] = spec;
  grown.steps[type] = step_;
  Schema stored = read_schema(folder_);
  for (const ArrayRecord& record : records) {
    const auto same = [&](const ArrayRecord& array) { return array.file == record.file; };
    if (std::none_of(stored.arrays.begin(), stored.arrays.end(), same)) {
      stored.arrays.push_back(record);
    }
  }
  forget_set(stored, set_.name);
  stored.feature_sets.push_back(grown);
  replace_schema(folder_, stored);
  set_ = std::move(grown);
}

void FeatureSetWriter::finish() {
  Schema stored = read_schema(folder_);
  for (const std::string& old : {name_, unfinished(name_), given_up(name_)})
    forget_set(stored, old);
  set_.name = name_;
  set_.steps.clear();
  stored.feature_sets.push_back(set_);
  replace_schema(folder_, stored);
  finished_ = true;
}

void remove_feature_set(const FeatureLock& lock, const std::string& name) {
  Schema stored = read_schema(lock.folder());
  if (name == kImportedSet) {
    throw Error(fmt::format("{}: what the tables gave cannot be removed; import them again without",
                            lock.folder().string()));
  }
  const size_t before = stored.feature_sets.size();
  for (const std::string& each : {name, unfinished(name), given_up(name)}) forget_set(stored, each);
  if (stored.feature_sets.size() == before) {
    try {
      static_cast<void>(with_features(stored, name));  // throws, with the names that there are
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", lock.folder().string(), error.what()));
    }
  }
  replace_schema(lock.folder(), stored);
}

}  // namespace hgt
