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

// Rows lost for one reason.
struct LostRows {
  Defect defect = Defect::bad_row;
  std::string remedy = {};  // what would keep them, as far as their cells tell
  uint64_t rows = 0;
  std::string example = {};  // "papers.tsv:17: year 'n/a' is not a time"
};

struct TableReport {
  std::string title;       // "nodes paper", "edges writes"
  std::string place = {};  // "manifest.toml:12"
  uint64_t rows = 0;       // read
  uint64_t kept = 0;       // became a node, an edge, ...
  uint64_t filtered = 0;   // left out by 'where'
  uint64_t ignored = 0;    // what the manifest said to ignore: repeated ids, edges without an end
  std::array<uint64_t, kNumDefects> defects = {};
  std::vector<std::string> examples = {};  // "papers.tsv:17: year 'n/a' is not a time"

  std::vector<LostRows> losses = {};  // in the order of their first rows

  uint64_t dropped() const;
  // Of the rows that were to be kept, the share that was dropped: 0 to 1.
  double lost_share() const;
};

// "manifest.toml:12: nodes paper would lose 9 of 10 rows ...", then a line for each reason with an
// example, and the likely remedy.
std::string describe_losses(const TableReport& table);

struct ImportReport {
  std::vector<TableReport> tables;
  uint64_t dropped() const;
};

// Where readers of rows tell what they do not keep.
class RowLog {
 public:
  virtual ~RowLog() = default;
  virtual void add(Defect defect, const RowPosition& position, const std::string& what,
                   const std::string& remedy = "") = 0;
  virtual void ignore() = 0;  // as the manifest says
};

// Counts the defects of one table and keeps the first few of each kind as examples.
class DefectLog final : public RowLog {
 public:
  // `strict`: the first defect is an Error.
  DefectLog(TableReport& report, bool strict) : report_(report), strict_(strict) {}
  void add(Defect defect, const RowPosition& position, const std::string& what,
           const std::string& remedy) override;
  void ignore() override { ++report_.ignored; }

 private:
  LostRows& loss(Defect defect, const std::string& remedy);

  TableReport& report_;
  bool strict_;
};

// Keeps everything, to be told to another log later.
class RecordedLog final : public RowLog {
 public:
  void add(Defect defect, const RowPosition& position, const std::string& what,
           const std::string& remedy) override {
    defects_.push_back({defect, position, what, remedy});
  }
  void ignore() override { ++ignored_; }

  // With lines counted from `line` as the first.
  void tell(RowLog& log, uint64_t line) const;
  void clear();

 private:
  struct Told {
    Defect defect;
    RowPosition position;
    std::string what;
    std::string remedy;
  };
  std::vector<Told> defects_;
  uint64_t ignored_ = 0;
};

}  // namespace hgt
