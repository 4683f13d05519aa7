// All rows of all files of one manifest entry, with the work that every table needs: 'where',
// malformed rows, progress.
#pragma once

#include <functional>
#include <vector>

#include "hgt/progress.h"
#include "hgt/tables/import_report.h"
#include "hgt/tables/manifest.h"
#include "hgt/tables/row_source.h"

namespace hgt {

// What to do with each row of one source; true: the row was kept.
using UseRow = std::function<bool(const Row&)>;
// Finds the columns in a source just opened.
using BindTable = std::function<UseRow(const RowSource&)>;

// Malformed rows and rows that 'where' leaves out are counted and not passed on.
void scan_table(const TableSource& source, const std::vector<Path>& files, TableReport& report,
                DefectLog& log, const ProgressSink& progress, const BindTable& bind);

}  // namespace hgt
