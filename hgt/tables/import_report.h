// What an import kept and what it dropped, and why. Nothing is dropped silently.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/tables/row_source.h"

namespace hgt {

enum class Defect {
  bad_row,  // wrong number of cells, broken quotes, invalid JSON
  empty_id,
  duplicate_id,
  unknown_source,  // an edge, feature or label names a node that no node table has
  unknown_target,
  unknown_node,
  bad_time,
  missing_time,
  bad_number,  // weight or position
  bad_features,
  unlisted_value,  // by_column, by_label: no edge type for this value
};
constexpr size_t kNumDefects = 11;
std::string_view to_string(Defect defect);  // "malformed rows", ...

struct TableReport {
  std::string title;      // "nodes paper", "edges writes"
  uint64_t rows = 0;      // read
  uint64_t kept = 0;      // became a node, an edge, ...
  uint64_t filtered = 0;  // left out by 'where'
  uint64_t ignored = 0;   // what the manifest said to ignore: repeated ids, edges without an end
  std::array<uint64_t, kNumDefects> defects = {};
  std::vector<std::string> examples = {};  // "papers.tsv:17: year 'n/a' is not a time"

  uint64_t dropped() const;
};

struct ImportReport {
  std::vector<TableReport> tables;
  uint64_t dropped() const;
};

// Counts the defects of one table and keeps the first few of each kind as examples.
class DefectLog {
 public:
  // `strict`: the first defect is an Error.
  DefectLog(TableReport& report, bool strict) : report_(report), strict_(strict) {}
  void add(Defect defect, const RowPosition& position, const std::string& what);

 private:
  TableReport& report_;
  bool strict_;
};

}  // namespace hgt
