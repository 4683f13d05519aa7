// The cell with a time; kNoTime where there is no such column.
#pragma once

#include <optional>
#include <string_view>

#include "hgt/tables/import_report.h"
#include "hgt/tables/manifest.h"
#include "hgt/tables/row_source.h"

namespace hgt {

class TimeCell {
 public:
  TimeCell(const std::optional<TimeColumn>& spec, TimeUnit unit, const RowSource& table);
  // No value: defective, and logged.
  std::optional<Time> read(const Row& row, RowLog& log) const;

 private:
  std::optional<Time> parse(std::string_view text, TimeUnit unit) const;
  std::string defect(std::string_view text) const;

  const TimeColumn* spec_;
  TimeUnit unit_;
  size_t column_ = 0;
};

}  // namespace hgt
