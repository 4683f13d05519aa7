// All rows of all files of one manifest entry, with the work that every table needs: patterns,
// formats, 'where', malformed rows, progress.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hgt/progress.h"
#include "hgt/tables/import_report.h"
#include "hgt/tables/manifest.h"
#include "hgt/tables/table_reader.h"

namespace hgt {

// The files that the entry's names and patterns stand for, sorted within each pattern. Throws Error
// with the manifest's line when one matches nothing.
std::vector<Path> expand_files(const TableSource& source, const Path& folder, const Path& manifest);

// What to do with each row of one file; true: the row was kept.
using UseRow = std::function<bool(const TableReader&)>;
// Finds the columns in a file just opened.
using BindTable = std::function<UseRow(const TableReader&)>;

// Malformed rows and rows that 'where' leaves out are counted and not passed on.
void scan_table(const TableSource& source, const std::vector<Path>& files, TableReport& report,
                DefectLog& log, const ProgressSink& progress, const BindTable& bind);

}  // namespace hgt
