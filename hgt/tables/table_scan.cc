#include "hgt/tables/table_scan.h"

#include <algorithm>
#include <memory>

#include "hgt/tables/row_format.h"
#include "hgt/tables/row_pieces.h"

namespace hgt {

namespace {

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

// Reports how far the scan of a file is, and counts what rows become.
class ScanProgress {
 public:
  ScanProgress(const RowSource& table, const ProgressSink& sink)
      : sink_(sink), state_{.stage = table.short_name(), .unit = "rows"} {}

  void advance(uint64_t rows, const ReadSoFar& read) {
    state_.count += rows;
    state_.fraction = fraction_of(read);
    sink_(state_);
  }
  void finish() {
    state_.fraction = 1;
    state_.finished = true;
    sink_(state_);
  }

 private:
  const ProgressSink& sink_;
  Progress state_;
};

void log_malformed(const Row& row, RowLog& log) {
  log.add(Defect::bad_row, row.position, row.defect, "check 'delimiter', 'quote' and 'columns'");
}

// What the rows of a piece became.
struct FoundEdges {
  uint64_t rows = 0;
  uint64_t kept = 0;
  uint64_t filtered = 0;
  RecordedLog log;
  std::vector<PlacedEdge> edges;

  void clear() {
    rows = kept = filtered = 0;
    log.clear();
    edges.clear();
  }
};

// What reads the rows of one thread.
struct EdgeReader {
  ReadEdge read_edge;
  NullCells null;

  void read(Row& row, const RowFilter& filter, FoundEdges& found) {
    ++found.rows;
    if (!row.well_formed()) return log_malformed(row, found.log);
    null.apply(row);
    if (!filter.accepts(row)) {
      ++found.filtered;
    } else if (read_edge(row, found.log, found.edges)) {
      ++found.kept;
    }
  }
};

}  // namespace

void scan_table(const TableSource& source, const Path& file, const ScanOptions& options,
                const BindTable& bind) {
  const std::unique_ptr<RowSource> table = open_rows(file, source.options, source.format);
  const RowFilter filter(source, *table);
  const UseRow use_row = bind(*table);
  NullCells null(source.null_texts);
  ScanProgress progress(*table, options.progress);
  TableReport& report = options.report;
  const auto use = [&](Row& row) {
    ++report.rows;
    if (!row.well_formed()) return log_malformed(row, options.log);
    null.apply(row);
    if (!filter.accepts(row)) {
      ++report.filtered;
    } else if (use_row(row)) {
      ++report.kept;
    }
  };
  read_in_pieces<StoredRows>(
      *table, options.threads,
      [](unsigned /*worker*/, const Row& row, StoredRows& rows) { rows.add(row); },
      [&](const StoredRows& rows, uint64_t line, const ReadSoFar& read) {
        rows.for_each(line, use);
        progress.advance(rows.size(), read);
      });
  progress.finish();
}

void scan_edges(const TableSource& source, const Path& file, const ScanOptions& options,
                const BindEdges& bind, const UseEdges& use) {
  const std::unique_ptr<RowSource> table = open_rows(file, source.options, source.format);
  const RowFilter filter(source, *table);
  std::vector<EdgeReader> readers;
  for (unsigned i = 0; i <= options.threads; ++i) {
    readers.push_back({bind(*table), NullCells(source.null_texts)});
  }
  ScanProgress progress(*table, options.progress);
  read_in_pieces<FoundEdges>(
      *table, options.threads,
      [&](unsigned worker, Row& row, FoundEdges& found) {
        readers[worker].read(row, filter, found);
      },
      [&](FoundEdges& found, uint64_t line, const ReadSoFar& read) {
        options.report.rows += found.rows;
        options.report.kept += found.kept;
        options.report.filtered += found.filtered;
        found.log.tell(options.log, line);
        use(found.edges);
        progress.advance(found.rows, read);
      });
  progress.finish();
}

}  // namespace hgt
