// Writes the incoming lists of one target type: the sorted edges of all its relations, zipped into
// one list per target node, grouped by relation.
#pragma once

#include <optional>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/edge_sorter.h"
#include "hgt/graph/schema.h"
#include "hgt/progress.h"

namespace hgt {

// Counts list lengths to give their mean, exact median and maximum.
class DegreeCounter {
 public:
  void add(uint64_t degree);
  uint64_t edges() const { return edges_; }
  DegreeSummary summary() const;

 private:
  std::vector<uint64_t> small_;  // how many lists have this length
  std::vector<uint64_t> large_;  // the lengths themselves
  uint64_t lists_ = 0;
  uint64_t edges_ = 0;
};

class IncomingWriter {
 public:
  // Node counts in the schema must be final. Fills edge counts, degrees, times and array records.
  IncomingWriter(const Path& folder, Schema& schema, NodeType target);

  // `sorters` holds one sorter per relation of the schema; those that enter the type are read to
  // their end.
  void write(std::vector<EdgeSorter>& sorters, const ProgressSink& progress);

 private:
  uint64_t write_list(EdgeSorter& sorter, RelationSpec& spec, NodeId target);

  Schema& schema_;
  NodeType target_;
  ArrayStream offsets_;
  ArrayStream sources_;
  std::optional<ArrayStream> times_;
  std::optional<ArrayStream> weights_;
  std::vector<DegreeCounter> degrees_;  // per slot
};

}  // namespace hgt
