// TSV and CSV as formats of tables. Their cells are never null.
#pragma once

#include <memory>
#include <vector>

#include "hgt/tables/row_format.h"

namespace hgt {

// delimiter, quote ("": none), skip_lines.
std::vector<FormatOption> delimited_options();

// With `options.columns` the file has no header line.
std::unique_ptr<RowSource> open_tsv(const Path& file, const RowOptions& options);
std::unique_ptr<RowSource> open_csv(const Path& file, const RowOptions& options);

}  // namespace hgt
