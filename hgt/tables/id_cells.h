// The id in a row: the text of one column, or those of several, joined so that different ones stay
// different: "44+2004-10-03". A '+' or '\' within a part of several has a '\' before it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/tables/row_source.h"

namespace hgt {

class IdCells {
 public:
  // Throws Error for a column that the table does not have.
  IdCells(std::span<const std::string> columns, const RowSource& table);

  // Valid until the next row. Empty, or null, where one of the columns is.
  std::string_view read(const Row& row);
  // "column year is empty": for a row whose id is.
  std::string complaint(const Row& row) const;
  std::string names() const;  // "driver + date"

 private:
  std::vector<std::string> names_;
  std::vector<size_t> columns_;
  std::string joined_;
};

}  // namespace hgt
