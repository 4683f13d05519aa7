// Writes the incoming lists of one target type: the sorted edges of all its relations, zipped into
// one list per target node, grouped by relation.
#pragma once

#include <optional>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/edge_sorter.h"
#include "hgt/graph/list_index.h"
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
  // Node counts and times in the schema must be final. Fills edge counts, degrees and array
  // records.
  IncomingWriter(const Path& folder, Schema& schema, NodeType target);

  // `sorters` holds one sorter per relation of the schema; those that enter the type are read to
  // their end.
  void write(std::vector<EdgeSorter>& sorters, const ProgressSink& progress);

 private:
  // The times or weights of the entries that carry them, in the order of the entries.
  struct Carried {
    ArrayStream values;
    std::optional<ListIndexWriter<ArrayStream>> lists;  // unless all relations carry them
  };

  std::optional<Carried> carried(const Path& folder, bool RelationSpec::*by, const char* name,
                                 std::string_view dtype) const;
  void append_time(Time time);
  uint64_t write_list(EdgeSorter& sorter, RelationSpec& spec, NodeId target);
  void close(std::optional<Carried>& carried);

  Schema& schema_;
  NodeType target_;
  ListIndexWriter<ArrayStream> lists_;
  ArrayStream sources_;
  bool short_times_;
  std::optional<Carried> times_;
  std::optional<Carried> weights_;
  std::vector<DegreeCounter> degrees_;  // per slot
};

}  // namespace hgt
