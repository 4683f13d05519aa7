// A feature set of a finished graph in the making (feature_sets.h).
//
//   const FeatureLock lock("cs.graph");
//   FeatureSetWriter set(lock, {.name = "made", .key = "..."});
//   FeatureWriter writer(set, "paper", ...);  // feature_writer.h: type after type
//   set.finish();
//
// It starts with the features of another set, its base, as NAME.partial in schema.json. Until
// finish() it is not offered to anybody, and a finished set of the same name stays as it is. A
// writer that is not finished, for whatever reason, leaves what it has, and the next one with
// the same key goes on from there. schema.json is replaced as a whole every time, and files of
// features are removed only after it no longer names them, so at every moment all sets that it
// names are whole. Programs that have the graph open keep what they have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/graph/feature_lock.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {

struct NewFeatureSet {
  std::string name = {};
  std::string base = std::string(kImportedSet);
  std::string key = {};  // what tells it from one made in another way
  bool replace = false;  // a set of this name, should there be one
};

// Throws Error: a name that no set can have; a set of this name, unless it is to be replaced; no
// such base.
void check_new_feature_set(const NewFeatureSet& wanted, const Path& folder);

class FeatureSetWriter {
 public:
  // An unfinished set of this name and another key is given up, but its features are kept until
  // this one is finished: they may be of use to it. Throws Error: check_new_feature_set().
  FeatureSetWriter(const FeatureLock& lock, const NewFeatureSet& wanted);
  FeatureSetWriter(const FeatureSetWriter&) = delete;
  FeatureSetWriter& operator=(const FeatureSetWriter&) = delete;
  ~FeatureSetWriter();  // leaves what it has; nothing, if no type got features of its own

  const Path& folder() const { return folder_; }
  HeteroGraph graph() const;  // with the features of the set as it is so far

  // The step of the recipe that is being made, counted from 1; and whether it, or a later one, has
  // made the features of the type already, in this process or in an earlier one.
  void begin_step(uint64_t step) { step_ = step; }
  bool has_made(const std::string& type) const;

  // Features of the step. Without records they are those of another set.
  void add(const std::string& type, const FeatureSpec& spec,
           const std::vector<ArrayRecord>& records = {});

  void finish();  // replaces a set of the same name

 private:
  void undo() const;

  Path folder_;
  std::string name_;
  FeatureSet set_;
  uint64_t step_ = 1;
  bool finished_ = false;
};

// Also an unfinished one of this name. Throws Error: there is neither; the imported one.
void remove_feature_set(const FeatureLock& lock, const std::string& name);

}  // namespace hgt
