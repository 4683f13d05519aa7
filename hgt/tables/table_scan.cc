#include "hgt/tables/table_scan.h"

#include <algorithm>
#include <memory>

#include "hgt/tables/row_format.h"

namespace hgt {

namespace {

constexpr uint64_t kRowsPerReport = 1U << 15U;

// The conditions of 'where', with their columns found in one file.
class RowFilter {
 public:
  RowFilter(const TableSource& source, const RowSource& table) {
    for (const auto& [column, values] : source.where) {
      conditions_.emplace_back(table.column(column), &values);
    }
  }

  bool accepts(const Row& row) const {
    return std::all_of(conditions_.begin(), conditions_.end(), [&](const auto& condition) {
      const auto& [column, values] = condition;
      return std::find(values->begin(), values->end(), row.cell(column)) != values->end();
    });
  }

 private:
  std::vector<std::pair<size_t, const std::vector<std::string>*>> conditions_;
};

// Makes cells with one of the texts that 'null' lists empty ones.
class NullCells {
 public:
  explicit NullCells(const std::vector<std::string>& texts) : texts_(texts) {}

  void apply(Row& row) {
    if (texts_.empty()) return;
    cells_.assign(row.cells.begin(), row.cells.end());
    for (std::string_view& cell : cells_) {
      if (std::find(texts_.begin(), texts_.end(), cell) != texts_.end()) cell = kNullCell;
    }
    row.cells = cells_;
  }

 private:
  const std::vector<std::string>& texts_;
  std::vector<std::string_view> cells_;
};

double fraction_of(const ReadSoFar& amount) {
  return static_cast<double>(amount.done) /
         static_cast<double>(std::max<uint64_t>(1, amount.total));
}

struct ScanSinks {
  TableReport& report;
  DefectLog& log;
  const ProgressSink& progress;
};

void scan_rows(RowSource& table, const RowFilter& filter, NullCells null, const UseRow& use_row,
               const ScanSinks& to) {
  const auto& [report, log, progress] = to;
  Progress state{.stage = table.short_name(), .unit = "rows"};
  Row row;
  while (table.next(row)) {
    ++report.rows;
    if (++state.count % kRowsPerReport == 0) {
      state.fraction = fraction_of(table.read_so_far());
      progress(state);
    }
    if (!row.well_formed()) {
      log.add(Defect::bad_row, row.position, row.defect,
              "check 'delimiter', 'quote' and 'columns'");
      continue;
    }
    null.apply(row);
    if (!filter.accepts(row)) {
      ++report.filtered;
    } else if (use_row(row)) {
      ++report.kept;
    }
  }
  state.fraction = 1;
  state.finished = true;
  progress(state);
}

}  // namespace

void scan_table(const TableSource& source, const std::vector<Path>& files, TableReport& report,
                DefectLog& log, const ProgressSink& progress, const BindTable& bind) {
  for (const Path& file : files) {
    const std::unique_ptr<RowSource> table = open_rows(file, source.options, source.format);
    const RowFilter filter(source, *table);
    const UseRow use_row = bind(*table);
    scan_rows(*table, filter, NullCells(source.null_texts), use_row, {report, log, progress});
  }
}

}  // namespace hgt
