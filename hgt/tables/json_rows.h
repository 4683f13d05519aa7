// JSON lines as a format of tables: every line is one object, its members are the cells.
//
// The columns are the keys of the first object, or those that `options.columns` names; all other
// keys are ignored. null and missing keys are null cells; numbers are taken as
// they are written, true and false as these words. An object or array as a cell is an Error. A line
// that is not a JSON object, or has a column twice, is a malformed row. Empty lines and a UTF-8
// byte order mark are skipped.
#pragma once

#include <memory>

#include "hgt/tables/row_format.h"

namespace hgt {

// Throws Error: missing or unreadable file; without `options.columns` an empty file, or a first
// line that is not a JSON object.
std::unique_ptr<RowSource> open_json_rows(const Path& file, const RowOptions& options);

}  // namespace hgt
