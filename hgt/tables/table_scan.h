// All rows of a file of a manifest entry, with the work that every table needs: 'where', malformed
// rows, progress. Text is read on several threads.
#pragma once

#include <functional>
#include <vector>

#include "hgt/graph/graph_builder.h"
#include "hgt/progress.h"
#include "hgt/tables/import_report.h"
#include "hgt/tables/manifest.h"
#include "hgt/tables/row_source.h"

namespace hgt {

struct ScanOptions {
  TableReport& report;
  DefectLog& log;
  const ProgressSink& progress;
  unsigned threads = 1;
};

// What to do with each row of one source, in order and on the caller's thread; true: the row was
// kept.
using UseRow = std::function<bool(const Row&)>;
// Finds the columns in a source just opened.
using BindTable = std::function<UseRow(const RowSource&)>;

// Malformed rows and rows that 'where' leaves out are counted and not passed on.
void scan_table(const TableSource& source, const Path& file, const ScanOptions& options,
                const BindTable& bind);

// Appends the edge of a row, if it has one; true: it has.
using ReadEdge = std::function<bool(const Row&, RowLog&, std::vector<PlacedEdge>&)>;
using BindEdges = std::function<ReadEdge(const RowSource&)>;
using UseEdges = std::function<void(const std::vector<PlacedEdge>&)>;

// The same where rows become edges: what bind() returns is called on one thread at a time, but on
// several threads for different rows; it is bound once for each of them, on the caller's. use() is
// called on the caller's thread, in the order of the rows.
void scan_edges(const TableSource& source, const Path& file, const ScanOptions& options,
                const BindEdges& bind, const UseEdges& use);

}  // namespace hgt
